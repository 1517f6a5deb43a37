#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "step/trajectory.hpp"
#include "study/absence/absence_clock.hpp"
#include "study/absence/step_times.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// A run in whose steps sites may be missing, with its times.
struct AbsenceRun {
  LearnedRunPtr learned;        ///< as it was given, or as it was learned by those that were there
  step::Trajectory trajectory;  ///< every step by itself
  sim::TimedRun timings;  ///< of each, with what was before it: waiting, what came to nothing, handing over models
  std::vector<step::Assignment> assignment;  ///< by layers that choose
  report::EventDrivenResult counted;
};

/// Takes a run through its outages on a cluster. Where it goes on without those that are away it learns here, step by
/// step, as it goes; else `learned` has all its steps, and time alone passes. Where a step waits for somebody who will
/// not come it ends there, with what was learned until then. `progress` is called with the steps done. Throws
/// SimulationError, Cancelled.
AbsenceRun run_with_absence(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRunPtr& learned,
                            const TimedAs& timed, const sim::Cluster& cluster, SharedCache& shared_cache,
                            const std::function<void(std::int64_t)>& progress = {});

/// What the run learns with another seed, its outages drawn with that too. Only where it goes on without sites.
LearnedRunPtr learn_with_absence(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                 const LearnedRun& described, const TimedAs& timed, const sim::Cluster& cluster,
                                 SharedCache& shared_cache, std::uint64_t seed);

}  // namespace dadsim::study
