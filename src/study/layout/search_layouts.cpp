#include "study/layout/search_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "algorithms/registry.hpp"
#include "sim/platform.hpp"
#include "study/layout/candidates.hpp"
#include "study/layout/group_times.hpp"
#include "study/layout/rank_trials.hpp"
#include "study/layout/step_estimate.hpp"
#include "study/layout/without_layout.hpp"
#include "study/learning/memory_store.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/device_lookup.hpp"
#include "study/setting/memory_check.hpp"
#include "study/sweep/remembering_catalog.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/parallel_forks.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

constexpr double kOfQuickest = 0.4;        // of what is simulated: the quickest by the closed form
constexpr double kOfKinds = 0.3;           // the quickest of each kind
constexpr std::size_t kOfFront = 4;        // of the front of time against memory, beside the quickest
constexpr std::size_t kAtATime = 4;        // that are simulated before the closed form is set right again
constexpr std::int64_t kByMessages = 256;  // devices of which a step can be simulated message by message
constexpr double kWorthSaying = 0.97;      // of the best time: what would need more memory and saves less is not told

/// Those for which the closed form is off by the same.
using Kind = std::tuple<std::int32_t, std::int32_t, spec::Sharding>;
Kind kind_of(const report::Layout& layout) { return {layout.how.tensor, layout.how.pipeline, layout.how.sharding}; }

/// Unless the scenario says how: many layouts have to be simulated, and message by message one of them can take a
/// minute.
void by_flow(spec::NetworkSpec& network) {
  if (network.fidelity == spec::Fidelity::automatic) network.fidelity = spec::Fidelity::flow;
}

class LayoutSearch {
 public:
  LayoutSearch(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
               const LayoutOptions& options)
      : options_(options),
        source_(source.path(), without_layout(source.text())),
        catalog_(remembering(make_catalog_without_learning())) {
    std::vector<std::string> all = overrides;
    all.emplace_back("workers.memory=ignore");
    base_ = source.load_point(all, catalog_);
    std::ranges::copy_if(all, std::back_inserter(overrides_), [](const std::string& one) { return !sets_layout(one); });
    check_base();
    run_ = run_of_base();
    timed_ = timed_as_of(base_, {});
    by_flow(base_.network);
    cluster_ = cluster_of(base_);
  }

  report::LayoutReport search(bool show_progress) {
    Progress progress("layouts", 1, show_progress);
    progress_ = &progress;
    describe();
    estimate_all();
    simulate_written();
    simulate_promising();
    conclude();
    return std::move(report_);
  }

 private:
  struct Candidate {
    report::Layout layout;
    report::StepParts estimate;
    double bytes = 0;
    bool simulated = false;
  };

  void check_base() const {
    std::vector<Diagnostic> faults;
    const auto fault = [&](const char* what, const char* remedy) { faults.push_back({base_.file, 0, what, remedy}); };
    if (!base_.timed_as || base_.timed_as->workload.empty())
      fault("no workload is timed, whose layers could be divided", "<timed-as workload=\"…\"> of `dadsim workloads`");
    const auto other = std::ranges::find_if(base_.all_devices(), [&](const spec::Placement& one) {
      return one.device != base_.all_devices().front().device;
    });
    if (other != base_.all_devices().end())
      fault("its devices are of several kinds, which a layout would have to tell apart", "one device for all workers");
    if (!faults.empty()) throw InputError(std::move(faults));
  }

  spec::RunSpec run_of_base() const {
    const auto found = std::ranges::find_if(base_.runs, [&](const spec::RunSpec& run) {
      return options_.run.empty() ? run.communicates && !run.event_driven : run.label == options_.run;
    });
    if (found == base_.runs.end() || found->event_driven) {
      throw InputError({base_.file, 0,
                        options_.run.empty() ? "no run of it takes steps and shares anything"
                                             : fmt::format("no run that takes steps is called '{}'", options_.run),
                        "a run that shares gradients between peers (exchange=\"peer\")"});
    }
    return *found;
  }

  /// Devices of a node; 1 where nodes have different numbers of them.
  std::int64_t devices_per_node() const {
    std::map<std::string, std::int32_t> node_of;
    for (const sim::PlatformHost& host : sim::platform_hosts(base_.platform)) node_of[host.name] = host.node;
    std::map<std::int32_t, std::int64_t> counts;
    for (const spec::Placement& one : base_.all_devices()) ++counts[node_of.at(one.host)];
    const std::int64_t first = counts.begin()->second;
    return std::ranges::all_of(counts, [&](const auto& node) { return node.second == first; }) ? first : 1;
  }

  report::Layout written_layout() const {
    report::Layout layout{.how = base_.timed_as->parallelism};
    layout.replicas = static_cast<std::int64_t>(base_.workers.size());
    layout.batch = report_.global_batch / layout.replicas;
    return layout;
  }

