#include "study/sweep/winners.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "report/run/contender.hpp"
#include "report/run/uncertainty.hpp"
#include "report/run/work.hpp"

namespace dadsim::study {
namespace {

using estimate::Contender;
using estimate::Standing;
using report::Metric;

/// Returns mean and 95 % interval. Computed as a ratio to ones, for which Fieller's interval equals Student's.
estimate::Estimate mean_of(const std::vector<double>& values) {
  return estimate::ratio_of_means(values, std::vector<double>(values.size(), 1.0));
}

std::optional<double> known(double value) { return std::isfinite(value) ? std::optional(value) : std::nullopt; }

/// One run of a point, over its seeds.
struct RunOverSeeds {
  std::string label;
  bool competes = true;
  Contender contender = {};
  std::vector<double> step_seconds = {};
  double best_accuracy = 0;
  bool counted = false;                             ///< its relative steps are known
  std::optional<estimate::Estimate> at_scale = {};  ///< time at scale, from the run itself
};

void add_seed(const SweepRun& run, Metric metric, RunOverSeeds& over) {
  Contender& contender = over.contender;
  if (std::isfinite(run.figures["best_accuracy"]))
    over.best_accuracy = std::max(over.best_accuracy, run.figures["best_accuracy"]);
  over.step_seconds.push_back(run.figures["step_seconds"]);
  over.counted = over.counted || std::isfinite(run.figures["relative_steps"]);
  contender.step_seconds = mean_of(over.step_seconds).value;
  contender.exact = run.figures.is("exact");
  const report::Uncertainty uncertainty = report::uncertainty_of(run.uncertainty);
  contender.scatter = uncertainty.seed_scatter;
  if (contender.parts.empty()) contender.parts = uncertainty.parts;
  if (metric == Metric::time_to_target) {
    if (!uncertainty.arrivals.empty()) {
      contender.arrivals.insert(contender.arrivals.end(), uncertainty.arrivals.begin(), uncertainty.arrivals.end());
      return;
    }
    const bool reached = std::isfinite(run.figures["target_seconds"]);
    contender.arrivals.push_back(
        reached ? std::optional(estimate::Arrival{run.figures["target_after_seconds"], run.figures["target_seconds"]})
                : std::nullopt);
    return;
  }
  contender.by_seed.push_back(report::is_of_work(metric)        ? price_of_work(report::work_of(run.figures), metric)
                              : metric == Metric::time_at_scale ? run.figures["scale_seconds"]
                                                                : run.figures["step_seconds"]);
  if (metric == Metric::time_at_scale)
    over.at_scale = {run.figures["scale_seconds"], known(run.figures["scale_low"]), known(run.figures["scale_high"])};
  if (metric == Metric::time_at_scale && std::isfinite(run.figures["relative_steps"]))
    contender.relative = {run.figures["relative_steps"], known(run.figures["relative_steps_low"]),
                          known(run.figures["relative_steps_high"])};
}

/// Returns the mean time over seeds; none if a seed has no time.
std::optional<estimate::Estimate> seconds_of(RunOverSeeds& over, Metric metric) {
  Contender& contender = over.contender;
  std::vector<double> values = contender.by_seed;
  for (const auto& arrival : contender.arrivals) values.push_back(arrival ? arrival->at : std::nan(""));
  if (values.empty() || !std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
    return std::nullopt;
  contender.seconds = mean_of(values).value;
  if (metric == Metric::time_at_scale) {
    if (values.size() == 1) return over.at_scale;
    contender.relative.reset();  // the scatter between seeds is already in the times
  }
  return report::time_of(contender, metric);
}

/// Returns whether only event-driven runs communicate and nothing was learned, so that only rounds can be compared.
bool are_rounds(const std::vector<const SweepRun*>& runs) {
  return std::ranges::any_of(runs, &SweepRun::event_driven) && std::ranges::all_of(runs, [](const SweepRun* run) {
           return !std::isfinite(run->figures["best_accuracy"]) &&
                  (run->event_driven() || !run->figures.is("communicates"));
         });
}

Metric metric_of_point(const std::vector<const SweepRun*>& runs) {
  const auto is_known = [](const SweepRun* run) {
    return run->figures.is("communicates") && std::isfinite(run->figures["scale_seconds"]);
  };
  const auto is_of_other_network = [](const SweepRun* run) { return !run->figures.text("workload").empty(); };
  const auto has_learned = [](const SweepRun* run) {
    return std::isfinite(run->figures["final_accuracy"]) || std::isfinite(run->figures["target_seconds"]);
  };
  if (are_rounds(runs)) return Metric::time_per_round;
  return report::natural_metric(std::ranges::any_of(runs, is_of_other_network), std::ranges::any_of(runs, is_known),
                                std::ranges::any_of(runs, has_learned));
}

/// Returns the metric of work that decides all points; none if runs' times decide each point.
std::optional<Metric> work_metric(const SweepResults& results,
                                  const std::vector<std::vector<const SweepRun*>>& points) {
  const auto asked = std::ranges::find(results.settings, "metric", &std::pair<std::string, std::string>::first);
  spec::AskedMetric by = spec::AskedMetric::automatic;
  if (asked != results.settings.end()) by = spec::parse<spec::AskedMetric>(asked->second).value_or(by);
  std::map<std::string, std::vector<report::Work>> works;  // by label, to compare a run at different points
  std::optional<Metric> common;
  for (const std::vector<const SweepRun*>& runs : points) {
    if (runs.empty()) continue;
    if (!common) common = metric_of_point(runs);
    for (const SweepRun* run : runs) {
      if (!run->event_driven()) works[run->label()].push_back(report::work_of(run->figures));
    }
  }
  if (!common) return std::nullopt;
  for (const auto& [label, of_label] : works) {
    const Metric metric = report::common_metric(*common, by, of_label);
    if (report::is_of_work(metric)) return metric;
  }
  return std::nullopt;
}

PointOutcome decide_point(std::size_t point, const std::vector<const SweepRun*>& runs, std::optional<Metric> by_work) {
  PointOutcome outcome{.point = point, .ranked = {}, .metric = metric_of_point(runs)};
  if (by_work) outcome.metric = *by_work;
  const bool some_communicate =
      std::ranges::any_of(runs, [](const SweepRun* run) { return run->figures.is("communicates"); });
  std::vector<RunOverSeeds> all;  // in the order of the scenario
  for (const SweepRun* run : runs) {
    // An event-driven run has no time for a workload.
    const bool by_steps = outcome.metric != Metric::time_to_target && outcome.metric != Metric::time_per_round;
    if (by_steps && run->event_driven()) continue;
    auto own = std::ranges::find(all, run->label(), &RunOverSeeds::label);
    if (own == all.end()) {
      all.push_back({.label = run->label(), .competes = !some_communicate || run->figures.is("communicates")});
      own = std::prev(all.end());
    }
    add_seed(*run, outcome.metric, *own);
  }
  if (outcome.metric == Metric::time_to_target) {
    std::vector<Contender> contenders;
    for (const RunOverSeeds& one : all) contenders.push_back(one.contender);
    estimate::align_exact(contenders);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].contender = contenders[i];
  }
  std::erase_if(all, [](const RunOverSeeds& one) { return !one.competes; });
  // Without known numbers of steps, a quicker step does not win.
  const auto is_counted = [](const RunOverSeeds& one) { return one.counted; };
  if ((outcome.metric == Metric::time_per_step || report::is_of_work(outcome.metric)) &&
      std::ranges::any_of(all, is_counted))
    std::erase_if(all, [&](const RunOverSeeds& one) { return !is_counted(one); });
  for (RunOverSeeds& one : all) {
    std::optional<estimate::Estimate> seconds = seconds_of(one, outcome.metric);
    outcome.ranked.push_back({.label = one.label,
                              .seconds = std::move(seconds),
                              .best_accuracy = one.best_accuracy,
                              .contender = std::move(one.contender)});
  }
  std::ranges::stable_sort(outcome.ranked, [](const TimeToTarget& a, const TimeToTarget& b) {
    if (!a.seconds || !b.seconds) return a.seconds.has_value() && !b.seconds.has_value();
    return a.seconds->value < b.seconds->value;
  });
  for (std::size_t i = 1; i < outcome.ranked.size() && outcome.ranked[i].seconds; ++i)
    outcome.ranked[i].verdict = decide(outcome.ranked.front().contender, outcome.ranked[i].contender);
  return outcome;
}

}  // namespace

bool PointOutcome::is_open() const {
  return reached() && ranked.size() > 1 && ranked[1].seconds && is_beside(ranked[1].verdict.standing);
}

std::vector<const TimeToTarget*> PointOutcome::beside_first() const {
  std::vector<const TimeToTarget*> beside;
  for (std::size_t i = 1; i < ranked.size() && ranked[i].seconds && is_beside(ranked[i].verdict.standing); ++i)
    beside.push_back(&ranked[i]);
  return beside;
}

std::vector<PointOutcome> outcomes(const SweepResults& results) {
  std::map<std::int64_t, std::vector<const SweepRun*>> runs;
  for (const SweepRun& run : results.runs) runs[run.trial.point].push_back(&run);
  for (const FailedTrial& failed : results.failed) runs[failed.trial.point].clear();
  std::vector<std::vector<const SweepRun*>> by_point;
  for (const SweepResults::Point& point : results.points) by_point.push_back(std::move(runs[point.id]));
  const std::optional<Metric> by_work = work_metric(results, by_point);
  std::vector<PointOutcome> all;
  for (std::size_t i = 0; i < results.points.size(); ++i) all.push_back(decide_point(i, by_point[i], by_work));
  return all;
}

std::optional<BestPoint> best_point(const std::vector<PointOutcome>& all) {
  std::vector<const PointOutcome*> reached;
  for (const PointOutcome& outcome : all) {
    if (outcome.reached() && outcome.metric == metric_of(all)) reached.push_back(&outcome);
  }
  if (reached.empty()) return std::nullopt;
  std::ranges::stable_sort(reached, {}, [](const PointOutcome* one) { return one->ranked.front().seconds->value; });
  BestPoint best{.point = reached.front()->point, .next = {}, .factor = {}};
  for (std::size_t i = 1; i < reached.size(); ++i) {
    const estimate::Verdict verdict =
        decide(reached.front()->ranked.front().contender, reached[i]->ranked.front().contender);
    if (is_beside(verdict.standing)) {
      best.beside.push_back(reached[i]->point);
    } else if (!best.next) {
      best.next = reached[i]->point;
      best.factor = verdict.ratio;
    }
  }
  return best;
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
