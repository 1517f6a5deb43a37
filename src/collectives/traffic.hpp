#pragma once

#include <vector>

#include "collectives/rounds.hpp"

namespace dadsim::collectives {

/// Adds the bytes that each rank sends and receives in a collective.
void add_traffic(const Rounds& rounds, std::vector<double>& sent, std::vector<double>& received);

}  // namespace dadsim::collectives
