#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "schedule/assignment.hpp"
#include "sim/simulator.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/memory_check.hpp"
#include "study/setting/timed_as.hpp"

// RunResult describes a run. Only report::summarise() and this folder compute its members.

namespace dadsim::study {

/// Learns and times a scenario that differs from the current one, on the same machines.
using TimeAnother = std::function<report::Result(const scenario::Scenario&)>;

/// Inputs of the results of a scenario's runs.
struct ResultContext {
  const scenario::Scenario& scenario;
  const Learned& learned;
  const TimedAs& timed;
  const sim::Cluster& cluster;
  const std::vector<RunMemory>& memory;  ///< per run
  TimeAnother time_another;
};

/// A run that was learned step by step, with its simulated times.
struct TimedSteps {
  const step::Trajectory& trajectory;  ///< the timed steps: every step separately if each has its own date
  const sim::TimedRun& timings;
  const std::vector<step::Assignment>& assignment;  ///< for layers with a choice
  const std::vector<std::int64_t>& traced_steps;    ///< numbers of the steps whose timelines are requested, from 1
};

/// Returns the requested steps that the run has.
std::vector<std::int64_t> existing_steps(const step::Trajectory& trajectory, const std::vector<std::int64_t>& steps);

/// Returns the result of run `i`, without members that depend on other runs.
report::RunResult result_of_steps(const ResultContext& context, std::size_t i, const TimedSteps& run);
/// Returns the result of an event-driven run, without members that depend on other runs.
report::RunResult result_of_events(const ResultContext& context, std::size_t i, report::EventDrivenRun run);

/// Fills in the members that depend on all runs: bands, arrivals, the time to accuracy at scale, throughput, costs,
/// notes.
void complete(const ResultContext& context, const std::optional<report::ScaleSetting>& scale, report::Result& result);

}  // namespace dadsim::study
