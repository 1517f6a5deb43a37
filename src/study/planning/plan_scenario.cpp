#include "study/planning/plan_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>

#include "estimate/verdict.hpp"
#include "report/run/contender.hpp"
#include "report/run/work.hpp"
#include "report/words/statement.hpp"
#include "scenario/document/print.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "scenario/language/overrides.hpp"
#include "study/layout/by_flow.hpp"
#include "study/layout/search_layouts.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/planning/goal_search.hpp"
#include "study/remote/remote_learning.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/scale_setting.hpp"
#include "study/trials/outcome.hpp"
#include "support/build.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

/// Returns the uncertainty of a time as factors; none if it is unknown.
std::optional<estimate::Band> band_of(const estimate::Estimate& time) {
  if (!(time.value > 0) || (!time.low && !time.high)) return std::nullopt;
  return estimate::Band{time.low.value_or(0) / time.value,
                        time.high ? *time.high / time.value : std::numeric_limits<double>::infinity()};
}

/// Returns the trial of a workload by its time to accuracy at scale. The target counts as missed if that time is
/// unknown.
report::Trial trial_at_scale(const report::RunResult& run) {
  report::Trial trial;
  const std::optional<estimate::Estimate>& time = run.at_scale->time;
  trial.reached = time.has_value();
  if (!trial.reached) return trial;
  trial.seconds = time->value;
  trial.band = band_of(run.at_scale->time_band.value_or(*time));
  trial.contender = contender_of(run, report::Metric::time_at_scale);
  if (run.costs && run.costs->at_scale) trial.costs = *run.costs->at_scale;
  return trial;
}

/// Returns the trial of the learning network: the mean time over the seeds, and the costs to the target. The target
/// counts as missed if one seed misses it.
report::Trial trial_to_target(const report::RunResult& run) {
  report::Trial trial;
  trial.seeds_missed =
      static_cast<std::size_t>(std::ranges::count(run.arrivals, false, &std::optional<estimate::Arrival>::has_value));
  trial.reached = run.target_reached && trial.seeds_missed == 0;
  if (!trial.reached) return trial;
  if (run.arrivals.size() == 1) {
    trial.assumed_scatter = std::hypot(estimate::seed_scatter("alone"), run.exact ? 0 : run.seed_scatter);
  }
  const estimate::Estimate time =
      report::with_band(report::mean_arrival(run.arrivals, trial.assumed_scatter.value_or(0)), run.factors());
  trial.seconds = time.value;
  trial.band = band_of(time);
  trial.contender = contender_of(run, report::Metric::time_to_target);
  if (!run.costs || !run.costs->to_target) return trial;
  trial.costs = *run.costs->to_target;
  return trial;
}

/// Returns the trial of a fixed amount of work without learning; for event-driven runs this is the number of rounds.
report::Trial trial_of_work(const report::RunResult& run) {
  report::Trial trial;
  trial.reached = true;
  trial.seconds = std::numeric_limits<double>::quiet_NaN();
  trial.band = run.factors();
  trial.contender = contender_of(run, report::Metric::time_per_step);
  if (run.spec.event_driven) {
    trial.seconds = trial.contender.seconds = run.total_seconds;
    if (run.costs) trial.costs = run.costs->whole;
    return trial;
  }
  return run.at_scale && run.at_scale->time ? trial_at_scale(run) : trial;
}

/// Adds the quantities, other than time and costs, that a goal can limit.
void add_facts(const scenario::Scenario& scenario, const report::RunResult& run, const report::Result& result,
               report::Trial& trial) {
  trial.devices = static_cast<double>(scenario.all_devices().size());
  trial.memory = run.memory.total();
  if (run.costs && run.costs->per_step.joules && run.step_seconds > 0)
    trial.watts = *run.costs->per_step.joules / run.step_seconds;
  const report::Work work = report::work_of(report::FigureValues({run, result}));
  if (!(work.per_step() > 0)) return;
  trial.batch = work.samples;
  trial.tokens = work.counts_tokens();
  trial.throughput = work.per_step() / work.step_seconds;
  trial.scaling = run.throughput->scaling_efficiency;
  if (!run.step_band) return;
  // Both sides share the error of the computing time, so it cancels.
  std::vector<estimate::TimePart> alone = run.step_band->parts;
  std::erase_if(alone, [](const estimate::TimePart& part) { return !part.category.starts_with("compute."); });
  if (!alone.empty()) trial.scaling_band = estimate::ratio_band(alone, run.step_band->parts);
}

