#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/schedule.hpp"
#include "plan/timing.hpp"
#include "sim/simulator.hpp"
#include "sim/traffic.hpp"

namespace dadsim {

/// The nodes of a cluster on a loaded platform: workers first, then the aggregator if there is one.
struct Nodes {
  std::vector<simgrid::s4u::Host*> hosts;
  std::vector<const DeviceSpec*> devices;
  std::size_t workers = 0;
};

/// Simulates one schedule from now on, on an idle cluster; to be called inside an actor of its own. Returns when all
/// its messages are through.
StepTiming replay(const Nodes& nodes, const Schedule& schedule, Traffic& traffic);

}  // namespace dadsim
