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

/// Simulates schedules message by message, on a network without other traffic of the training. The nodes' compute
/// streams are actors that live as long as this object, because making them for every step would take as long as a
/// small step.
class StepReplayer {
 public:
  StepReplayer(const Nodes& nodes, Interconnect& network, Connections& connections);

  /// Simulates one step that starts now. Call in a separate actor. `layout`: that of the schedule's workers.
  /// `slowdown`: per node, multiplies the seconds of computations (empty: 1). `recorder`, if not null, records the
  /// step. Returns when all messages have been delivered.
  step::StepTiming replay(const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                          const std::vector<double>& slowdown = {}, TimelineRecorder* recorder = nullptr);

  /// Simulates steps without a barrier between them, with the same workers. `steps` must exist until the run has ended.
  std::unique_ptr<StepRun> replay(const collectives::RankLayout& layout, std::span<const ReplayStep> steps,
                                  TimelineRecorder* recorder = nullptr);

 private:
  class ReplayStreams;
  std::shared_ptr<ReplayStreams> streams_;
};

/// Simulates one collective that all ranks begin now. Returns the seconds until the last rank is done.
double replay(const Nodes& nodes, const collectives::Rounds& rounds, Connections& connections);

}  // namespace dadsim::sim
