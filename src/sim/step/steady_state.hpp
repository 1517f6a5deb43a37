#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "sim/step/replay.hpp"

// Duration of a step in the steady state of consecutive steps without a barrier.
//
// A worker finishes a step at the latest of the previous dates of itself and its neighbours, each plus a delay. These
// dates are a linear system over (max, +). After a transient they repeat, each step later by the greatest mean of a
// cycle of delays (Baccelli, Cohen, Olsder, Quadrat: Synchronization and Linearity, 1992, theorem 3.109). The period
// may be several steps: around two workers, a slow line one way and a quick one the other way take turns.

namespace dadsim::sim {

/// Returns the number of steps after which all dates repeat; nothing if steps have not settled. Requires two equal
/// periods: in each of the last two, every worker was later than one period before by the same time, to within one in a
/// million. `finished`: per step and worker, seconds since the beginning.
std::optional<std::size_t> period_of(const std::vector<std::vector<double>>& finished);

/// A run of equal steps, long enough to settle.
struct SteadyState {
  std::unique_ptr<StepRun> run;
  std::size_t steps = 0;   ///< number of steps of the run
  std::size_t period = 0;  ///< number of steps at the end of the run that represent all further ones
  step::StepTiming timing() const { return run->timing(steps - period, steps); }
};

/// Returns the largest number of steps of a schedule to replay. If a run of this length has not settled, its second
/// half represents all further steps. Quick workers that do not depend on slow ones never settle.
std::size_t most_steps(std::size_t workers);

/// Replays runs of increasing length until one has settled. `cold`: every run uses new connections. `slowdown`: factor
/// on the seconds of computations, per host; empty: 1.
SteadyState until_settled(StepReplayer& replayer, const collectives::RankLayout& layout,
                          const schedule::Schedule& schedule, Connections& connections, bool cold,
                          const std::vector<double>& slowdown = {});

}  // namespace dadsim::sim
