#include "study/planning/plan_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "scenario/print.hpp"
#include "study/catalog.hpp"
#include "study/experiment.hpp"
#include "study/memory_store.hpp"
#include "study/planning/goal_search.hpp"
#include "study/sweep/remembering_catalog.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

report::Trial trial_of(const report::RunResult& run) {
  report::Trial trial;
  trial.accuracy = run.best_accuracy;
  if (run.at_scale) {
    // The workload's own time to accuracy, where it is known; it is not known for a run that misses the target.
    trial.reached = run.at_scale->time.has_value();
    if (trial.reached) trial.seconds = run.at_scale->time->value;
    if (run.costs && run.costs->at_scale) trial.costs = *run.costs->at_scale;
  } else {
    trial.reached = run.target_reached;
    trial.seconds = run.target_seconds;
    if (run.costs && run.costs->to_target) trial.costs = *run.costs->to_target;
  }
  return trial;
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
    const report::Result result = study::time_scenario(scenario, learned, study::cluster_of(scenario), false);
    ++report.timing_runs;
    if (report.version.empty()) {
      report.version = result.version;
      report.simgrid = result.simgrid;
      report.network_model = result.network_model;
      report.scenario_name = result.scenario_name;
      report.learned_on = result.learned_on;
      report.timed_as = result.timed_as;
      report.assumptions = result.assumptions;
      report.target_accuracy = result.target_accuracy;
      report.currency = result.currency;
    }
    return trial_of(result.runs.front());
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
