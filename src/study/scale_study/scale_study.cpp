#include "study/scale_study/scale_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "estimate/critical_batch.hpp"
#include "scenario/xml/findings.hpp"
#include "spec/model_shape.hpp"
#include "study/event_driven/event_driven_run.hpp"
#include "study/remote/remote_learning.hpp"
#include "study/results/transfer.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/network_size.hpp"
#include "study/setting/scale_setting.hpp"
#include "study/sweep/sweep_points.hpp"
#include "study/trials/outcome.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"
#include "support/version.hpp"

namespace dadsim::study {
namespace {

using report::ScaleStudyReport;
using report::StudiedRatio;
using report::StudiedRun;
using report::StudiedRung;

double mean_between(const estimate::StepsToTarget& steps) {
  double sum = 0;
  for (const auto& one : steps) {
    if (!one) return std::numeric_limits<double>::quiet_NaN();
    sum += one->between / static_cast<double>(steps.size());
  }
  return sum;
}

/// Fills in critical batches from gradient sharing's steps. Each size of network needs two batches that reach the
/// target.
void add_critical_batches(ScaleStudyReport& report) {
  std::map<double, std::vector<estimate::StepsAtBatch>> by_size;
  for (const StudiedRung& rung : report.rungs) {
    const double steps = mean_between(rung.gradient_sharing);
    if (steps > 0) by_size[rung.size.parameters].push_back({static_cast<double>(rung.size.batch), steps});
  }
  for (StudiedRung& rung : report.rungs) {
    if (const auto law = fit_batch_law(by_size[rung.size.parameters])) rung.size.critical_batch = law->critical;
  }
}

/// Holds out the rungs with the `count` largest sizes of the first kind.
void hold_out_largest(std::int64_t count, ScaleStudyReport& report) {
  std::set<double, std::greater<>> sizes;
  for (const StudiedRung& rung : report.rungs) {
    const double size = rung.size.of(report.against.front());
    if (std::isfinite(size)) sizes.insert(size);
  }
  auto end = sizes.begin();
  for (std::int64_t i = 0; i < count && end != sizes.end(); ++i) ++end;
  for (StudiedRung& rung : report.rungs)
    rung.held_out = std::find(sizes.begin(), end, rung.size.of(report.against.front())) != end;
}

/// Returns the rungs at which a run has relative steps and a size. `with_held_out`: includes held-out rungs.
std::vector<estimate::Rung> usable_rungs(const ScaleStudyReport& report, const StudiedRun& run, bool with_held_out) {
  std::vector<estimate::Rung> rungs;
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    const StudiedRatio& at = run.rungs[i];
    std::vector<double> size = decades_of(report.rungs[i].size, report.against);
    if (!at.ratio || !(at.ratio->value > 0) || !are_known(size) || (report.rungs[i].held_out && !with_held_out))
      continue;
    rungs.push_back({std::move(size), at.ratio->value, at.seed_variance});
  }
  return rungs;
}

/// Returns the fit; none if there are too few rungs, or if they hardly differ.
std::optional<estimate::Ladder> ladder_of(std::vector<estimate::Rung> rungs) {
  if (rungs.size() < 3 || rungs.size() < rungs.front().size.size() + 2) return std::nullopt;
  try {
    return estimate::Ladder(std::move(rungs));
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

void predict_held_out(const ScaleStudyReport& report, StudiedRun& run) {
  if (std::ranges::none_of(report.rungs, &StudiedRung::held_out)) return;
  const std::optional<estimate::Ladder> ladder = ladder_of(usable_rungs(report, run, false));
  if (!ladder) return;
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    StudiedRatio& at = run.rungs[i];
    const std::vector<double> size = decades_of(report.rungs[i].size, report.against);
    if (!report.rungs[i].held_out || !are_known(size) || (!at.ratio && !at.more_than)) continue;
    at.predicted = ladder->at(size, report.level);
    if (at.ratio) {
      at.held = at.predicted->low <= at.ratio->value && at.ratio->value <= at.predicted->high;
    } else if (*at.more_than > at.predicted->high) {
      at.held = false;
    }
  }
}

/// Returns a statement if the run misses the target on a larger network than all those on which it reaches the target.
std::optional<Statement> never_reached(const ScaleStudyReport& report, const StudiedRun& run) {
  double missed = 0;
  double reached = 0;
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    const double size = report.rungs[i].size.parameters;
    if (run.rungs[i].more_than) missed = std::max(missed, size);
    if (run.rungs[i].ratio) reached = std::max(reached, size);
  }
  if (!(missed > reached)) return {};
  return Statement{"sizes-miss-target"}.with("parameters", missed);
}

void expect_of_workload(const ScaleStudyReport& report, StudiedRun& run) {
  if (report.workload.empty()) return;
  if (run.as_many_by_definition) {
    run.workload = estimate::LadderPrediction{};
    return;
  }
  if (!run.fit) {
    run.why_no_workload = run.why_no_fit;
    return;
  }
  if (run.why_no_workload = never_reached(report, run); run.why_no_workload) return;
  const std::vector<double> size = decades_of(report.workload_size, report.against);
  if (!are_known(size)) {
    run.why_no_workload = Statement{"size-unknown"};
    return;
  }
  run.workload = run.fit->at(size, report.level);
}

/// Returns evaluations by number of training steps of every worker, also for runs that count rounds. The number follows
/// from the samples used until each evaluation.
std::vector<step::Evaluation> curve_by_steps(const report::EventDrivenRun& run) {
  std::vector<step::Evaluation> curve;
  for (const report::CurvePoint& point : run.curve) {
    step::Evaluation at;
    at.step = std::llround(point.epochs.value_or(0) * static_cast<double>(run.steps_per_epoch));
    at.loss = point.loss;
    at.accuracy = point.accuracy;
    curve.push_back(at);
  }
  return curve;
}

/// Learning curves of one run of a rung by seed, and whether its compression lost information.
struct Curves {
  std::vector<std::vector<step::Evaluation>> by_seed;
  std::optional<bool> is_lossy;
};

class Study {
 public:
  Study(const scenario::ScenarioSource& source, std::vector<std::string> overrides, TaskQueue* queue)
      : source_(source),
        queue_(queue),
        overrides_(std::move(overrides)),
        catalog_(study::remembering(study::make_catalog())) {
    base_ = source_.load(overrides_, catalog_);
    if (!base_.scale_study) {
      throw InputError({base_.file, 0, "<scenario> lacks <scale-study>",
                        "add a family, e.g. <scale-study><vary path=\"model.dense[1].units\" values=\"16 32 64 "
                        "128\"/></scale-study>"});
    }
    points_ = all_points(base_.scale_study->rungs);
    read_rungs();
    ScaleStudyReport sizes;
    sizes.against = base_.scale_study->against;
    for (const scenario::Scenario& rung : scenarios_) {
      const spec::SampleShape sample = catalog_.inspect_data(rung.data.source).facts.shape;
      sizes.rungs.emplace_back().size =
          size_of(spec::model_shape(rung.model, sample),
                  static_cast<double>(rung.training.batch) * static_cast<double>(rung.workers.size()));
    }
    check_sizes(base_, std::move(sizes));
  }

