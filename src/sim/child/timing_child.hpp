#pragma once

#include <span>

#include "sim/process/child_process.hpp"
#include "sim/simulator.hpp"
#include "sim/step/step_selection.hpp"

// What runs in the forked child, which owns SimGrid's engine. What it finds goes to the parent as TimingTopic says; it
// ends the child.

namespace dadsim::sim {

/// What is simulated of a run.
struct TimingJob {
  const Cluster& cluster;
  std::span<const schedule::Schedule> schedules;
  const schedule::StepKinds* kinds = nullptr;  ///< of the schedules; null where every step differs
  const StepSelection& plan;
  const TimingRequest& request;
};

/// One schedule after the other.
[[noreturn]] void simulate(const TimingJob& job, const MessageSink& sink);

/// Every job, first on new connections, then on those.
[[noreturn]] void simulate_collectives(const Cluster& cluster, std::span<const CollectiveJob> jobs,
                                       const MessageSink& sink);

}  // namespace dadsim::sim