  void describe() {
    const spec::DeviceSpec& device = find_device(base_, base_.all_devices().front().device);
    report_.build = build();
    report_.scenario_name = base_.name;
    report_.description = base_.description;
    report_.workload = base_.timed_as->workload;
    report_.run = run_.label;
    report_.device = device.name;
    report_.devices = static_cast<std::int64_t>(base_.all_devices().size());
    report_.device_bytes = base_.ignore_memory && device.memory_bytes > 0 ? device.memory_bytes : 0;
    report_.margin = options_.margin;
    report_.global_batch =
        options_.global_batch.value_or(base_.timed_as->batch * static_cast<std::int64_t>(base_.workers.size()));
    space_.devices = report_.devices;
    space_.devices_per_node = devices_per_node();
    space_.global_batch = report_.global_batch;
    space_.plain_attention = base_.timed_as->attention == spec::Attention::plain;
    const methods::MethodInfo* info = algorithms::algorithm_registry().find(run_.algorithm);
    space_.sums_gradients = info != nullptr && info->sums_in_buckets && run_.compress == spec::CompressSpec{};
    space_.base = base_.timed_as->parallelism;
    space_.fixed = options_.fixed;
  }

  double bytes_of(const report::Layout& layout) const {
    TimedAs timed = timed_;
    timed.batch = layout.batch;
    timed.parallelism = layout.how;
    return memory_of_workers(base_, run_, timed, layout.replicas).total();
  }

