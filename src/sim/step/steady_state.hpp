#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "sim/step/replay.hpp"

// Duration of a step in the steady state of consecutive steps without a barrier.
//
// A worker is done with a step at the latest of its own and its neighbours' previous dates, each plus a delay. That is
// a linear system over (max, +). After a transient it repeats itself, with every step later by the greatest mean of a
// cycle of delays (Baccelli, Cohen, Olsder, Quadrat: Synchronization and Linearity, 1992, theorem 3.109). The period
// may be several steps: around two workers, a slow line one way and a quick one the other take turns.

namespace dadsim::sim {

/// Returns the number of steps after which everything repeats; nothing if steps have not settled. In the last period
/// every worker was as much later than a period before, to within one in a million. The same holds for the period
/// before. `finished`: per step and worker, seconds since the beginning.
std::optional<std::size_t> period_of(const std::vector<std::vector<double>>& finished);

/// A run of equal steps, long enough to settle.
struct SteadyState {
  std::unique_ptr<StepRun> run;
  std::size_t steps = 0;   ///< number of steps of the run
  std::size_t period = 0;  ///< number of the run's last steps that represent all further ones
  step::StepTiming timing() const { return run->timing(steps - period, steps); }
};

/// Returns the largest number of steps of a schedule to replay. If a run of this length has not settled, the second
/// half of its steps represents all further ones. Quick workers that do not depend on slow ones never settle.
std::size_t most_steps(std::size_t workers);

/// Replays longer and longer runs of the schedule until a run has settled. `cold`: every run uses new connections.
/// `slowdown`: factor on the seconds of computations, per host; empty: 1.
SteadyState until_settled(StepReplayer& replayer, const collectives::RankLayout& layout,
                          const schedule::Schedule& schedule, Connections& connections, bool cold,
                          const std::vector<double>& slowdown = {});

}  // namespace dadsim::sim
