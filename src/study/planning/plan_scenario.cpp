#include "study/planning/plan_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "estimate/comparison.hpp"
#include "scenario/document/print.hpp"
#include "study/learning/memory_store.hpp"
#include "study/planning/goal_search.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/outages_of.hpp"
#include "study/sweep/remembering_catalog.hpp"
#include "support/build.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

/// Of the workload: its own time to accuracy, where it is known; it is not for a run that misses the target. The
/// interval is that of its relative steps.
report::Trial trial_at_scale(const report::RunResult& run) {
  report::Trial trial;
  const std::optional<estimate::Estimate>& time = run.at_scale->time;
  trial.reached = time.has_value();
  if (!trial.reached) return trial;
  trial.seconds = time->value;
  if (time->value > 0 && (time->low || time->high)) {
    trial.scatter = {time->low.value_or(0) / time->value,
                     time->high ? *time->high / time->value : std::numeric_limits<double>::infinity()};
  }
  if (run.costs && run.costs->at_scale) trial.costs = *run.costs->at_scale;
  return trial;
}

/// Of the network that learned: the mean over the seeds. One of which the first takes so much costs as much more as it
/// takes longer.
report::Trial trial_to_target(const report::RunResult& run) {
  report::Trial trial;
  std::vector<estimate::Arrival> arrivals;
  for (const std::optional<estimate::Arrival>& one : run.arrivals) {
    if (one) arrivals.push_back(*one);
  }
  trial.seeds_missed = run.arrivals.size() - arrivals.size();
  trial.reached = run.target_reached && trial.seeds_missed == 0;
  if (!trial.reached) return trial;
  const estimate::Estimate time =
      times_as_long(arrivals, std::vector<estimate::Arrival>(arrivals.size(), {1, 1}), false);
  trial.seconds = time.value;
  if (time.value > 0) {
    trial.scatter = {time.low.value_or(0) / time.value,
                     time.high ? *time.high / time.value : std::numeric_limits<double>::infinity()};
  }
  if (!run.costs || !run.costs->to_target) return trial;
  trial.costs = *run.costs->to_target;
  const double longer = run.target_seconds > 0 ? time.value / run.target_seconds : 1;
  for (std::optional<double>* part : {&trial.costs.money, &trial.costs.joules, &trial.costs.carbon}) {
    if (*part) **part *= longer;
  }
  return trial;
}

report::Trial trial_of(const report::RunResult& run, const report::Result& result) {
  // With several seeds of the network that is timed there are relative steps as well, but no time at scale.
  const bool of_workload = run.at_scale && result.scale && !result.scale->workload.empty();
  report::Trial trial = of_workload ? trial_at_scale(run) : trial_to_target(run);
  trial.seeds = std::max<std::size_t>(1, run.arrivals.size());
  trial.accuracy = run.best_accuracies.empty() ? run.best_accuracy : *std::ranges::min_element(run.best_accuracies);
  return trial;
}

/// What learning alone tells, for a scenario of one run: some seed never reaches the target, so that there is nothing
/// to time. Nothing where it does, or where the order of events decides.
std::optional<report::Trial> never_reached(const scenario::Scenario& scenario, const Learned& learned) {
  if (learned.nothing || learns_on_cluster(scenario, scenario.runs.front())) return std::nullopt;
  std::vector<LearnedRunPtr> seeds{learned.runs.front()};
  for (const std::vector<LearnedRunPtr>& seed : learned.other_seeds) seeds.push_back(seed.front());
  report::Trial trial;
  trial.seeds = seeds.size();
  trial.accuracy = 1;
  trial.timed = false;
  for (const LearnedRunPtr& seed : seeds) {
    const std::vector<step::Evaluation>& curve = seed->trajectory.curve;
    double best = 0;
    for (const step::Evaluation& at : curve) best = std::max(best, at.accuracy);
    trial.accuracy = std::min(trial.accuracy, best);
    if (!estimate::passage_of(curve, scenario.training.target_accuracy)) ++trial.seeds_missed;
  }
  return trial.seeds_missed > 0 ? std::optional(trial) : std::nullopt;
}

