#pragma once

#include <memory>
#include <span>
#include <vector>

#include "collectives/collective.hpp"
#include "schedule/schedule.hpp"
#include "sim/network/connection.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/step_run.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// Simulates schedules, every message of them, on a network that nobody else of the training uses. The nodes' compute
/// streams are actors that live as long as this object: to make them again for every step would take as long as a small
/// step itself.
class StepReplayer {
 public:
  StepReplayer(const Nodes& nodes, Interconnect& network, Connections& connections);

  /// One step by itself, from now on; to be called inside an actor of its own. `layout` is of the schedule's workers.
  /// `slowdown` multiplies the seconds of computations, per node (empty: 1). `recorder`, if any, takes down what
  /// happens. Returns when all messages are through.
  step::StepTiming replay(const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                          const std::vector<double>& slowdown = {}, TimelineRecorder* recorder = nullptr);

  /// Steps without a barrier between them, likewise; they have the same workers. `steps` is used until it returns.
  std::unique_ptr<StepRun> replay(const collectives::RankLayout& layout, std::span<const ReplayStep> steps,
                                  TimelineRecorder* recorder = nullptr);

 private:
  class ReplayStreams;
  std::shared_ptr<ReplayStreams> streams_;
};

/// One collective by itself, which all ranks begin now. Seconds until the last rank is done.
double replay(const Nodes& nodes, const collectives::Rounds& rounds, Connections& connections);

}  // namespace dadsim::sim
