#pragma once

#include <vector>

#include "collectives/rounds.hpp"

namespace dadsim::collectives {

/// Bytes that a collective takes across the network, per rank; added to what is there.
void add_traffic(const Rounds& rounds, std::vector<double>& sent, std::vector<double>& received);

}  // namespace dadsim::collectives
