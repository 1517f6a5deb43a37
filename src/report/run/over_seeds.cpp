#include "report/run/over_seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/run/contender.hpp"
#include "report/text/amounts.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

template <class Text>
std::string with_deviation(const std::vector<double>& by_seed, const Text& text) {
  const auto [mean, deviation] = over_seeds(by_seed);
  return by_seed.size() < 2 ? text(mean) : fmt::format("{} ± {}", text(mean), text(deviation));
}

std::string time_of_seeds(const RunResult& run, bool with_band) {
  const std::optional<estimate::Estimate> time =
      time_of(contender_of(run, Metric::time_to_target), Metric::time_to_target);
  if (!time || (run.arrivals.empty() && !run.target_reached)) {
    const auto missed = std::ranges::count(run.arrivals, false, &std::optional<estimate::Arrival>::has_value);
    return missed < std::ssize(run.arrivals) ? fmt::format("missed by {} of {}", missed, run.arrivals.size()) : "never";
  }
  const bool known = with_band && time->value > 0 && time->low && time->high;
  return known ? seconds_with_interval(time->value, *time->low, *time->high) : human_seconds(time->value);
}

}  // namespace

OverSeeds over_seeds(const std::vector<double>& by_seed) {
  const auto seeds = static_cast<double>(by_seed.size());
  OverSeeds over;
  over.mean = std::accumulate(by_seed.begin(), by_seed.end(), 0.0) / seeds;
  double squares = 0;
  for (const double one : by_seed) squares += (one - over.mean) * (one - over.mean);
  if (by_seed.size() > 1) over.deviation = std::sqrt(squares / (seeds - 1));
  return over;
}

std::vector<double> target_steps(const RunResult& run) {
  std::vector<double> steps;
  for (const std::optional<estimate::Arrival>& arrival : run.arrivals) {
    if (!arrival) return {};
    steps.push_back(arrival->steps);
  }
  return steps;
}

TargetOverSeeds target_over_seeds(const RunResult& run) {
  TargetOverSeeds over;
  if (run.arrivals.size() < 2) {
    const std::optional<estimate::Arrival> arrival = run.arrival();
    over.reached = run.target_reached;
    over.seconds = run.target_seconds;
    over.steps = static_cast<double>(run.target_step);
    over.after = arrival ? arrival->after : 0;
    return over;
  }
  over.reached = std::ranges::all_of(run.arrivals, &std::optional<estimate::Arrival>::has_value);
  if (!over.reached) return over;
  const auto seeds = static_cast<double>(run.arrivals.size());
  for (const std::optional<estimate::Arrival>& arrival : run.arrivals) {
    over.seconds += arrival->at / seeds;
    over.after += arrival->after / seeds;
    over.steps += arrival->steps / seeds;
  }
  return over;
}

double longer_over_seeds(const RunResult& run) {
  const TargetOverSeeds over = target_over_seeds(run);
  const bool known = run.arrivals.size() > 1 && over.reached && run.target_step > 0;
  return known ? over.steps / static_cast<double>(run.target_step) : 1;
}

double sent_in_all(const RunResult& run) {
  return run.target_reached && run.steps == run.target_step ? run.total_bytes * longer_over_seeds(run)
                                                            : run.total_bytes;
}

std::string accuracy_cell(const std::vector<double>& by_seed, double of_first) {
  const auto text = [](double accuracy) {
    const std::string percent = human_percent(accuracy);
    return percent.substr(0, percent.find(' '));  // the unit is in the heading
  };
  return by_seed.size() < 2 ? text(of_first) : with_deviation(by_seed, text);
}

std::string steps_cell(const RunResult& run) {
  if (run.arrivals.size() < 2) return run.target_reached ? fmt::format("{}", run.target_step) : "–";
  const std::vector<double> steps = target_steps(run);
  return steps.empty() ? "–" : with_deviation(steps, [](double count) { return fmt::format("{:.0f}", count); });
}

std::string time_cell(const RunResult& run) { return time_of_seeds(run, false); }
std::string time_cell_with_band(const RunResult& run) { return time_of_seeds(run, true); }

}  // namespace dadsim::report
