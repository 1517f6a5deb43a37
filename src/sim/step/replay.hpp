#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/collective.hpp"
#include "sim/network/connection.hpp"
#include "sim/simulator.hpp"
#include "step/schedule.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// The nodes of a cluster on a loaded platform: workers first, then the aggregator if there is one.
struct Nodes {
  std::vector<simgrid::s4u::Host*> hosts;
  std::vector<const spec::DeviceSpec*> devices;
  std::size_t workers = 0;
};

class TimelineRecorder;

/// Simulates schedules one after the other, every message of them, on a network that nobody else of the training uses.
/// The nodes' compute streams are actors that live as long as this object: to make them again for every step would take
/// as long as a small step itself.
class StepReplayer {
 public:
  StepReplayer(const Nodes& nodes, Interconnect& network, Connections& connections);

  /// From now on; to be called inside an actor of its own. `layout` is of the schedule's workers. `slowness` multiplies
  /// the seconds of computations, per node (empty: 1). `recorder`, if any, takes down what happens. Returns when all
  /// messages are through.
  step::StepTiming replay(const collectives::RankLayout& layout, const step::Schedule& schedule,
                          const std::vector<double>& slowness = {}, TimelineRecorder* recorder = nullptr);

 private:
  class Streams;
  std::shared_ptr<Streams> streams_;
};

/// One collective by itself, which all ranks begin now. Seconds until the last rank is done.
double replay(const Nodes& nodes, const collectives::Rounds& rounds, Connections& connections);

}  // namespace dadsim::sim
