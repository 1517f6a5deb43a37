#pragma once

#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// The order around a ring in which the slowest pair of neighbours is as quick as can be found, and of equal ones the
/// one whose pairs take least together: from the nearest neighbour's tour by exchanging two edges until nothing gets
/// better (2-opt). So does PCCL go by the bandwidths that it has measured (M. Keiblinger et al., arXiv:2505.14065).
/// Begins with 0. Empty for more hosts than kMostInOrder.
std::vector<collectives::Rank> ring_order(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network);

inline constexpr std::size_t kMostInOrder = 64;

}  // namespace dadsim::sim
