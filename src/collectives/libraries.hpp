#pragma once

#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/request.hpp"

namespace dadsim::collectives {

// Return the choices of each library for a request. The caller must have checked the request, which has two ranks or
// more. Each library has a file with its algorithms, thresholds and constants. See library_choices().

/// NVIDIA/nccl 2.28: every algorithm with every protocol that is enabled by default, and the tuner's estimates.
std::vector<CollectiveChoice> nccl_choices(const CollectiveRequest& request, const RankLayout& layout);
/// ROCm/rccl 2.21.
std::vector<CollectiveChoice> rccl_choices(const CollectiveRequest& request, const RankLayout& layout);
/// MPICH: chooses by thresholds.
std::vector<CollectiveChoice> mpi_choices(const CollectiveRequest& request, const RankLayout& layout);

/// XLA, between TPUs.
std::vector<CollectiveChoice> xla_choices(const CollectiveRequest& request, const RankLayout& layout);

/// Returns the seconds per message for which NCCL's proxy thread is busy between nodes over sockets; the one thread per
/// node posts a piece for each channel. Applies to rings that sum or gather; other algorithms overlap this time with
/// the bytes.
double socket_post_seconds(const CollectiveRequest& request, std::string_view algorithm, Protocol protocol,
                           const RankLayout& layout);

/// Returns the seconds per message for which the adapter is busy, in addition to its bytes. Applies to rings between
/// nodes over RDMA while the ranks compute. nccl_constants.csv has the calibration.
double beside_kernels_post_seconds(const CollectiveRequest& request, std::string_view algorithm,
                                   const RankLayout& layout);

/// Returns the seconds that an NCCL tree between nodes over sockets takes in addition to its messages.
double socket_start_seconds(std::string_view algorithm, const RankLayout& layout);

/// Returns the share of the bandwidth that NCCL's tuner expects of trees for `bytes` too few to fill the pipeline
/// (treeCorrectionFactor).
double tree_share_of_bandwidth(Protocol protocol, double bytes);

}  // namespace dadsim::collectives
