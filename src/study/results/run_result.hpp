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

// RunResult is the only struct of a run. Its members are computed by report::summarise() and in this folder, and
// nowhere else.

namespace dadsim::study {

/// Learns and times another scenario, of the same machines.
using TimeAnother = std::function<report::Result(const scenario::Scenario&)>;

/// What the results of a scenario's runs are computed from.
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
  const step::Trajectory& trajectory;  ///< as it was timed: every step by itself where each has its own date
  const sim::TimedRun& timings;
  const std::vector<step::Assignment>& assignment;  ///< by layers that choose
  const std::vector<std::int64_t>& traced_steps;    ///< that timelines were asked for, from 1
};

/// The steps that are asked for, without those that the run does not have.
std::vector<std::int64_t> existing_steps(const step::Trajectory& trajectory, const std::vector<std::int64_t>& steps);

/// Of run `i`, without what takes the other runs.
report::RunResult result_of_steps(const ResultContext& context, std::size_t i, const TimedSteps& run);
/// The same of an event-driven run.
report::RunResult result_of_events(const ResultContext& context, std::size_t i, report::EventDrivenRun run);

/// Fills in the rest, with all runs there: bands, arrivals, the time to accuracy at scale, throughput, costs, notes.
void complete(const ResultContext& context, const std::optional<report::ScaleSetting>& scale, report::Result& result);

}  // namespace dadsim::study
