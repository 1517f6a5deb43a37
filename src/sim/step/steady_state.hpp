#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "sim/step/replay.hpp"

// Steps without a barrier, one after the other: how long one takes once they have settled.
//
// When a worker is done with a step is the latest of what its neighbours and itself were done with before, each plus a
// delay: a linear system over (max, +), which after a transient repeats itself, every step later by the greatest mean
// of a cycle of delays (Baccelli, Cohen, Olsder, Quadrat: Synchronization and Linearity, 1992, theorem 3.109). It may
// do so not in every step but in every few: around two workers, a slow line one way and a quick one the other take
// turns.

namespace dadsim::sim {

/// Behind how many of the steps everything repeats: in the last of them every worker was as much later than as many
/// steps before, to within one in a million, and the same in as many before that. `finished`: per step and worker,
/// seconds since the beginning. Nothing where they have not settled yet.
std::optional<std::size_t> period_of(const std::vector<std::vector<double>>& finished);

/// A run of equal steps, long enough.
struct SteadyState {
  std::unique_ptr<StepRun> run;
  std::size_t steps = 0;   ///< of the run
  std::size_t period = 0;  ///< its last steps that stand for all that follow
  step::StepTiming timing() const { return run->timing(steps - period, steps); }
};

/// Most steps that are replayed of a schedule: what has not settled by then (workers of which the quick do not depend
/// on the slow never do) is taken as it is in the second half of them.
std::size_t most_steps(std::size_t workers);

/// Replays more and more of the schedule, until it has settled. `cold`: every run on connections as if new. `slowdown`:
/// per host, multiplies the seconds of computations; empty: 1.
SteadyState until_settled(StepReplayer& replayer, const collectives::RankLayout& layout,
                          const schedule::Schedule& schedule, Connections& connections, bool cold,
                          const std::vector<double>& slowdown = {});

}  // namespace dadsim::sim
