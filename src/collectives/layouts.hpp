#pragma once

#include <memory>

#include "collectives/blocks.hpp"
#include "collectives/request.hpp"

namespace dadsim::collectives {

// Each function lays out one algorithm. The caller must have checked the request, which has two ranks or more (see
// lay_out()).
using Layout = std::unique_ptr<BlockRounds>(const CollectiveRequest& request, const RankLayout& layout);

// ring.cpp
Layout ring_all_reduce, one_ring_all_reduce, ordered_ring_all_reduce, ring_reduce_scatter, ring_all_gather,
    one_ring_all_gather, ring_broadcast, ring_reduce;
// torus.cpp
Layout torus_all_reduce, torus_reduce_scatter, torus_all_gather;
// pat.cpp
Layout pat_all_gather, pat_reduce_scatter;
// pairwise_reduce_scatter.cpp
Layout pairwise_reduce_scatter;
// in_two_steps.cpp
Layout scatter_doubling_broadcast, scatter_ring_broadcast, halving_gather_reduce;
// halving_doubling.cpp
Layout halving_doubling_all_reduce;
// recursive_halving.cpp
Layout recursive_halving_reduce_scatter;
// recursive_doubling.cpp
Layout recursive_doubling_all_reduce, recursive_doubling_all_gather;
// bruck.cpp
Layout bruck_all_gather;
// double_binary_tree.cpp
Layout double_binary_tree_all_reduce;
// hierarchical.cpp
Layout hierarchical_all_reduce, hierarchical_all_gather;
// hierarchical_pipelined.cpp
Layout hierarchical_pipelined_all_reduce;
// gloo.cpp
Layout gloo_all_reduce, gloo_all_gather;
// gloo_parameter_server.cpp
Layout gloo_parameter_server_all_reduce;
// nvls.cpp
Layout nvls_all_reduce, nvls_reduce_scatter, nvls_all_gather;
// node_trees.cpp
Layout tree_all_reduce, nvls_tree_all_reduce, sharp_all_reduce;
// direct.cpp
Layout direct_all_reduce, direct_reduce_scatter, direct_all_gather;
// flat.cpp
Layout parameter_server_all_reduce, flat_broadcast, flat_gather, flat_scatter;
// binomial.cpp
Layout reduce_broadcast_all_reduce, binomial_broadcast, binomial_reduce, binomial_gather, binomial_scatter;
// chain.cpp
Layout chain_broadcast;
// all_to_all.cpp
Layout direct_all_to_all, pairwise_all_to_all;
// neighbour_exchange.cpp
Layout direct_neighbour_exchange;

/// Number of collectives that a process runs concurrently over gloo: threads of PyTorch's ProcessGroupGloo.
inline constexpr std::int32_t kGlooThreads = 2;

/// Returns the number of parallel rings of `ring`.
Rank ring_lanes(const RankLayout& layout);

/// Returns the network that limits a collective: between the nodes if there are several, otherwise inside the node.
const RankLayout::Channel& slowest_channel(const RankLayout& layout);

/// Returns true for several nodes, some with several ranks, if they differ in size or are not numbered node by node.
bool has_uneven_nodes(const RankLayout& layout);

/// Lays out `tree` on nodes that differ in size or order.
Layout uneven_tree_all_reduce;

}  // namespace dadsim::collectives
