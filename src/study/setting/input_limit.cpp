#include "study/setting/input_limit.hpp"

#include <algorithm>

namespace dadsim::study {
namespace {

void at_least(double seconds, step::StepTiming& timing) {
  const double longer = seconds - timing.seconds;
  if (!(longer > 0)) return;
  timing.seconds = seconds;
  timing.exposed_seconds += longer;
  // Removing other bounds would leave the input's time unchanged.
  timing.bounds = {{"", "overlap", seconds - longer, 1 - longer / seconds},
                   {"input", "bandwidth", longer, longer / seconds}};
  std::ranges::stable_sort(timing.bounds, std::ranges::greater{}, &step::Bound::seconds);
}

double seconds_of_input(const TimedAs& timed, const step::Step& step) {
  std::int32_t most = 0;
  for (const std::int32_t samples : step.sizes.samples) most = std::max(most, samples);
  return most * timed.sample_scale / timed.input_rate;
}

}  // namespace

void limit_by_input(const TimedAs& timed, const step::Trajectory& trajectory, sim::TimedRun& timings) {
  if (!(timed.input_rate > 0)) return;
  for (std::size_t i = 0; i < timings.steps.size(); ++i)
    at_least(seconds_of_input(timed, trajectory.distinct_steps[i]), timings.steps[i]);
  if (timings.first && !trajectory.distinct_steps.empty())
    at_least(seconds_of_input(timed, trajectory.distinct_steps.front()), *timings.first);
  double end = 0;
  double added = 0;
  for (double& step : timings.first_steps) {
    const double own = step - end;
    end = step;
    added += std::max(0.0, seconds_of_input(timed, trajectory.distinct_steps.front()) - own);
    step += added;
  }
}

std::optional<report::Statement> input_assumption(const std::optional<spec::TimedAsSpec>& timed_as) {
  if (!timed_as || !(timed_as->input_rate > 0)) return std::nullopt;
  return report::Statement{"input-rate"}.with("samples_per_second", timed_as->input_rate);
}

}  // namespace dadsim::study