  void estimate_all() {
    GroupTimes groups(cluster_);
    StepEstimate closed_form(timed_, run_, cluster_.devices.front(), groups);
    for (const report::Layout& layout : layouts_of(timed_.shape, space_)) {
      if (interrupted().load()) throw Cancelled();
      candidates_.push_back({layout, closed_form.of(layout)});
    }
    parallel_for(candidates_.size(), [&](std::size_t i) { candidates_[i].bytes = bytes_of(candidates_[i].layout); });
    std::ranges::stable_sort(candidates_, {}, [](const Candidate& one) { return one.estimate.total(); });
    report_.divisible = candidates_.size();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!report_.fits(candidates_[i].bytes)) continue;
      ++report_.fitting;
      if (may_be_simulated(candidates_[i].layout)) fitting_.push_back(i);
    }
    written_ = written_layout();
    if (report_.global_batch % written_.replicas == 0) written_estimate_ = closed_form.of(written_);
  }

  /// Sums of layers and of replicas that share links for long are no flow, and messages of many devices take minutes.
  bool may_be_simulated(const report::Layout& layout) const {
    const spec::ParallelismSpec& how = layout.how;
    if (space_.devices <= kByMessages || how.devices() == 1) return true;
    return how.tensor == space_.devices_per_node && how.sharding <= spec::Sharding::optimizer;
  }

  std::optional<report::LayoutTrial> trial_of(const report::Layout& layout, const report::StepParts& estimate,
                                              double bytes, const scenario::Scenario& scenario,
                                              const Learned& learned) const {
    const report::Result result = time_scenario(scenario, learned, cluster_of(scenario), false);
    report::LayoutTrial trial{layout, bytes, estimate, result.runs.front()};
    trial.parts = parts_of(*trial.simulated, estimate);
    return trial;
  }

  struct Prepared {
    std::size_t candidate = 0;
    scenario::Scenario scenario;
    Learned learned;
  };

  std::optional<scenario::Scenario> scenario_of(const report::Layout& layout) {
    std::vector<std::string> all = overrides_;
    for (std::string& one : assignments_of(layout)) all.push_back(std::move(one));
    try {
      scenario::Scenario scenario = source_.load_point(all, catalog_);
      const auto run = std::ranges::find(scenario.runs, run_.label, &spec::RunSpec::label);
      if (run == scenario.runs.end()) return std::nullopt;
      const spec::RunSpec only = *run;
      scenario.runs = {only};
      scenario.timing_only = true;
      scenario.costs.reset();
      by_flow(scenario.network);
      return scenario;
    } catch (const InputError&) {
      ++report_.refused;
      return std::nullopt;
    }
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
    std::vector<std::optional<report::LayoutTrial>> trials(prepared.size());
    parallel_for_forks(prepared.size(), [&](std::size_t i) {
      if (interrupted().load()) throw Cancelled();
      const Candidate& one = candidates_[prepared[i].candidate];
      trials[i] = trial_of(one.layout, one.estimate, one.bytes, prepared[i].scenario, prepared[i].learned);
    });
    for (std::optional<report::LayoutTrial>& trial : trials) {
      if (trial) report_.trials.push_back(std::move(*trial));
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
    const double bytes = bytes_of(written_);
    if (!report_.fits(bytes)) {
      report_.unfit = report::LayoutTrial{written_, bytes, *written_estimate_, {}, {}, true};
      return;
    }
    const auto same = std::ranges::find_if(
        candidates_, [&](const Candidate& one) { return assignments_of(one.layout) == assignments_of(written_); });
    if (same == candidates_.end()) {
      candidates_.push_back({written_, *written_estimate_, bytes});
      simulate({candidates_.size() - 1});
    } else {
      simulate({static_cast<std::size_t>(same - candidates_.begin())});
    }
    if (!report_.trials.empty()) report_.trials.front().written = true;
  }

  /// Of the front of time against memory by the closed form, the quickest first.
  std::vector<std::size_t> front_by_estimate() const {
    std::vector<std::size_t> front;
    double least = std::numeric_limits<double>::infinity();
    for (const std::size_t i : fitting_) {
      if (candidates_[i].bytes >= least) continue;
      least = candidates_[i].bytes;
      front.push_back(i);
    }
    return front;
  }

  void simulate_promising() {
    std::vector<std::size_t> picked;
    const auto pick = [&](std::size_t i) {
      if (!candidates_[i].simulated && std::ranges::find(picked, i) == picked.end()) picked.push_back(i);
    };
    const auto count = [&](double share) {
      return static_cast<std::size_t>(share * static_cast<double>(options_.simulated));
    };
    for (const std::size_t i : fitting_) {
      if (picked.size() < std::max<std::size_t>(1, count(kOfQuickest))) pick(i);
    }
    std::set<Kind> kinds;
    for (const std::size_t i : fitting_) {
      if (kinds.insert(kind_of(candidates_[i].layout)).second && picked.size() < count(kOfQuickest + kOfKinds)) pick(i);
    }
    const std::vector<std::size_t> front = front_by_estimate();
    for (std::size_t k = 1; k <= kOfFront && front.size() > 1 && picked.size() < options_.simulated; ++k)
      pick(front[k * (front.size() - 1) / kOfFront]);
    std::size_t done = picked.size();
    simulate(picked);
    while (done < options_.simulated) {
      picked = corrected(std::min(kAtATime, options_.simulated - done));
      if (picked.empty()) break;
      done += picked.size();
      simulate(picked);
    }
  }

  /// Simulated ÷ estimated by kind, the least of what was simulated; of kinds that were not, the least of all.
  std::map<Kind, double> factors(double& of_all) const {
    std::map<Kind, double> by_kind;
    of_all = std::numeric_limits<double>::infinity();
    for (const report::LayoutTrial& trial : report_.trials) {
      const double factor = trial.simulated->step_seconds / trial.estimate.total();
      const auto [at, fresh] = by_kind.try_emplace(kind_of(trial.layout), factor);
      if (!fresh) at->second = std::min(at->second, factor);
      of_all = std::min(of_all, factor);
    }
    return by_kind;
  }

  double best_seconds() const {
    double best = std::numeric_limits<double>::infinity();
    for (const report::LayoutTrial& trial : report_.trials) best = std::min(best, trial.simulated->step_seconds);
    return best;
  }

  /// What may still be quicker than the best, by the closed form set right.
  std::vector<std::size_t> corrected(std::size_t most) const {
    double of_all = 1;
    const std::map<Kind, double> by_kind = factors(of_all);
    const double best = best_seconds();
    std::vector<std::pair<double, std::size_t>> hopes;
    for (const std::size_t i : fitting_) {
      if (candidates_[i].simulated) continue;
      const auto known = by_kind.find(kind_of(candidates_[i].layout));
      const double seconds = candidates_[i].estimate.total() * (known == by_kind.end() ? of_all : known->second);
      if (seconds < best) hopes.emplace_back(seconds, i);
    }
    std::ranges::sort(hopes);
    std::vector<std::size_t> picked;
    for (const auto& [seconds, i] : hopes) {
      if (picked.size() < most) picked.push_back(i);
    }
    return picked;
  }

  void conclude() {
    rank_trials(report_);
    const std::vector<report::LayoutTrial>& trials = report_.trials;
    if (trials.empty()) return;
    double of_all = 1;
    const std::map<Kind, double> by_kind = factors(of_all);
    for (const Candidate& one : candidates_) {
      if (report_.fits(one.bytes)) continue;
      const auto known = by_kind.find(kind_of(one.layout));
      const double factor = known == by_kind.end()
                                ? trials.front().simulated->step_seconds / trials.front().estimate.total()
                                : known->second;
      const double seconds = one.estimate.total() * factor;
      if (seconds >= kWorthSaying * trials.front().simulated->step_seconds) continue;
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
  std::vector<std::string> overrides_;
  scenario::Scenario base_;
  spec::RunSpec run_;
  TimedAs timed_;
  sim::Cluster cluster_;
  LayoutSpace space_;
  std::vector<Candidate> candidates_;  ///< the quickest by the closed form first
  std::vector<std::size_t> fitting_;   ///< of them that fit and may be simulated, in their order
  report::Layout written_;
  std::optional<report::StepParts> written_estimate_;
  MemoryLearningStore store_;
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
