#pragma once

#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/request.hpp"

namespace dadsim::collectives {

// Choices of each library for a checked request of two ranks or more. Each library has a file with its algorithms,
// thresholds and constants. See library_choices.

/// NVIDIA/nccl 2.28: every algorithm with every protocol that is on by default, and the times of its tuner.
std::vector<CollectiveChoice> nccl_choices(const CollectiveRequest& request, const RankLayout& layout);
/// ROCm/rccl 2.21.
std::vector<CollectiveChoice> rccl_choices(const CollectiveRequest& request, const RankLayout& layout);
/// MPICH: chooses by thresholds.
std::vector<CollectiveChoice> mpi_choices(const CollectiveRequest& request, const RankLayout& layout);

/// XLA, between TPUs.
std::vector<CollectiveChoice> xla_choices(const CollectiveRequest& request, const RankLayout& layout);

/// Seconds for which NCCL's one thread of a node is busy with the pieces of a message between nodes over sockets, one
/// of each channel, in rings that add up or gather. Of other algorithms they are hidden behind the bytes.
double socket_post_seconds(const CollectiveRequest& request, std::string_view algorithm, Protocol protocol,
                           const RankLayout& layout);

/// Seconds per message of a ring between nodes over RDMA for which the adapter is busy beyond the bytes while the ranks
/// compute. nccl_constants.csv has the calibration.
double beside_kernels_post_seconds(const CollectiveRequest& request, std::string_view algorithm,
                                   const RankLayout& layout);

/// Seconds of a tree of NCCL between nodes over sockets beyond its messages.
double socket_start_seconds(std::string_view algorithm, const RankLayout& layout);

/// Share of the bandwidth that NCCL's tuner expects of its trees for `bytes` too few to fill the pipeline
/// (treeCorrectionFactor).
double tree_share_of_bandwidth(Protocol protocol, double bytes);

}  // namespace dadsim::collectives
