#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "spec/parameter.hpp"
#include "step/neighbours.hpp"
#include "support/registry.hpp"

namespace dadsim::algorithms {

/// A graph that sites gossip over.
struct GraphInfo {
  std::string name;         ///< name in <run graph="…">
  std::string description;  ///< one sentence
  /// Returns the edges among `sites` sites. Every site has as many incoming as outgoing edges.
  std::function<step::Neighbours(std::size_t sites, std::uint64_t seed)> make;
};

/// Returns the graphs that need only a number of sites and a seed and stay constant, in the order of presentation.
Registry<GraphInfo>& graphs();

/// Returns a parameter `graph` with graphs() as its choices.
spec::ParameterSpec graph_parameter();
inline constexpr spec::TextParameter kGraph{"graph"};

}  // namespace dadsim::algorithms
