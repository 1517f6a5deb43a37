#include "study/layout/search_layouts.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/tiles.hpp"
#include "study/layout/by_flow.hpp"
#include "study/layout/candidate.hpp"
#include "study/layout/candidates.hpp"
#include "study/layout/divided_shape.hpp"
#include "study/layout/group_times.hpp"
#include "study/layout/layout_setting.hpp"
#include "study/layout/promising.hpp"
#include "study/layout/rank_trials.hpp"
#include "study/layout/step_estimate.hpp"
#include "study/layout/without_layout.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/device_lookup.hpp"
#include "study/setting/memory_check.hpp"
#include "study/sweep/remembering_catalog.hpp"
#include "study/trials/outcome.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

constexpr std::size_t kAtATime = 4;    // that are simulated before the closed form is set right again
constexpr double kWorthSaying = 0.97;  // of the best time: what would need more memory and saves less is not told

/// "path=value" of --set, with what the layout and its memory need.
std::vector<std::string> ignoring_memory(std::vector<std::string> overrides) {
  overrides.emplace_back("workers.memory=ignore");
  return overrides;
}

class LayoutSearch {
 public:
  LayoutSearch(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
               const LayoutOptions& options)
      : options_(options),
        source_(source.path(), without_layout(source.text())),
        catalog_(remembering(make_catalog_without_learning())),
        setting_(layout_setting(source.load_point(ignoring_memory(overrides), catalog_), options)) {
    std::ranges::copy_if(overrides, std::back_inserter(overrides_),
                         [](const std::string& one) { return !sets_layout(one); });
  }

  report::LayoutReport search(bool show_progress) {
    Progress progress("layouts", 1, show_progress);
    progress_ = &progress;
    describe();
    estimate_all();
    if (options_.simulates_written) simulate_written();
    simulate_promising();
    conclude();
    return std::move(report_);
  }

 private:
  void describe() {
    const scenario::Scenario& base = setting_.base;
    const spec::DeviceSpec& device = find_device(base.devices, base.all_devices().front().device);
    report_.build = build();
    report_.scenario_name = base.name;
    report_.description = base.description;
    report_.workload = base.timed_as->workload;
    report_.run = setting_.run.label;
    report_.device = device.name;
    report_.devices = setting_.space.devices;
    report_.device_bytes = std::max(0.0, device.memory_bytes);
    report_.most_bytes = options_.most_bytes;
    for (const auto& [name, value] : setting_.space.fixed) report_.fixed.push_back(name + '=' + value);
    report_.margin = options_.margin;
    report_.global_batch = setting_.space.global_batch;
  }

  double bytes_of(const report::Layout& layout) const {
    TimedAs timed = setting_.timed;
    timed.batch = layout.batch;
    timed.parallelism = layout.how;
    if (layout.how.context > 1 || layout.how.experts > 1) timed.shape = with_parts_of(timed.shape, layout);
    timed.shape = spec::with_tiles(std::move(timed.shape), timed.parallelism, samples_at_once(timed));
    return memory_of_workers(setting_.base, setting_.run, timed, layout.replicas).total();
  }

