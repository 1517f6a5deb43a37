#include "study/sweep/winners.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "estimate/comparison.hpp"

namespace dadsim::study {
namespace {

using report::Metric;

/// Mean and interval: the ratio to ones, for which Fieller's interval is Student's.
estimate::Estimate mean_of(const std::vector<double>& values) {
  return estimate::ratio_of_means(values, std::vector<double>(values.size(), 1.0));
}

/// Of one run, by seed.
struct Times {
  std::vector<double> values;
  std::vector<estimate::Arrival> arrivals;
  std::vector<estimate::Estimate> at_scale;
  bool all = true;    ///< every seed has one
  bool exact = true;  ///< it learns what every exact run does
  double best_accuracy = 0;
};

std::optional<double> known(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

/// Of what decides. At scale with one seed by the interval that it has.
estimate::Estimate how_long(const Times& run, const Times& of, Metric metric) {
  if (metric == Metric::time_to_target) return times_as_long(run.arrivals, of.arrivals, run.exact && of.exact);
  if (metric == Metric::time_at_scale && run.at_scale.size() == 1)
    return times_as_long(run.at_scale.front(), of.at_scale.front());
  estimate::Estimate ratio = estimate::ratio_of_means(run.values, of.values);
  if (run.values.size() > 1) ratio.low = ratio.low.value_or(0);  // seeds that scatter without bounds leave all open
  return ratio;
}

PointOutcome decide(std::size_t point, const std::vector<const SweepRun*>& runs) {
  PointOutcome outcome{.point = point, .ranked = {}};
  if (std::ranges::any_of(runs, [](const SweepRun* run) { return std::isfinite(run->figures["scale_seconds"]); })) {
    outcome.metric = Metric::time_at_scale;
  } else if (std::ranges::any_of(runs, [](const SweepRun* run) { return !run->figures.text("workload").empty(); })) {
    outcome.metric = Metric::time_per_step;
  }
  const bool some_communicate =
      std::ranges::any_of(runs, [](const SweepRun* run) { return run->figures.is("communicates"); });
  std::vector<std::string> labels;
  std::map<std::string, Times> times;
  for (const SweepRun* run : runs) {
    if (some_communicate && !run->figures.is("communicates")) continue;
    // It has no time of a workload.
    if (outcome.metric != Metric::time_to_target && run->event_driven()) continue;
    if (!times.contains(run->label())) labels.push_back(run->label());
    Times& own = times[run->label()];
    const double seconds = outcome.metric == Metric::time_at_scale   ? run->figures["scale_seconds"]
                           : outcome.metric == Metric::time_per_step ? run->figures["step_seconds"]
                                                                     : run->figures["target_seconds"];
    const double best_accuracy = run->figures["best_accuracy"];
    if (std::isfinite(best_accuracy)) own.best_accuracy = std::max(own.best_accuracy, best_accuracy);
    if (std::isfinite(seconds)) {
      own.values.push_back(seconds);
      own.arrivals.push_back({run->figures["target_after_seconds"], run->figures["target_seconds"]});
      own.at_scale.push_back(
          {seconds, known(run->figures["scale_seeds_low"]), known(run->figures["scale_seeds_high"])});
    }
    own.exact = own.exact && run->figures.is("exact");
    own.all = own.all && std::isfinite(seconds);
  }
  for (const std::string& label : labels) {
    const Times& own = times[label];
    outcome.ranked.push_back({.label = label,
                              .seconds = own.all ? std::optional(mean_of(own.values)) : std::nullopt,
                              .of_first = {},
                              .best_accuracy = own.best_accuracy});
  }
  std::ranges::stable_sort(outcome.ranked, [](const TimeToTarget& a, const TimeToTarget& b) {
    if (!a.seconds || !b.seconds) return a.seconds.has_value() && !b.seconds.has_value();
    return a.seconds->value < b.seconds->value;
  });
  for (std::size_t i = 1; i < outcome.ranked.size() && outcome.ranked[i].seconds; ++i) {
    TimeToTarget& run = outcome.ranked[i];
    const TimeToTarget& first = outcome.ranked.front();
    if (!(first.seconds->value > 0)) {  // it was there before the first step, and of nothing there is no ratio
      run.tied = run.seconds->value == first.seconds->value;
      continue;
    }
    run.of_first = how_long(times[run.label], times[first.label], outcome.metric);
    run.tied = run.of_first->value == 1 || may_be_equal(*run.of_first);
  }
  return outcome;
}

}  // namespace

bool PointOutcome::tie() const { return reached() && std::ranges::any_of(ranked, &TimeToTarget::tied); }

std::vector<PointOutcome> outcomes(const SweepResults& results) {
  std::map<std::int64_t, std::vector<const SweepRun*>> runs;
  for (const SweepRun& run : results.runs) runs[run.trial.point].push_back(&run);
  for (const FailedTrial& failed : results.failed) runs[failed.trial.point].clear();
  std::vector<PointOutcome> all;
  for (std::size_t i = 0; i < results.points.size(); ++i) all.push_back(decide(i, runs[results.points[i].id]));
  return all;
}

report::Metric metric_of(const std::vector<PointOutcome>& all) {
  std::map<Metric, std::size_t> count;
  for (const PointOutcome& outcome : all) {
    if (!outcome.ranked.empty()) ++count[outcome.metric];
  }
  if (count.empty()) return Metric::time_to_target;
  return std::ranges::max_element(count, {}, [](const auto& one) { return one.second; })->first;
}

}  // namespace dadsim::study
