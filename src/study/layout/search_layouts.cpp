#include "study/layout/search_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "algorithms/registry.hpp"
#include "estimate/bands.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "scenario/scenario.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "spec/tiles.hpp"
#include "spec/timed_workload.hpp"
#include "study/layout/by_flow.hpp"
#include "study/layout/candidates.hpp"
#include "study/layout/group_times.hpp"
#include "study/layout/step_estimate.hpp"
#include "study/run/experiment.hpp"
#include "study/run/fewer_micro_batches.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/memory_check.hpp"
#include "study/setting/timed_as.hpp"
#include "study/trials/outcome.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

/// Inputs of a search for layouts.
struct LayoutSetting {
  scenario::Scenario base;  ///< the scenario; its memory is not checked
  spec::RunSpec run;        ///< the run whose steps are timed
  TimedAs timed;            ///< network before it is divided
  sim::Cluster cluster;
  LayoutSpace space;
  report::Layout written;  ///< layout of the scenario file
};

void check_layout_base(const scenario::Scenario& base) {
  std::vector<Diagnostic> faults;
  const auto fault = [&](const char* what, const char* remedy) { faults.push_back({base.file, 0, what, remedy}); };
  if (!base.timed_as || base.timed_as->workload.empty())
    fault("a layout needs a workload", "add <timed-as workload=\"…\">; `dadsim workloads` lists them");
  const std::vector<spec::Placement> devices = base.all_devices();
  const bool several =
      std::ranges::any_of(devices, [&](const spec::Placement& one) { return one.device != devices.front().device; });
  if (several) fault("a layout needs workers of one device", "set the same device=\"…\" for all workers");
  if (!faults.empty()) throw InputError(std::move(faults));
}

spec::RunSpec run_in_question(const scenario::Scenario& base, const std::string& label) {
  const auto found = std::ranges::find_if(base.runs, [&](const spec::RunSpec& run) {
    return label.empty() ? run.communicates && !run.event_driven : run.label == label;
  });
  if (found == base.runs.end() || found->event_driven) {
    throw InputError({base.file, 0,
                      label.empty() ? "a layout needs a run that takes steps and sums gradients"
                                    : fmt::format("no run that takes steps is called '{}'", label),
                      "add a run that shares gradients between peers (exchange=\"peer\")"});
  }
  return *found;
}

/// Checks the values of the fixed attributes, and takes them into the base of the search.
void read_fixed(LayoutSpace& space, spec::TimedAsSpec timed) {
  scenario::Findings findings("");
  for (auto& [name, value] : space.fixed)
    value = scenario::read_timed_as_attribute(fmt::format("--fix {}={}", name, value), name, value, timed, findings);
  findings.throw_if_any();
  space.base = timed.parallelism;
}

/// Returns the inputs of a search in this scenario. Throws InputError if the scenario times no workload, its devices
/// differ, or none of its runs takes steps.
LayoutSetting layout_setting(scenario::Scenario base, const LayoutOptions& options) {
  check_layout_base(base);
  LayoutSetting setting;
  setting.run = run_in_question(base, options.run);
  setting.timed = timed_as_of(base, {});
  setting.timed.shape = spec::shape_of_workload(*base.timed_as);
  take_flow(base);
  setting.cluster = cluster_by_flow(base);
  LayoutSpace& space = setting.space;
  space.devices = static_cast<std::int64_t>(base.all_devices().size());
  space.devices_per_node = devices_per_node(base);
  space.global_batch =
      options.global_batch.value_or(base.timed_as->batch * static_cast<std::int64_t>(base.workers.size()));
  space.plain_attention = base.timed_as->attention == spec::Attention::plain;
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(setting.run.algorithm);
  space.divides_sequences = info != nullptr && methods::may_divide_sequences(*info, setting.run);
  space.most_sharding = info != nullptr ? methods::most_sharding(*info, setting.run) : spec::Sharding::none;
  space.fixed = options.fixed;
  read_fixed(space, *base.timed_as);
  setting.written.how = base.timed_as->parallelism;
  setting.written.replicas = static_cast<std::int64_t>(base.workers.size());
  setting.written.batch = space.global_batch / setting.written.replicas;
  setting.base = std::move(base);
  return setting;
}