  ScaleStudyReport learn(bool show_progress) {
    ScaleStudyReport report = preamble();
    if (queue_ != nullptr) {
      std::vector<LearningTask> rungs;
      for (std::size_t i = 0; i < scenarios_.size(); ++i) rungs.push_back({overrides_of(i), scenarios_[i].hash});
      store_.offer(learn_elsewhere(*queue_, rungs));
    }
    Progress progress("learning rungs", 1, show_progress);
    for (std::size_t i = 0; i < scenarios_.size(); ++i) {
      if (interrupted().load()) throw Cancelled();
      learn_rung(i, report);
      progress.update(0, static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(scenarios_.size()));
    }
    fit_study(base_, report);
    return report;
  }

 private:
  std::vector<std::string> changes_of(std::size_t point) const {
    std::vector<std::string> changes;
    const std::vector<const spec::VariedPath*> paths = varied_paths(base_.scale_study->rungs);
    for (std::size_t k = 0; k < paths.size(); ++k)
      changes.push_back(fmt::format("{}={}", paths[k]->path, points_[point][k]));
    return changes;
  }

  std::vector<std::string> overrides_of(std::size_t point, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = overrides_;
    for (std::string& change : changes_of(point)) all.push_back(std::move(change));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// Reads all rungs first, so that all faults are reported before learning begins.
  void read_rungs() {
    const int line = base_.scale_study->rungs.axes.front().front().line;
    std::vector<Diagnostic> errors;
    const auto rungs =
        outcomes_of(points_.size(), [&](std::size_t i) { return source_.load_point(overrides_of(i), catalog_); });
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      if (rungs[i].result) {
        scenarios_.push_back(*rungs[i].result);
        scenarios_.back().scale_study = base_.scale_study;  // needed to compare with gradient sharing
        continue;
      }
      std::string rung;
      for (const std::string& change : changes_of(i)) rung += (rung.empty() ? "" : ", ") + scenario::printable(change);
      for (const Diagnostic& one : rungs[i].diagnostics()) {
        errors.push_back({base_.file, line,
                          fmt::format("rung {} ({}): {}", i + 1, rung, to_string({one.file, one.line, one.what, ""})),
                          one.remedy});
      }
    }
    if (!errors.empty()) throw InputError(std::move(errors));
  }

