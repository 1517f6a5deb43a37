#pragma once

#include <algorithm>
#include <vector>

#include "sim/kernels.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {

/// How much longer nodes compute while they communicate (slowed_beside_communication). What stages of a pipeline hand
/// on does not count: it is one message at a time.
class BesideCommunication {
 public:
  BesideCommunication(const Nodes& nodes, const Parts& parts, spec::Precision precision) : parts_(parts) {
    for (std::size_t node = 0; node < parts_.nodes(); ++node)
      slowed_.push_back(slowed_beside_communication(*nodes.devices[parts_.host_index(node)], precision));
  }

  bool slows_any() const {
    return std::ranges::any_of(slowed_, [](double share) { return share > 0; });
  }
  /// The share by which a node is slower.
  double of(std::size_t node) const { return slowed_[node]; }

  /// Seconds of computing from the date `begin` on that takes `seconds` by itself, with what the node sends on its way
  /// until the date `until`: what is done before that takes longer.
  double seconds(std::size_t node, double begin, double seconds, double until) const {
    const double slower = 1 + slowed_[node];
    if (until <= begin || slower == 1) return seconds;
    const double done = (until - begin) / slower;
    return done < seconds ? until - begin + (seconds - done) : seconds * slower;
  }
  /// The same with `free` as the date, per node and line, at which the next collective may begin.
  double seconds(std::size_t node, double begin, double seconds, const std::vector<double>& free) const {
    double until = begin;
    for (std::size_t line = 0; line < parts_.lines(); ++line) {
      if (!Parts::is_between_stages(line)) until = std::max(until, free[node * parts_.lines() + line]);
    }
    return this->seconds(node, begin, seconds, until);
  }

 private:
  const Parts& parts_;
  std::vector<double> slowed_;
};

}  // namespace dadsim::sim