/// Corrects the closed form by its errors for simulated layouts of the same kind (tensor, context, pipeline and expert
/// parallelism, and sharding).
class EstimateCorrection {
 public:
  explicit EstimateCorrection(const std::vector<report::LayoutTrial>& trials) {
    if (trials.empty()) return;
    of_all_ = std::numeric_limits<double>::infinity();
    for (const report::LayoutTrial& trial : trials) {
      const double factor = trial.simulated->step_seconds / trial.estimate.total();
      const auto [at, fresh] = by_kind_.try_emplace(kind_of(trial.layout), factor);
      if (!fresh) at->second = std::min(at->second, factor);
      of_all_ = std::min(of_all_, factor);
    }
  }

  bool knows(const report::Layout& layout) const { return by_kind_.contains(kind_of(layout)); }
  /// Returns the least simulated ÷ estimated time among layouts of this kind; if none was simulated, among all layouts.
  double factor(const report::Layout& layout) const {
    const auto known = by_kind_.find(kind_of(layout));
    return known == by_kind_.end() ? of_all_ : known->second;
  }

  using Kind = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, spec::Sharding, std::int32_t>;
  static Kind kind_of(const report::Layout& layout) {
    const spec::ParallelismSpec& how = layout.how;
    return {how.tensor, how.context, how.pipeline, how.experts, how.sharding, how.sharding_group};
  }

 private:
  std::map<Kind, double> by_kind_;
  double of_all_ = 1;
};

constexpr double kOfQuickest = 0.4;    // share of simulated layouts: the fastest by the closed form
constexpr double kOfKinds = 0.3;       // share of simulated layouts: the fastest of each kind
constexpr std::size_t kOfOneKind = 3;  // largest number of layouts of one kind among the fastest
constexpr std::size_t kOfFront = 4;    // layouts from the Pareto front of time and memory, in addition to the fastest

/// Returns the Pareto front of estimated time and memory, the fastest first.
std::vector<std::size_t> front_by_estimate(const std::vector<LayoutCandidate>& candidates,
                                           const std::vector<std::size_t>& fitting) {
  std::vector<std::size_t> front;
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : fitting) {
    if (candidates[i].bytes >= least) continue;
    least = candidates[i].bytes;
    front.push_back(i);
  }
  return front;
}

/// Selects at most `most` of the fitting candidates, which are sorted by estimate: the fastest, at most kOfOneKind of
/// each kind; then the fastest of each kind; then some of the Pareto front of time and memory.
std::vector<std::size_t> most_promising(const std::vector<LayoutCandidate>& candidates,
                                        const std::vector<std::size_t>& fitting, std::size_t most) {
  std::vector<std::size_t> picked;
  const auto pick = [&](std::size_t i) {
    if (!candidates[i].simulated && std::ranges::find(picked, i) == picked.end()) picked.push_back(i);
  };
  const auto count = [&](double share) { return static_cast<std::size_t>(share * static_cast<double>(most)); };
  std::map<EstimateCorrection::Kind, std::size_t> of_kind;
  for (const std::size_t i : fitting) {
    if (picked.size() >= std::max<std::size_t>(1, count(kOfQuickest))) break;
    if (of_kind[EstimateCorrection::kind_of(candidates[i].layout)]++ < kOfOneKind) pick(i);
  }
  std::set<EstimateCorrection::Kind> kinds;
  for (const std::size_t i : fitting) {
    const bool fresh = kinds.insert(EstimateCorrection::kind_of(candidates[i].layout)).second;
    if (fresh && picked.size() < count(kOfQuickest + kOfKinds)) pick(i);
  }
  const std::vector<std::size_t> front = front_by_estimate(candidates, fitting);
  for (std::size_t k = 1; k <= kOfFront && front.size() > 1 && picked.size() < most; ++k)
    pick(front[k * (front.size() - 1) / kOfFront]);
  return picked;
}

/// Returns at most `most` layouts that were not simulated but, by the corrected closed form, may be faster than the
/// best trial. The fastest is first.
std::vector<std::size_t> still_promising(const std::vector<LayoutCandidate>& candidates,
                                         const std::vector<std::size_t>& fitting,
                                         const std::vector<report::LayoutTrial>& trials, std::size_t most) {
  const EstimateCorrection correction(trials);
  double best = std::numeric_limits<double>::infinity();
  for (const report::LayoutTrial& trial : trials) best = std::min(best, trial.simulated->step_seconds);
  std::vector<std::pair<double, std::size_t>> hopes;
  for (const std::size_t i : fitting) {
    if (candidates[i].simulated) continue;
    const double seconds = candidates[i].estimate.total() * correction.factor(candidates[i].layout);
    if (seconds < best) hopes.emplace_back(seconds, i);
  }
  std::ranges::sort(hopes);
  std::vector<std::size_t> picked;
  for (const auto& [seconds, i] : hopes) {
    if (picked.size() < most) picked.push_back(i);
  }
  return picked;
}

