#pragma once

#include <algorithm>
#include <vector>

#include "sim/kernels.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {

/// Slowdown of nodes that compute while they communicate (slowed_beside_communication). Messages between stages of a
/// pipeline do not count, since only one is sent at a time.
class BesideCommunication {
 public:
  BesideCommunication(const Nodes& nodes, const Parts& parts, spec::Precision precision) : parts_(parts) {
    for (std::size_t node = 0; node < parts_.nodes(); ++node)
      slowed_.push_back(slowed_beside_communication(*nodes.devices[parts_.host_index(node)], precision));
  }

  bool slows_any() const {
    return std::ranges::any_of(slowed_, [](double share) { return share > 0; });
  }
  /// Returns the share by which communication lengthens a node's computations.
  double of(std::size_t node) const { return slowed_[node]; }

  /// Returns the seconds of a computation that begins at `begin` and would take `seconds` without communication. The
  /// node communicates until the date `until`, and computes more slowly until then.
  double seconds(std::size_t node, double begin, double seconds, double until) const {
    const double slower = 1 + slowed_[node];
    if (until <= begin || slower == 1) return seconds;
    const double done = (until - begin) / slower;
    return done < seconds ? until - begin + (seconds - done) : seconds * slower;
  }
  /// Returns the same for a node that communicates until the latest date in `free`: dates at which the next collective
  /// may begin, per node and line.
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