  void estimate_all() {
    GroupTimes groups(setting_.cluster);
    StepEstimate closed_form(setting_.timed, setting_.run, setting_.cluster.devices.front(), groups);
    for (const report::Layout& layout : layouts_of(setting_.timed.shape, setting_.space)) {
      if (interrupted().load()) throw Cancelled();
      candidates_.push_back({layout, closed_form.of(layout)});
    }
    parallel_for(candidates_.size(), [&](std::size_t i) { candidates_[i].bytes = bytes_of(candidates_[i].layout); });
    std::ranges::stable_sort(candidates_, {}, [](const LayoutCandidate& one) { return one.estimate.total(); });
    report_.divisible = candidates_.size();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (report_.fits(candidates_[i].bytes)) fitting_.push_back(i);
    }
    report_.fitting = fitting_.size();
    if (report_.global_batch % setting_.written.replicas == 0 && options_.simulates_written)
      written_estimate_ = closed_form.of(setting_.written);
  }

  struct Prepared {
    std::size_t candidate = 0;
    scenario::Scenario scenario;
    Learned learned;
  };

  std::optional<scenario::Scenario> scenario_of(const report::Layout& layout) {
    std::vector<std::string> all = overrides_;
    for (std::string& one : assignments_of(layout)) all.push_back(std::move(one));
    auto loaded = outcome_of([&] { return source_.load_point(all, catalog_); });
    if (!loaded.result) {
      report_.failed.push_back({layout, loaded.fault.what});
      return std::nullopt;
    }
    scenario::Scenario& scenario = *loaded.result;
    const auto run = std::ranges::find(scenario.runs, setting_.run.label, &spec::RunSpec::label);
    if (run == scenario.runs.end()) return std::nullopt;
    const spec::RunSpec only = *run;
    scenario.runs = {only};
    scenario.timing_only = true;
    scenario.costs.reset();
    take_flow(scenario);
    return std::move(loaded.result);
  }

  void simulate(const std::vector<std::size_t>& picked) {
    std::vector<Prepared> prepared;
    for (const std::size_t i : picked) {
      candidates_[i].simulated = true;
      std::optional<scenario::Scenario> scenario = scenario_of(candidates_[i].layout);
      if (!scenario) continue;
      Learned learned = learn_scenario(*scenario, &store_, false);
      tell_of(*scenario, learned);
      prepared.push_back({i, std::move(*scenario), std::move(learned)});
    }
    auto trials = outcomes_of(prepared.size(), [&](std::size_t i) {
      const LayoutCandidate& one = candidates_[prepared[i].candidate];
      const scenario::Scenario& scenario = prepared[i].scenario;
      const report::Result result = time_scenario(scenario, prepared[i].learned, cluster_by_flow(scenario), false);
      report::LayoutTrial trial{one.layout, one.bytes, one.estimate, result.runs.front()};
      trial.parts = parts_of(*trial.simulated, one.estimate);
      return trial;
    });
    for (std::size_t i = 0; i < trials.size(); ++i) {
      if (trials[i].result) {
        report_.trials.push_back(std::move(*trials[i].result));
      } else {
        report_.failed.push_back({candidates_[prepared[i].candidate].layout, trials[i].message});
      }
    }
    progress_->update(0, static_cast<std::int64_t>(report_.trials.size()),
                      static_cast<std::int64_t>(options_.simulated + 1));
  }

  void tell_of(const scenario::Scenario& scenario, const Learned& learned) {
    if (!report_.version.empty()) return;
    const report::Result result = untimed_result(scenario, learned);
    report_.version = result.version;
    report_.simgrid = result.simgrid;
    report_.network_model = result.network_model;
    report_.assumptions = result.assumptions;
  }

  void simulate_written() {
    if (!written_estimate_) return;
    const report::Layout& written = setting_.written;
    const double bytes = bytes_of(written);
    if (!report_.fits(bytes)) {
      report_.unfit = report::LayoutTrial{written, bytes, *written_estimate_, {}, {}, true};
      return;
    }
    const auto same = std::ranges::find_if(
        candidates_, [&](const LayoutCandidate& one) { return assignments_of(one.layout) == assignments_of(written); });
    if (same == candidates_.end()) {
      candidates_.push_back({written, *written_estimate_, bytes});
      simulate({candidates_.size() - 1});
    } else {
      simulate({static_cast<std::size_t>(same - candidates_.begin())});
    }
    if (report_.trials.empty()) return;
    report_.trials.front().written = true;
    if (!setting_.space.holds(written)) std::swap(report_.trials, report_.unasked);
  }

  void simulate_promising() {
    std::vector<std::size_t> picked = most_promising(candidates_, fitting_, options_.simulated);
    std::size_t done = picked.size();
    simulate(picked);
    while (done < options_.simulated) {
      picked = still_promising(candidates_, fitting_, report_.trials, std::min(kAtATime, options_.simulated - done));
      if (picked.empty()) break;
      done += picked.size();
      simulate(picked);
    }
  }

  /// The quickest of what does not fit, by the closed form set right.
  void conclude() {
    rank_trials(report_);
    const std::vector<report::LayoutTrial>& trials = report_.trials;
    if (trials.empty()) return;
    const EstimateCorrection correction(trials);
    const double best = trials.front().simulated->step_seconds;
    for (const LayoutCandidate& one : candidates_) {
      if (report_.fits(one.bytes)) continue;
      const double factor =
          correction.knows(one.layout) ? correction.factor(one.layout) : best / trials.front().estimate.total();
      const double seconds = one.estimate.total() * factor;
      if (seconds >= kWorthSaying * best) continue;
      if (report_.roomy && report_.roomy->estimate.total() <= seconds) continue;
      report::LayoutTrial trial{one.layout, one.bytes, one.estimate};
      for (double* part :
           {&trial.estimate.computing, &trial.estimate.tensor, &trial.estimate.bubble, &trial.estimate.exchange})
        *part *= factor;
      report_.roomy = std::move(trial);
    }
  }

  LayoutOptions options_;
  scenario::ScenarioSource source_;  ///< whose <timed-as> says nothing of a layout
  scenario::Catalog catalog_;
  LayoutSetting setting_;
  std::vector<std::string> overrides_;       ///< but for those of a layout
  std::vector<LayoutCandidate> candidates_;  ///< the quickest by the closed form first
  std::vector<std::size_t> fitting_;         ///< of them that fit, in their order
  std::optional<report::StepParts> written_estimate_;
  LearningStore store_;
  report::LayoutReport report_;
  Progress* progress_ = nullptr;
};

}  // namespace

report::LayoutReport search_layouts(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                    const LayoutOptions& options, bool show_progress,
                                    const std::function<void()>& on_read) {
  LayoutSearch search(source, overrides, options);
  if (on_read) on_read();
  return search.search(show_progress);
}

}  // namespace dadsim::study
