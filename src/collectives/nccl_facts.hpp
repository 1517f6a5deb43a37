#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "collectives/collective.hpp"
#include "spec/platform_specification.hpp"

// The numbers of NCCL's tuner: rows of nccl_*.csv, with the source of each. Its formulas are in nccl.cpp.

namespace dadsim::collectives::nccl {

/// Algorithms by their names in NCCL_ALGO.
enum class Algorithm : std::uint8_t { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat };
constexpr auto names_of(Algorithm) {
  using enum Algorithm;
  return std::to_array<spec::Name<Algorithm>>({{tree, "Tree"},
                                               {ring, "Ring"},
                                               {collnet_direct, "CollnetDirect"},
                                               {collnet_chain, "CollnetChain"},
                                               {nvls, "NVLS"},
                                               {nvls_tree, "NVLSTree"},
                                               {pat, "PAT"}});
}

/// Microseconds with LL, LL128 and Simple. For algorithms with Simple alone, all three are equal.
using Latencies = std::array<double, 3>;
struct AlgorithmLatencies {
  Latencies base{};  ///< microseconds per operation
  Latencies over_nvlink{}, over_pcie{},
      between{};  ///< per step: inside a node over NVLink and over PCIe; between nodes
};
const AlgorithmLatencies& latencies_of(Algorithm algorithm);

/// GB/s on one node, on two nodes, and on more.
using ByNodes = std::array<double, 3>;

/// Constants of NCCL's tuner for a generation of GPUs and its servers.
struct Generation {
  ByNodes tree{}, ring_ll128{}, tree_ll128{}, nvls_tree{};  ///< limits per channel, GB/s
  ByNodes ll{};        ///< limit with LL over all channels, GB/s; between nodes it depends on the CPU
  double channel = 0;  ///< GB/s of a channel inside a node
  bool amd_cpu = false;
  double plateau = 1;          ///< factor on the latency of ring all-reduces with Simple between nodes
  double nvls_efficiency = 0;  ///< share of the links' bandwidth; 0: no NVLS
  double nvls_channels = 0;    ///< number of channels on one node
  std::vector<double> speeds;  ///< possible GB/s of a channel between nodes, in descending order
};
const Generation& generation_of(spec::GpuGeneration generation);

/// Constants of the formulas; nccl_constants.csv explains each.
struct Constants {
  double ring_ll, ring_ll128, tree_simple, tree_ll, tree_ll128_one_node, tree_ll128, collnet_direct, collnet_gather,
      pat, pat_levels, pat_rank, post, post_amd, post_simple, post_beside, plateau_from, split, post_beside_ampere;
};
const Constants& constants();

}  // namespace dadsim::collectives::nccl
