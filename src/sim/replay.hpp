#pragma once

#include <cstddef>
#include <vector>

#include "collectives/collective.hpp"
#include "plan/schedule.hpp"
#include "plan/timing.hpp"
#include "sim/connection.hpp"
#include "sim/simulator.hpp"

namespace dadsim {

/// The nodes of a cluster on a loaded platform: workers first, then the aggregator if there is one.
struct Nodes {
  std::vector<simgrid::s4u::Host*> hosts;
  std::vector<const DeviceSpec*> devices;
  std::size_t workers = 0;
};

class TimelineRecorder;

/// Simulates one schedule from now on, every message of it, on a network that nobody else of the training uses; to be
/// called inside an actor of its own. `layout` is of the schedule's workers. `slowness` multiplies the seconds of
/// computations, per node (empty: 1). `recorder`, if any, takes down what happens. Returns when all messages are
/// through.
StepTiming replay(const Nodes& nodes, const RankLayout& layout, const Schedule& schedule, Network& network,
                  Connections& connections, const std::vector<double>& slowness = {},
                  TimelineRecorder* recorder = nullptr);

/// The same for one collective by itself, which all ranks begin now. Seconds until the last rank is done.
double replay(const Nodes& nodes, const Rounds& rounds, Connections& connections);

}  // namespace dadsim
