#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "spec/parameter.hpp"
#include "step/neighbours.hpp"
#include "support/registry.hpp"

namespace dadsim::algorithms {

/// A graph that sites gossip over.
struct GraphInfo {
  std::string name;         ///< as in <run graph="…">
  std::string description;  ///< one sentence
  /// Who sends to whom among `sites` sites. As many edges arrive at a site as leave it.
  std::function<step::Neighbours(std::size_t sites, std::uint64_t seed)> make;
};

/// The graphs that need nothing but a number of sites and a seed, and stay the same, in the order of presentation.
Registry<GraphInfo>& graphs();

/// A parameter `graph` with these as its choices.
spec::ParameterSpec graph_parameter();
inline constexpr spec::TextParameter kGraph{"graph"};

}  // namespace dadsim::algorithms