bool is_tied(const report::LayoutTrial& best, const report::LayoutTrial& other) {
  const auto& a = other.simulated->step_band;
  const auto& b = best.simulated->step_band;
  if (!a || !b) return false;
  // Flow fidelity may be too coarse to rank two layouts with nearly equal times.
  const double doubt = std::max(report::doubt_of(*other.simulated), report::doubt_of(*best.simulated));
  const double ratio = other.simulated->step_seconds / best.simulated->step_seconds * (1 - doubt);
  return ratio * estimate::ratio_band(a->parts, b->parts).low <= 1;
}

/// Returns the parts of a simulated step: its computing time is simulated, and the rest is divided in the ratio of the
/// parts in the closed form.
report::StepParts parts_of(const report::RunResult& run, const report::StepParts& estimate) {
  report::StepParts parts;
  parts.computing = std::min(run.compute_seconds, run.step_seconds);
  const double rest = run.step_seconds - parts.computing;
  const double known = estimate.tensor + estimate.bubble + estimate.exchange;
  if (!(known > 0)) {
    parts.exchange = rest;
    return parts;
  }
  parts.tensor = rest * estimate.tensor / known;
  parts.bubble = rest * estimate.bubble / known;
  parts.exchange = rest * estimate.exchange / known;
  return parts;
}

/// Sorts the trials by time, finds the Pareto front of time and memory, and counts the trials whose times cannot be
/// distinguished from the first (estimate::ratio_band).
void rank_trials(report::LayoutReport& report) {
  std::vector<report::LayoutTrial>& trials = report.trials;
  std::ranges::stable_sort(trials, {}, [](const report::LayoutTrial& one) { return one.simulated->step_seconds; });
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].bytes >= least) continue;
    least = trials[i].bytes;
    report.front.push_back(i);
  }
  while (report.tied < trials.size() && is_tied(trials.front(), trials[report.tied])) ++report.tied;
}

constexpr std::int64_t kManyDevices = 512;  // number of devices above which loading the platform takes longer than all
                                            // estimates
constexpr std::size_t kAtATime = 4;         // layouts simulated before the closed form is corrected again
constexpr std::size_t kTogether = 2;        // layouts simulated before their total work is checked against its limit
constexpr double kOfOne = 0.1;              // share of the work limit, for shorter steps of a doubtful layout
constexpr double kWorthSaying = 0.97;       // share of the best time, below which larger layouts are reported

/// Returns the overrides with one more, by which the memory of devices is not checked.
std::vector<std::string> ignoring_memory(std::vector<std::string> overrides) {
  overrides.emplace_back("workers.memory=ignore");
  return overrides;
}

class LayoutSearch {
 public:
  LayoutSearch(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
               const LayoutOptions& options)
      : options_(options),
        source_(source),
        catalog_(remembering(make_catalog_without_learning())),
        setting_(layout_setting(source.load_point(ignoring_memory(overrides), catalog_), options)),
        overrides_(source.without_layout()) {
    std::ranges::copy_if(overrides, std::back_inserter(overrides_), std::not_fn(scenario::sets_layout));
  }