  ScaleStudyReport preamble() const {
    ScaleStudyReport report;
    report.version = kVersion;
    report.build = build();
    report.scenario_name = base_.name;
    report.description = base_.description;
    report.against = base_.scale_study->against;
    report.level = base_.scale_study->level;
    report.target_accuracy = base_.training.target_accuracy;
    report.seeds = base_.training.seeds;
    const std::optional<std::size_t> reference = reference_run_of(base_.runs);
    for (std::size_t i = 0; i < base_.runs.size(); ++i) {
      const spec::RunSpec& run = base_.runs[i];
      if (reference == i) continue;
      report.runs.push_back({run.label, run.algorithm, learns_the_pooled_gradient(run), {}, {}, {}, {}, {}, {}});
      report.runs.back().set = settings_of(run);
      for (const scenario::Scenario& rung : scenarios_) {
        std::erase_if(report.runs.back().set, [&, own = settings_of(rung.runs[i])](const auto& one) {
          const auto found = own.find(one.first);
          return found == own.end() || found->second != one.second;
        });
      }
    }
    if (report.runs.empty()) {
      throw InputError({base_.file, 0, "a scale study needs a run besides gradient sharing",
                        "add a run of another algorithm to compare"});
    }
    if (base_.timed_as && base_.timed_as->of_other_network()) {
      report.workload = base_.timed_as->file.empty() ? base_.timed_as->workload : base_.timed_as->own_shape.name;
      report.workload_size = size_of_workload(base_);
      report.assumptions.push_back({"family-followed"});
    }
    return report;
  }

  void learn_rung(std::size_t i, ScaleStudyReport& report) {
    const scenario::Scenario& scenario = scenarios_[i];
    const Learned learned = learn_scenario(scenario, &store_, false);
    const LearnedRun& any = *learned.runs.front();
    StudiedRung rung;
    const std::vector<const spec::VariedPath*> paths = varied_paths(base_.scale_study->rungs);
    for (std::size_t k = 0; k < paths.size(); ++k) rung.changes.emplace_back(paths[k]->path, points_[i][k]);
    rung.learned_on =
        fmt::format("{} on {}", describe_network(any.shape.name, any.shape, scenario.training.batch), any.data);
    rung.size = size_of(any.shape, any.rows * static_cast<double>(scenario.workers.size()));
    const double target = scenario.training.target_accuracy;
    const std::optional<std::size_t> reference = reference_run_of(scenario.runs);
    rung.gradient_sharing =
        steps_of(reference ? curves_of(i, *reference, learned).by_seed : curves_of(learned.reference), target);
    auto run = report.runs.begin();
    for (std::size_t k = 0; k < scenario.runs.size(); ++k) {
      if (reference == k) continue;
      run->rungs.push_back(ratio_of(curves_of(i, k, learned), rung.gradient_sharing, target));
      ++run;
    }
    report.rungs.push_back(std::move(rung));
  }

  static std::vector<std::vector<step::Evaluation>> curves_of(const std::vector<LearnedRunPtr>& seeds) {
    std::vector<std::vector<step::Evaluation>> curves;
    for (const LearnedRunPtr& seed : seeds) curves.push_back(seed->trajectory.curve);
    return curves;
  }

  Curves curves_of(std::size_t point, std::size_t run, const Learned& learned) {
    const scenario::Scenario& scenario = scenarios_[point];
    Curves curves;
    if (!scenario.runs[run].event_driven) {
      curves.by_seed.push_back(learned.runs[run]->trajectory.curve);
      for (const std::vector<LearnedRunPtr>& seed : learned.other_seeds)
        curves.by_seed.push_back(seed.at(run)->trajectory.curve);
      report::RunResult found;
      annotate_transfer(scenario, learned, run,
                        timed_as_of(scenario, learned.runs[run]->shape, learned.runs[run]->rows), found);
      curves.is_lossy = found.is_lossy;
      return curves;
    }
    for (std::int64_t seed = 0; seed < scenario.training.seeds; ++seed) {
      if (interrupted().load()) throw Cancelled();
      // Hosts and speeds of a population depend on the seed too. A round contains many steps, so every round is
      // evaluated.
      const std::vector<std::string> overrides = overrides_of(
          point,
          {fmt::format("seed={}", scenario.seed + static_cast<std::uint64_t>(seed)), "training.evaluate-every=1"});
      const scenario::Scenario own = source_.load_point(overrides, catalog_);
      std::optional<RemoteLearning> remote;
      if (queue_ != nullptr) remote.emplace(*queue_, own, overrides);
      EventDrivenOptions options;
      if (remote) options.remote = &*remote;
      const TimedAs timed = timed_as_of(own, learned.runs[run]->shape, learned.runs[run]->rows);
      curves.by_seed.push_back(
          curve_by_steps(run_event_driven(own, own.runs[run], timed, cluster_of(own), *learned.shared_cache, options)));
    }
    return curves;
  }

