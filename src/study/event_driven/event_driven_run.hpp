#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/learning/learned.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/setting/timed_as.hpp"
#include "world/remote_operations.hpp"

namespace dadsim::study {

/// Options of a simulated run. The calling thread reports the simulation's progress; learning threads report their own.
struct EventDrivenOptions {
  std::size_t most_spans = 0;  ///< largest number of spans in the trace
  bool learns = true;          ///< false: nothing is learned, and accuracies are NaN
  std::function<void(double seconds, std::int64_t updates)> simulating = {};
  std::function<void(std::int64_t done, std::int64_t all)> learning = {};
  world::RemoteOperations* remote = nullptr;  ///< other processes that learn, from the same scenario
};

/// Simulates an event-driven run on a cluster. Then learns, in the simulated order, everything that shared_cache lacks.
/// If failures leave no participant able to continue, the run ends there (EventDrivenResult::stopped). Throws
/// SimulationError, also for a protocol that is stuck for another reason (the message lists which node waits for
/// which); InputError if the protocol needs a learned number and nothing is learned; Cancelled. `remarks`, unless it is
/// null, receives remarks of the protocol.
report::EventDrivenRun run_event_driven(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                        const TimedAs& timed, const sim::Cluster& cluster, SharedCache& shared_cache,
                                        const EventDrivenOptions& options,
                                        std::vector<report::Statement>* remarks = nullptr);

}  // namespace dadsim::study