  report::LayoutReport search(bool show_progress) {
    Progress progress("layouts", 1, show_progress);
    progress_ = &progress;
    describe();
    estimate_all();
    if (options_.simulates_written) simulate_written();
    simulate_promising();
    time_whole();
    conclude();
    const auto take_back = [&](report::LayoutTrial& trial) {
      std::vector<std::string>& set = trial.layout.set = assignments_of(trial.layout);
      for (const std::string& path : source_.without_layout()) {
        if (std::ranges::none_of(set, [&](const std::string& one) { return one.starts_with(path); }))
          set.push_back(path);
      }
    };
    for (std::vector<report::LayoutTrial>* trials : {&report_.trials, &report_.unasked})
      std::ranges::for_each(*trials, take_back);
    if (report_.roomy) take_back(*report_.roomy);
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
    for (const report::Layout& layout : layouts_of(setting_.timed.shape, setting_.space))
      candidates_.push_back({layout, {}});
    parallel_for(candidates_.size(), [&](std::size_t i) { candidates_[i].bytes = bytes_of(candidates_[i].layout); });
    report_.divisible = candidates_.size();
    report_.fitting = static_cast<std::size_t>(
        std::ranges::count_if(candidates_, [&](const LayoutCandidate& one) { return report_.fits(one.bytes); }));
    if (!options_.simulates_written && (report_.fitting == 0 || options_.simulated == 0)) return;
    GroupTimes groups(setting_.cluster);
    const spec::DeviceSpec& device = setting_.cluster.devices.front();
    if (setting_.space.devices > kManyDevices) {
      groups.prepare([&] {
        StepEstimate asking(setting_.timed, setting_.run, device, groups);
        for (const LayoutCandidate& one : candidates_) asking.of(one.layout);
      });
    }
    StepEstimate closed_form(setting_.timed, setting_.run, device, groups);
    for (LayoutCandidate& one : candidates_) {
      if (interrupted().load()) throw Cancelled();
      one.estimate = closed_form.of(one.layout);
    }
    std::ranges::stable_sort(candidates_, {}, [](const LayoutCandidate& one) { return one.estimate.total(); });
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (report_.fits(candidates_[i].bytes)) fitting_.push_back(i);
    }
    if (report_.global_batch % setting_.written.replicas == 0 && options_.simulates_written)
      written_estimate_ = closed_form.of(setting_.written);
  }

  struct Prepared {
    std::size_t trial = 0;  ///< number of the candidate, or of the trial that is timed again
    scenario::Scenario scenario;
    Learned learned;
  };

  std::optional<scenario::Scenario> scenario_of(const report::Layout& layout) {
    std::vector<std::string> all = overrides_;
    for (std::string& one : assignments_of(layout)) all.push_back(std::move(one));
    auto loaded = outcome_of([&] { return source_.load_point(all, catalog_); });
    if (!loaded.result) {
      report_.failed.push_back({assignments_of(layout), loaded.fault.what});
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

  /// Simulates layouts while the limit of the work allows it.
  void simulate(const std::vector<std::size_t>& picked) {
    for (std::span<const std::size_t> left(picked), some; !left.empty(); left = left.subspan(some.size())) {
      const std::size_t together = work_ > 0 ? kTogether : 1;
      some = left.first(options_.most_work > 0 ? std::min(together, left.size()) : left.size());
      for (const std::size_t i : some) candidates_[i].simulated = true;
      if (affords(0))
        simulate_together(some);
      else
        report_.too_large += some.size();
    }
  }

  bool affords(double work) const { return !(options_.most_work > 0) || work_ + work <= options_.most_work; }

  void simulate_together(std::span<const std::size_t> picked) {
    std::vector<Prepared> prepared;
    for (const std::size_t i : picked) {
      std::optional<scenario::Scenario> scenario = scenario_of(candidates_[i].layout);
      if (!scenario) continue;
      Learned learned = learn_scenario(*scenario, &store_, false);
      tell_of(*scenario, learned);
      prepared.push_back({i, std::move(*scenario), std::move(learned)});
    }
    std::vector<SimulationWork> works(prepared.size());
    auto trials = outcomes_of(prepared.size(), [&](std::size_t i) {
      if (options_.most_work > 0) works[i].most = kOfOne * options_.most_work;
      const LayoutCandidate& one = candidates_[prepared[i].trial];
      const scenario::Scenario& scenario = prepared[i].scenario;
      const report::Result result =
          time_scenario(scenario, prepared[i].learned, cluster_by_flow(scenario), false, {}, &works[i]);
      report::LayoutTrial trial{one.layout, one.bytes, one.estimate, result.runs.front()};
      trial.parts = parts_of(*trial.simulated, one.estimate);
      return trial;
    });
    for (std::size_t i = 0; i < trials.size(); ++i) {
      work_ += works[i].done;
      whole_work_[assignments_of(candidates_[prepared[i].trial].layout)] = works[i].whole;
      if (trials[i].result) {
        report_.trials.push_back(std::move(*trials[i].result));
      } else {
        report_.failed.push_back({assignments_of(candidates_[prepared[i].trial].layout), trials[i].message});
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
      report_.unfit->layout.set = assignments_of(written);
      return;
    }
    const auto same = std::ranges::find(candidates_, assignments_of(written),
                                        [](const LayoutCandidate& one) { return assignments_of(one.layout); });
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
    if (options_.simulated == 0) return;
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

  /// Times the fastest layout with all its micro-batches, as in a run. Also times all others in this way if shorter
  /// steps were inaccurate.
  void time_whole() {
    constexpr double kSame = 1e-3;  // relative difference of step times
    if (report_.trials.empty()) return;
    const auto seconds = [](const report::LayoutTrial& one) { return one.simulated->step_seconds; };
    std::ranges::stable_sort(report_.trials, {}, seconds);
    if (!is_shortened(report_.trials.front().layout)) return;
    const double shortened = seconds(report_.trials.front());
    time_whole({&report_.trials.front(), 1});
    if (std::abs(seconds(report_.trials.front()) - shortened) > kSame * shortened)
      time_whole(std::span(report_.trials).subspan(1));
  }

  bool is_shortened(const report::Layout& layout) const {
    TimedAs timed = setting_.timed;
    timed.batch = layout.batch;
    timed.parallelism = layout.how;
    return fewer_micro_batches(timed, setting_.cluster).has_value();
  }

  void time_whole(std::span<report::LayoutTrial> trials) {
    std::vector<Prepared> prepared;
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const double work = whole_work_[assignments_of(trials[i].layout)];
      const bool in_doubt = report::doubt_of(*trials[i].simulated) > 0;  // a whole step would be doubtful too
      if (options_.most_work > 0 && (in_doubt || !affords(work))) continue;
      std::optional<scenario::Scenario> scenario = scenario_of(trials[i].layout);
      if (!scenario) continue;
      work_ += work;
      Learned learned = learn_scenario(*scenario, &store_, false);
      prepared.push_back({i, std::move(*scenario), std::move(learned)});
    }
    const auto results = outcomes_of(prepared.size(), [&](std::size_t i) {
      const scenario::Scenario& scenario = prepared[i].scenario;
      return time_scenario(scenario, prepared[i].learned, cluster_by_flow(scenario), false).runs.front();
    });
    for (std::size_t i = 0; i < prepared.size(); ++i) {
      if (!results[i].result) continue;
      report::LayoutTrial& trial = trials[prepared[i].trial];
      trial.simulated = results[i].result;
      trial.parts = parts_of(*trial.simulated, trial.estimate);
    }
  }

  /// Ranks the trials. Records in `roomy` the fastest layout that does not fit the memory, by the corrected closed
  /// form, if it beats the best trial clearly.
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
  scenario::ScenarioSource source_;
  scenario::Catalog catalog_;
  LayoutSetting setting_;
  std::vector<std::string> overrides_;       ///< settings of --set without a layout, after removal of the file's
  std::vector<LayoutCandidate> candidates_;  ///< sorted by estimated time, fastest first
  std::vector<std::size_t> fitting_;         ///< indices of candidates that fit, quickest first
  std::optional<report::StepParts> written_estimate_;
  LearningStore store_;
  report::LayoutReport report_;
  Progress* progress_ = nullptr;
  double work_ = 0;                                          ///< work of the simulations so far
  std::map<std::vector<std::string>, double> whole_work_{};  ///< work of a whole step, by assignments of its layout
};

}  // namespace

std::int64_t devices_per_node(const scenario::Scenario& base) {
  std::map<std::string, std::int32_t> node_of;
  for (const sim::PlatformHost& host : sim::platform_hosts(base.platform)) node_of[host.name] = host.node;
  std::map<std::int32_t, std::int64_t> counts;
  for (const spec::Placement& one : base.all_devices()) ++counts[node_of.at(one.host)];
  const std::int64_t first = counts.begin()->second;
  return std::ranges::all_of(counts, [&](const auto& node) { return node.second == first; }) ? first : 1;
}

report::LayoutReport search_layouts(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                                    const LayoutOptions& options, bool show_progress,
                                    const std::function<void()>& on_read) {
  LayoutSearch search(source, overrides, options);
  if (on_read) on_read();
  return search.search(show_progress);
}

}  // namespace dadsim::study
