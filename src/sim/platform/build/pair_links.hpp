#pragma once

#include <string>
#include <vector>

#include "sim/platform/build/cluster_network.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// The lines "FROM -> TO" between all places, each direction its own.
class PairLinks {
 public:
  /// Names in front of the lines' with "PREFIX.", unless it is empty. Throws std::runtime_error where two places have
  /// no pair, a pair is there twice, or one names no place.
  PairLinks(simgrid::s4u::NetZone* zone, const std::string& prefix, const std::vector<std::string>& places,
            const std::vector<spec::WanSpec::Pair>& pairs);

  simgrid::s4u::Link* operator()(std::size_t from, std::size_t to) const { return links_[from * places_ + to]; }

 private:
  std::size_t places_;
  Links links_;  ///< [from · places + to]
};

}  // namespace dadsim::sim
