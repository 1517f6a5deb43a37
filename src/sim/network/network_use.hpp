#pragma once

#include <vector>

#include "sim/network/interconnect.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Sets the kinds of the links used, and the use of each link.
void describe_links(const Interconnect& network, step::NetworkUse& use);

/// Sorts links, the busiest first, and keeps NetworkUse::kMostLinks at most.
void keep_busiest(std::vector<step::LinkUse>& links);

/// Adds up the loads of links over the steps of a run.
class LinkUseCount {
 public:
  /// Adds a step of `seconds` that occurs `times` times; `loads`: per link of the network.
  void add(const std::vector<LinkLoad>& loads, double seconds, double times);
  /// Fills in the mean use per step.
  void describe(const Interconnect& network, step::NetworkUse& use) const;

 private:
  std::vector<LinkLoad> loads_;
  double seconds_ = 0;
  double steps_ = 0;
};

/// Starts background traffic, if any: actors that run as long as the simulation. `until`: no timing begins before this
/// date, so that only the last of the earlier messages are simulated. A run that simulates each step at its date would
/// otherwise simulate all earlier traffic again for each step.
void start_background(const spec::PlatformSpec& platform, simgrid::s4u::Engine& engine, double until = 0);

}  // namespace dadsim::sim
