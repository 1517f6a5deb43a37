#include "sim/step/steady_state.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::sim {
namespace {

constexpr double kSame = 1e-6;  // relative difference of steps that count as equal
constexpr std::size_t kFewestSteps = 8;
constexpr std::size_t kMostSteps = 1024;  // largest number of steps; steps × workers must fit in memory

}  // namespace

std::optional<std::size_t> period_of(const std::vector<std::vector<double>>& finished) {
  const std::size_t steps = finished.size();
  const auto repeats = [&](std::size_t period) {
    const std::vector<double>& now = finished[steps - 1];
    const std::vector<double>& before = finished[steps - 1 - period];
    const std::vector<double>& long_before = finished[steps - 1 - 2 * period];
    const double later = now[0] - before[0];
    for (std::size_t worker = 0; worker < now.size(); ++worker) {
      for (const double own : {now[worker] - before[worker], before[worker] - long_before[worker]}) {
        if (std::abs(own - later) > kSame * later) return false;
      }
    }
    return true;
  };
  for (std::size_t period = 1; 2 * period < steps; ++period) {
    if (repeats(period)) return period;
  }
  return std::nullopt;
}

std::size_t most_steps(std::size_t workers) { return std::min(4 * workers + 16, kMostSteps); }

SteadyState until_settled(StepReplayer& replayer, const collectives::RankLayout& layout,
                          const schedule::Schedule& schedule, Connections& connections, bool cold,
                          const std::vector<double>& slowdown) {
  const std::size_t most = most_steps(schedule.workers);
  SteadyState state;
  for (std::size_t steps = kFewestSteps; state.period == 0; steps *= 2) {
    state.steps = std::min(steps, most);
    if (cold) connections.close();
    connections.network().take_loads();
    const std::vector<ReplayStep> chain(state.steps, ReplayStep{&schedule, slowdown});
    state.run = replayer.replay(layout, chain);
    state.period = period_of(state.run->finished()).value_or(state.steps == most ? most / 2 : 0);
  }
  return state;
}

}  // namespace dadsim::sim
