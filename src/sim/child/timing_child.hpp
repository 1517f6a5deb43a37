#pragma once

#include <span>

#include "sim/process/child_process.hpp"
#include "sim/simulator.hpp"
#include "sim/step/step_selection.hpp"

// Work of the forked child, which owns SimGrid's engine. Results go to the parent as messages, one TimingTopic each.
// These functions end the child.

namespace dadsim::sim {

/// A run to be simulated.
struct TimingJob {
  const Cluster& cluster;
  std::span<const schedule::Schedule> schedules;
  const schedule::StepKinds* kinds = nullptr;  ///< kinds of the schedules; null where every step differs
  const StepSelection& plan;
  const TimingRequest& request;
};

/// Simulates the schedules one after the other.
[[noreturn]] void simulate(const TimingJob& job, const MessageSink& sink);

/// Times every job. Messages, if they are simulated, use new connections and, with TCP, the same ones again.
[[noreturn]] void simulate_collectives(const Cluster& cluster, std::span<const CollectiveJob> jobs,
                                       const MessageSink& sink);

}  // namespace dadsim::sim