class Planner {
 public:
  Planner(const scenario::ScenarioSource& source, std::vector<std::string> overrides)
      : source_(source), overrides_(std::move(overrides)), catalog_(study::remembering(study::make_catalog())) {
    base_ = source_.load(overrides_, catalog_);
    if (!base_.goal) {
      throw InputError(
          {base_.file, 0, "<scenario> lacks <goal>",
           "what is to be reached, e.g. <goal within=\"1h\"> with <allow path=\"…\" from=\"…\" to=\"…\"/>"});
    }
    if (base_.goal->accuracy) overrides_.push_back(fmt::format("training.target-accuracy={}", *base_.goal->accuracy));
    check_choices();
  }

  report::PlanReport plan(bool show_progress) {
    report::PlanReport report;
    report.goal = *base_.goal;
    report.build = build();
    report.description = base_.description;
    Progress progress("planning", 1, show_progress);
    report.answers = search_goal(
        *base_.goal, labels(),
        [&](const std::vector<std::string>& changes, const std::string& label) {
          return evaluate(changes, label, report);
        },
        [&](std::size_t done, std::size_t all) {
          progress.update(0, static_cast<std::int64_t>(done), static_cast<std::int64_t>(all));
        });
    report.learned_runs = store_.size();
    if (const auto& assumptions = report.answers.front().trial.assumptions; !assumptions.empty())
      report.assumptions = assumptions;
    return report;
  }

 private:
  /// The labels of the runs in question: the one the goal names, or all that communicate.
  std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    for (const spec::RunSpec& run : base_.runs) {
      if (base_.goal->run.empty() ? run.communicates : run.label == base_.goal->run) labels.push_back(run.label);
    }
    if (labels.empty()) {
      throw InputError({base_.file, 0, "no run of the scenario shares anything",
                        "a run of another algorithm, or <goal run=\"…\"> with the label of one"});
    }
    return labels;
  }

  void check_choices() const {
    if (count_choices(*base_.goal) > kMostChoices) {
      throw InputError({base_.file, 0, "the changes that <goal> allows make more than 10,000 choices",
                        "fewer values; the first range is not among them"});
    }
  }

  report::Trial evaluate(const std::vector<std::string>& changes, const std::string& label,
                         report::PlanReport& report) {
    if (interrupted().load()) throw Cancelled();
    std::vector<std::string> all = overrides_;
    all.insert(all.end(), changes.begin(), changes.end());
    scenario::Scenario scenario = source_.load_point(all, catalog_);
    // Labels that nobody gave may change with what is changed; the order of runs does not.
    const auto index = std::ranges::find(base_.runs, label, &spec::RunSpec::label) - base_.runs.begin();
    scenario.runs = {scenario.runs.at(static_cast<std::size_t>(index))};
    const Learned learned = learn_scenario(scenario, &store_, false);
    if (report.version.empty()) tell_of(untimed_result(scenario, learned), report);
    if (std::optional<report::Trial> never = never_reached(scenario, learned)) return *never;
    const report::Result result = study::time_scenario(scenario, learned, study::cluster_of(scenario), false);
    ++report.timing_runs;
    if (!result.currency.empty()) report.currency = result.currency;
    report::Trial trial = trial_of(result.runs.front(), result);
    trial.lines_per_month = result.lines_per_month;
    trial.assumptions = result.assumptions;
    return trial;
  }

  static void tell_of(const report::Result& result, report::PlanReport& report) {
    report.version = result.version;
    report.simgrid = result.simgrid;
    report.network_model = result.network_model;
    report.scenario_name = result.scenario_name;
    report.learned_on = result.learned_on;
    report.timed_as = result.timed_as;
    report.assumptions = result.assumptions;
    report.target_accuracy = result.target_accuracy;
  }

  const scenario::ScenarioSource& source_;
  std::vector<std::string> overrides_;
  scenario::Catalog catalog_;
  scenario::Scenario base_;
  MemoryLearningStore store_;
};

}  // namespace

report::PlanReport plan_scenario(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                 bool show_progress, const std::function<void()>& on_read) {
  Planner planner(source, overrides);
  if (on_read) on_read();
  return planner.plan(show_progress);
}

}  // namespace dadsim::study