report::Trial trial_of(const report::RunResult& run, const report::Result& result) {
  if (result.stand_in) return trial_of_work(run);
  // Several seeds of the timed network also give relative steps, but no time at scale.
  const bool of_workload = run.at_scale && result.scale && !result.scale->workload.empty();
  report::Trial trial = of_workload ? trial_at_scale(run) : trial_to_target(run);
  trial.seeds = std::max<std::size_t>(1, run.arrivals.size());
  trial.accuracy = run.best_accuracies.empty() ? run.best_accuracy : *std::ranges::min_element(run.best_accuracies);
  return trial;
}

/// Returns the trial of a one-run scenario if learning alone decides it: some seed never reaches the target, so no
/// timing is needed. Returns none if every seed reaches it, or if the order of events matters.
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
  Planner(const scenario::ScenarioSource& source, std::vector<std::string> overrides, TaskQueue* queue)
      : source_(source),
        queue_(queue),
        overrides_(std::move(overrides)),
        catalog_(study::remembering(study::make_catalog())) {
    base_ = load_base(source_, overrides_, catalog_);
    if (base_.goal && base_.goal->layouts) forget_layout();
    if (!base_.goal) {
      throw InputError({base_.file, 0, "<scenario> lacks <goal>",
                        "add a goal, e.g. <goal within=\"1h\"> with <allow path=\"…\" from=\"…\" to=\"…\"/>"});
    }
    if (base_.goal->accuracy) overrides_.push_back(fmt::format("training.target-accuracy={}", *base_.goal->accuracy));
    check_choices();
    check_work();
  }

  report::PlanReport plan(bool show_progress) {
    report::PlanReport report;
    report.goal = *base_.goal;
    report.build = build();
    report.description = base_.description;
    report.timing_only = base_.stand_in;
    report.rate_as_tcp = rate_as_tcp(base_);
    // A federation needs its rounds, whatever the timed network's training needs.
    const bool takes_steps =
        std::ranges::any_of(base_.runs, [](const spec::RunSpec& run) { return !run.event_driven; });
    if (const auto scale = scale_setting(base_); scale && (takes_steps || !base_.stand_in)) {
      report.of = scale->workload;
      report.known = scale->known;
    }
    if (queue_ != nullptr) learn_choices();
    Progress progress("planning", 1, show_progress);
    report.answers = search_goal(
        *base_.goal, labels(),
        [&](const std::vector<std::string>& changes, const std::string& label) {
          return evaluate(changes, label, report);
        },
        [&](std::size_t done, std::size_t all) {
          progress.update(0, static_cast<std::int64_t>(done), static_cast<std::int64_t>(all));
        });
    report.learned_runs = store_.runs().size();
    if (const auto& assumptions = report.answers.front().trial.assumptions; !assumptions.empty())
      report.assumptions = assumptions;
    if (std::optional<report::Statement> batches = report::assumption_of_batches(report))
      report.assumptions.push_back(*std::move(batches));
    return report;
  }

 private:
  /// Returns the labels of the runs in question: the run that the goal names, or all that communicate.
  std::vector<std::string> labels() const {
    std::vector<std::string> labels;
    for (const spec::RunSpec& run : base_.runs) {
      if (base_.goal->run.empty() ? run.communicates : run.label == base_.goal->run) labels.push_back(run.label);
    }
    if (labels.empty()) {
      throw InputError({base_.file, 0, "a plan needs a run that communicates",
                        "add a run that shares gradients, or name a run in <goal run=\"…\">"});
    }
    return labels;
  }

  void check_choices() const {
    if (count_choices(*base_.goal) > kMostChoices) {
      throw InputError({base_.file, 0, "the changes that <goal> allows make more than 10,000 choices",
                        "allow fewer values (the first range does not count)"});
    }
  }

  /// Removes the layout if the goal leaves it open. Each choice then has its own layout, at the same global batch.
  void forget_layout() {
    global_batch_ = base_.goal->layouts->global_batch.value_or(base_.timed_as->batch *
                                                               static_cast<std::int64_t>(base_.workers.size()));
    std::erase_if(overrides_, scenario::sets_layout);
    const std::vector<std::string> removed = source_.without_layout();
    overrides_.insert(overrides_.begin(), removed.begin(), removed.end());
  }

  /// Adds the fastest layout of a choice to its settings. Throws an infeasible InputError if no layout fits.
  report::Layout add_layout(const std::string& label, std::vector<std::string>& all) const {
    constexpr std::size_t kSimulated = 20;  // layouts simulated per choice
    LayoutOptions options;
    options.global_batch = global_batch_;
    options.simulated = kSimulated;
    options.run = label;
    options.simulates_written = false;
    options.most_bytes = base_.goal->memory.value_or(0);
    std::vector<std::string> undivided = all;
    undivided.emplace_back("timed-as.batch=1");  // required, but replaced by the layout's batch
    const report::LayoutReport found = search_layouts(source_, undivided, options, false);
    if (found.trials.empty()) {
      throw InputError(
          {base_.file, 0, "no layout fits the memory of the devices with a margin of 10 %", "", false, true});
    }
    report::Layout layout = found.trials.front().layout;
    all.insert(all.end(), layout.set.begin(), layout.set.end());
    return layout;
  }

  /// Checks that a limit on time, or on time-dependent costs, refers to a known amount of work.
  void check_work() const {
    const spec::GoalSpec& goal = *base_.goal;
    const bool limited = goal.seconds || goal.money || goal.joules || goal.carbon;
    const auto takes_steps = [](const spec::RunSpec& run) { return !run.event_driven; };
    if (!base_.stand_in || !limited || std::ranges::none_of(base_.runs, takes_steps)) return;
    const std::optional<report::ScaleSetting> scale = scale_setting(base_);
    // Published steps may exist for other batches only.
    if (!scale || scale->known || scale->why_not->kind == "batch-beyond-published") return;
    throw InputError(
        {base_.file, 0,
         fmt::format("<goal> needs the training steps of {}, which are not known: {}", scale->workload,
                     report::in_words(*scale->why_not)),
         "set tokens=\"2T\", samples, epochs or steps of <timed-as>, or limit throughput or scaling in <goal>"});
  }

  /// Lets other processes learn all choices, each with the first number of the range. Equal learning is requested once.
  void learn_choices() {
    std::vector<LearningTask> asked;
    std::set<std::uint64_t> known;
    const std::vector<std::string> in_question = labels();
    for (const std::vector<report::Change>& choice : choices_of(*base_.goal)) {
      std::vector<std::string> all = overrides_;
      for (const spec::AllowedChange& change : base_.goal->allowed) {
        if (change.varied.values.empty())
          all.push_back(
              fmt::format("{}={}", change.varied.path, change.varied.with(numbers_of(change.varied).front())));
      }
      for (const report::Change& one : choice) all.push_back(one.assignment());
      const auto loaded = outcome_of([&] { return source_.load_point(all, catalog_); });
      if (!loaded.result) continue;  // the error is reported when the choice is tried
      const scenario::Scenario& scenario = *loaded.result;
      if (scenario.timing_only) return;
      for (std::size_t i = 0; i < base_.runs.size(); ++i) {
        const bool asked_for = std::ranges::find(in_question, base_.runs[i].label) != in_question.end();
        if (!asked_for || learns_on_cluster(scenario, scenario.runs.at(i))) continue;
        if (known.insert(learning_hash_of(scenario, scenario.runs[i], scenario.training, scenario.seed)).second)
          asked.push_back({all, scenario.hash, static_cast<std::int64_t>(i)});
      }
    }
    store_.offer(learn_elsewhere(*queue_, asked));
  }

  /// Returns the trial of one choice. An infeasible choice has a trial too.
  report::Trial evaluate(const std::vector<std::string>& changes, const std::string& label,
                         report::PlanReport& report) {
    std::vector<std::string> asked = changes;
    asked.push_back(label);
    const Outcome<report::Trial>& outcome =
        trials_.outcome_of(asked, [&] { return evaluate_feasible(changes, label, report); });
    if (outcome.result) return *outcome.result;
    report::Trial trial;
    trial.timed = false;
    trial.infeasible = outcome.fault.what;
    return trial;
  }

  /// Loads a choice. Reports a refused value at the line of its <allow>.
  scenario::Scenario load(const std::vector<std::string>& all) const {
    try {
      return source_.load_point(all, catalog_);
    } catch (const InputError& error) {
      if (error.is_infeasible()) throw;
      constexpr std::string_view kSet = "--set ";
      std::vector<Diagnostic> refused = error.diagnostics();
      for (Diagnostic& one : refused) {
        const auto change = std::ranges::find_if(base_.goal->allowed, [&](const spec::AllowedChange& allowed) {
          return one.file.starts_with(fmt::format("{}{}=", kSet, allowed.varied.path));
        });
        if (change == base_.goal->allowed.end()) continue;
        one = {base_.file, change->varied.line, fmt::format("{}: {}", one.file.substr(kSet.size()), one.what),
               scenario::remedy_of_value(change->varied, one)};
      }
      throw InputError(std::move(refused));
    }
  }

  report::Trial evaluate_feasible(const std::vector<std::string>& changes, const std::string& label,
                                  report::PlanReport& report) {
    std::vector<std::string> all = overrides_;
    all.insert(all.end(), changes.begin(), changes.end());
    std::optional<report::Layout> layout;
    if (base_.goal->layouts) layout = add_layout(label, all);
    scenario::Scenario scenario = load(all);
    if (layout) take_flow(scenario);
    // Default labels may change with the settings; the order of runs does not.
    const auto index = std::ranges::find(base_.runs, label, &spec::RunSpec::label) - base_.runs.begin();
    scenario.runs = {scenario.runs.at(static_cast<std::size_t>(index))};
    if (queue_ != nullptr) store_.shared_cache()->set_remote(std::make_shared<RemoteLearning>(*queue_, scenario, all));
    const Learned learned = learn_scenario(scenario, &store_, false);
    if (report.version.empty()) tell_of(untimed_result(scenario, learned), report);
    if (std::optional<report::Trial> never = never_reached(scenario, learned)) return *never;
    sim::Cluster cluster = layout ? cluster_by_flow(scenario) : study::cluster_of(scenario);
    cluster.causes = false;
    const report::Result result = study::time_scenario(scenario, learned, cluster, false);
    ++report.timing_runs;
    if (!result.currency.empty()) report.currency = result.currency;
    report::Trial trial = trial_of(result.runs.front(), result);
    add_facts(scenario, result.runs.front(), result, trial);
    trial.layout = layout;
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

  scenario::ScenarioSource source_;
  TaskQueue* queue_;  ///< null: this process learns
  std::vector<std::string> overrides_;
  scenario::Catalog catalog_;
  scenario::Scenario base_;
  std::int64_t global_batch_ = 0;  ///< global batch for layout searches
  LearningStore store_;
  Trials<report::Trial> trials_;
};

}  // namespace

report::PlanReport plan_scenario(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                 bool show_progress, const std::function<void()>& on_read, TaskQueue* queue) {
  Planner planner(source, overrides, queue);
  if (on_read) on_read();
  return planner.plan(show_progress);
}

}  // namespace dadsim::study
