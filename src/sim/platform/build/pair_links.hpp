#pragma once

#include <string>
#include <vector>

#include "sim/platform/build/cluster_network.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Lines "FROM -> TO" between all places, one per direction.
class PairLinks {
 public:
  /// Makes the lines, whose names begin with "PREFIX." unless the prefix is empty. Throws std::runtime_error if two
  /// places have no pair, a pair occurs twice, or a pair names an unknown place.
  PairLinks(simgrid::s4u::NetZone* zone, const std::string& prefix, const std::vector<std::string>& places,
            const std::vector<spec::WanSpec::Pair>& pairs);

  simgrid::s4u::Link* operator()(std::size_t from, std::size_t to) const { return links_[from * places_ + to]; }

 private:
  std::size_t places_;
  Links links_;  ///< link of each ordered pair, [from · places + to]
};

}  // namespace dadsim::sim