  static estimate::StepsToTarget steps_of(const std::vector<std::vector<step::Evaluation>>& curves, double target) {
    estimate::StepsToTarget steps;
    for (const std::vector<step::Evaluation>& curve : curves) steps.push_back(estimate::passage_of(curve, target));
    return steps;
  }

  static StudiedRatio ratio_of(const Curves& curves, const estimate::StepsToTarget& gradient_sharing, double target) {
    StudiedRatio at;
    at.steps = steps_of(curves.by_seed, target);
    estimate::RelativeSteps relative = relative_steps(at.steps, gradient_sharing);
    if (relative.ratio && curves.is_lossy == false) relative = {std::nullopt, Statement{"nothing-left-out"}};
    at.ratio = relative.ratio;
    at.why_not = relative.why_not;
    const auto reached = [](const auto& one) { return one.has_value() && one->between > 0; };
    if (!std::ranges::all_of(gradient_sharing, reached)) return at;
    double trained = 0;
    double needed = 0;
    for (const auto& curve : curves.by_seed) trained += static_cast<double>(curve.back().step);
    for (const auto& one : gradient_sharing) needed += one->between;
    if (!std::ranges::all_of(at.steps, reached)) at.more_than = trained / needed;
    if (at.ratio) at.seed_variance = variance_of_log_ratio(at.steps, gradient_sharing);
    return at;
  }

  /// Returns the variance of the logarithm of the ratio of steps, for its mean over the seeds.
  static double variance_of_log_ratio(const estimate::StepsToTarget& steps, const estimate::StepsToTarget& reference) {
    std::vector<double> logs;
    for (std::size_t i = 0; i < steps.size(); ++i) logs.push_back(std::log(steps[i]->between / reference[i]->between));
    const auto n = static_cast<double>(logs.size());
    double mean = 0;
    for (const double one : logs) mean += one / n;
    double squares = 0;
    for (const double one : logs) squares += (one - mean) * (one - mean);
    return squares / (n - 1) / n;
  }

  const scenario::ScenarioSource& source_;
  TaskQueue* queue_;  ///< null: this process learns
  std::vector<std::string> overrides_;
  scenario::Catalog catalog_;
  scenario::Scenario base_;
  std::vector<PointValues> points_;
  std::vector<scenario::Scenario> scenarios_;
  LearningStore store_;
};

}  // namespace

void fit_study(const scenario::Scenario& scenario, report::ScaleStudyReport& report) {
  add_critical_batches(report);
  hold_out_largest(scenario.scale_study->hold_out, report);
  for (StudiedRun& run : report.runs) {
    if (!run.as_many_by_definition) {
      predict_held_out(report, run);
      run.fit = ladder_of(usable_rungs(report, run, true));
      if (!run.fit) {
        run.why_no_fit = Statement{"too-few-rungs"}
                             .with("rungs", static_cast<double>(usable_rungs(report, run, true).size()))
                             .with("needed", static_cast<double>(std::max<std::size_t>(3, report.against.size() + 2)));
      }
    }
    expect_of_workload(report, run);
  }
}

void check_sizes(const scenario::Scenario& scenario, report::ScaleStudyReport report) {
  hold_out_largest(scenario.scale_study->hold_out, report);
  for (const bool with_held_out : {true, false}) {
    std::vector<estimate::Rung> rungs;
    for (StudiedRung& rung : report.rungs) {
      rung.size.critical_batch = 1;  // fitted later, from the steps at several batches
      if (with_held_out || !rung.held_out) rungs.push_back({decades_of(rung.size, report.against), 1, 0});
    }
    if (rungs.size() < report.against.size() + 2) continue;  // no prediction, because sizes repeat
    try {
      static_cast<void>(estimate::Ladder(std::move(rungs)));
    } catch (const std::invalid_argument& error) {
      throw InputError({scenario.file, scenario.scale_study->rungs.axes.front().front().line,
                        fmt::format("the sizes of <scale-study>{} allow no fit: {}",
                                    with_held_out ? "" : " without held-out rungs", error.what()),
                        "use paths that change the size, and fewer kinds of size in against=\"…\""});
    }
  }
}

report::ScaleStudyReport scale_study(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                     bool show_progress, const std::function<void()>& on_read, TaskQueue* queue) {
  Study study(source, overrides, queue);
  if (on_read) on_read();
  return study.learn(show_progress);
}

}  // namespace dadsim::study
