#pragma once

#include <vector>

#include "sim/network/interconnect.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Fills in which kinds of link were used, and how.
void describe_links(const Interconnect& network, step::NetworkUse& use);

/// What links carried in the steps of a run, added up.
class LinkUseCount {
 public:
  /// A step, which occurs `times` times, loaded the links so, per link of the network.
  void add(const std::vector<LinkLoad>& loads, double seconds, double times);
  /// Fills in what was added, per step.
  void describe(const Interconnect& network, step::NetworkUse& use) const;

 private:
  std::vector<LinkLoad> loads_;
  double seconds_ = 0;
  double steps_ = 0;
};

/// Starts the traffic of others, if any: actors that go on as long as the simulation does. `until`: nothing is timed
/// before that date, so that only the last of what was sent before it is followed. A run that simulates its steps one
/// by one, each at its date, would else follow all of it once for each.
void start_background(const spec::PlatformSpec& platform, simgrid::s4u::Engine& engine, double until = 0);

}  // namespace dadsim::sim
