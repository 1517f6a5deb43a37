#include "study/sweep/winners.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace dadsim::study {
namespace {

/// Mean and interval: the ratio to ones, for which Fieller's interval is Student's.
estimate::Estimate mean_of(const std::vector<double>& values) {
  return estimate::ratio_of_means(values, std::vector<double>(values.size(), 1.0));
}

struct Times {
  std::vector<double> values;
  bool all = true;  ///< every seed has one
};

PointOutcome decide(std::size_t point, const std::vector<const SweepRun*>& runs) {
  PointOutcome outcome{.point = point, .ranked = {}};
  outcome.at_scale = std::ranges::any_of(runs, [](const SweepRun* run) { return std::isfinite(run->scale_seconds); });
  const bool some_communicate = std::ranges::any_of(runs, [](const SweepRun* run) { return run->communicates; });
  std::vector<std::string> labels;
  std::map<std::string, Times> times;
  for (const SweepRun* run : runs) {
    if (some_communicate && !run->communicates) continue;
    if (outcome.at_scale && run->event_driven()) continue;  // it has no time at scale
    if (!times.contains(run->label)) labels.push_back(run->label);
    Times& own = times[run->label];
    const double seconds = outcome.at_scale ? run->scale_seconds : run->target_seconds;
    if (std::isfinite(seconds)) own.values.push_back(seconds);
    own.all = own.all && std::isfinite(seconds);
  }
  for (const std::string& label : labels) {
    const Times& own = times[label];
    outcome.ranked.push_back({label, own.all ? std::optional(mean_of(own.values)) : std::nullopt});
  }
  std::ranges::stable_sort(outcome.ranked, [](const TimeToTarget& a, const TimeToTarget& b) {
    if (!a.seconds || !b.seconds) return a.seconds.has_value() && !b.seconds.has_value();
    return a.seconds->value < b.seconds->value;
  });
  return outcome;
}

}  // namespace

std::vector<PointOutcome> outcomes(const SweepResults& results) {
  std::map<std::int64_t, std::vector<const SweepRun*>> runs;
  for (const SweepRun& run : results.runs) runs[run.trial.point].push_back(&run);
  for (const FailedTrial& failed : results.failed) runs[failed.trial.point].clear();
  std::vector<PointOutcome> all;
  for (std::size_t i = 0; i < results.points.size(); ++i) all.push_back(decide(i, runs[results.points[i].id]));
  return all;
}

}  // namespace dadsim::study
