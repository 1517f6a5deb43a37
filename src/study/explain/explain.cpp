#include "study/explain/explain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "report/run/causes.hpp"
#include "scenario/document/differences.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "study/explain/changes.hpp"
#include "study/run/experiment.hpp"
#include "study/trials/outcome.hpp"

namespace dadsim::study {
namespace {

constexpr double kTwice = 2;
constexpr std::size_t kMostLinksAlone = 12;  // links varied one by one, the busiest first
constexpr double kLeastEffect = 0.001;       // share of the time; smaller effects are not reported
constexpr double kLeastBusy = 0.01;          // share of the step, in some run; links used less are not varied
constexpr double kBeyondMeasure = 1e6;       // factor that removes a limit in practice, and that SimGrid still accepts
constexpr std::int64_t kTriedSteps = 16;     // number of steps on which what-ifs are compared, if steps differ
constexpr double kBuckets = 25e6;            // bytes: the default of PyTorch's DistributedDataParallel

/// A variation, with the changes that it makes to scenario and cluster.
struct Variation {
  report::WhatIf what_if;
  std::function<void(scenario::Scenario&, sim::Cluster&)> make;
};

report::Statement of_speed(const char* kind, const std::string& on, double factor) {
  return report::Statement{kind, {on}}.with("factor", factor);
}

class Explainer {
 public:
  Explainer(const scenario::Scenario& scenario, const Learned& learned, bool show_progress)
      : scenario_(scenario), learned_(learned), show_progress_(show_progress) {}

  report::Explanation run() {
    explanation_.result = study::time_scenario(scenario_, learned_, study::cluster_of(scenario_), show_progress_);
    waited_for_ = links_waited_for();
    compare_on_a_sample();
    vary_groups();
    vary_devices();
    if (!scenario_.recorded) vary_batch();
    if (!scenario_.recorded) vary_buckets();
    vary_limits();
    vary_framework();
    try_all(show_progress_);
    vary_single_links();
    try_all(show_progress_);
    say_how();
    return std::move(explanation_);
  }

 private:
  /// Times a sample of the steps of each run whose steps differ, to compare variations with the same sample. A change
  /// of the cluster affects all steps similarly, so the ratio is precise enough (Cochran, Sampling Techniques, 1977,
  /// chapter 6).
  void compare_on_a_sample() {
    of_sample_.assign(scenario_.runs.size(), {1, std::nullopt});
    if (scenario_.network.timed_steps > 0) return;
    report::Statement sampled{"sampled-changes"};
    std::vector<double> all_steps;
    for (std::size_t i = 0; i < scenario_.runs.size(); ++i) {
      const auto differ = static_cast<std::int64_t>(learned_.runs[i]->trajectory.distinct_steps.size());
      if (differ <= kTriedSteps) continue;
      sampled.subjects.push_back(scenario_.runs[i].label);
      all_steps.push_back(static_cast<double>(differ));
    }
    sim::Cluster cluster = cluster_to_try();
    if (all_steps.empty() || sim::every_step_differs(cluster)) return;
    timed_steps_ = kTriedSteps;
    cluster.network.timed_steps = timed_steps_;
    const report::Result same = study::time_scenario(scenario_, learned_, cluster, false);
    for (std::size_t i = 0; i < same.runs.size(); ++i) {
      const report::RunResult& all = explanation_.result.runs[i];
      of_sample_[i].step_seconds = all.step_seconds / same.runs[i].step_seconds;
      if (all.target_reached) of_sample_[i].target_seconds = all.target_seconds / same.runs[i].target_seconds;
    }
    explanation_.notes.push_back(
        sampled.with("steps", static_cast<double>(kTriedSteps)).with("of", std::move(all_steps)));
  }

  sim::Cluster cluster_to_try() const {
    sim::Cluster cluster = study::cluster_of(scenario_);
    cluster.causes = false;
    if (timed_steps_ > 0) cluster.network.timed_steps = timed_steps_;
    keep_fidelity(explanation_.result, cluster);
    return cluster;
  }

  /// Tries all variations in parallel.
  void try_all(bool show_progress) {
    Progress progress("what if", variations_.size(), show_progress);
    auto tried = outcomes_of(
        variations_.size(), [&](std::size_t i) { return try_out(variations_[i]); }, &progress);
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (tried[i].result) {
        explanation_.what_ifs.push_back(std::move(*tried[i].result));
      } else {  // the batch may not divide into as many micro-batches
        explanation_.notes.push_back(report::Statement{"untried-change"}
                                         .with("fault", std::move(tried[i].message))
                                         .with(variations_[i].what_if.change));
      }
    }
    variations_.clear();
  }

  report::WhatIf try_out(const Variation& variation) const {
    scenario::Scenario scenario = scenario_;
    sim::Cluster cluster = cluster_to_try();
    variation.make(scenario, cluster);
    const report::Result result = study::time_scenario(scenario, learned_, cluster, false);
    report::WhatIf what_if = variation.what_if;
    for (std::size_t i = 0; i < result.runs.size(); ++i) {
      const report::RunResult& run = result.runs[i];
      report::Effect effect{run.step_seconds * of_sample_[i].step_seconds, std::nullopt};
      const std::optional<report::StepBand>& before = explanation_.result.runs[i].step_band;
      if (run.step_band && before) effect.band = estimate::ratio_band(run.step_band->parts, before->parts);
      if (run.target_reached) {
        // The steps were learned with the unchanged batch.
        const double fewer = variation.what_if.kind == report::WhatIf::Kind::batch ? variation.what_if.factor : 1;
        effect.target_seconds = run.target_seconds * of_sample_[i].target_seconds.value_or(1) / fewer;
      }
      what_if.effects.push_back(effect);
    }
    return what_if;
  }

  void add(report::WhatIf what_if, std::function<void(scenario::Scenario&, sim::Cluster&)> make) {
    variations_.push_back({std::move(what_if), std::move(make)});
  }

  // ---- links ----

  /// Returns all links that carry traffic, grouped by `key`, the busiest first.
  std::vector<LinkGroup> groups(std::string (*key)(const std::string&)) const {
    std::map<std::string, LinkGroup> groups;
    for (const report::RunResult& run : explanation_.result.runs) {
      for (const step::LinkUse& use : run.network.link_use) {
        LinkGroup& group = groups[key(use.link)];
        group.pattern = key(use.link);
        group.add(use);
      }
    }
    std::vector<LinkGroup> all;
    all.reserve(groups.size());
    for (auto& [pattern, group] : groups) all.push_back(std::move(group));
    std::ranges::stable_sort(all, std::greater<>(), &LinkGroup::busy_share);
    return all;
  }

  /// Returns the links that a run's critical path waits for.
  std::set<std::string> links_waited_for() const {
    std::set<std::string> names;
    for (const report::RunResult& run : explanation_.result.runs) {
      for (const step::Bound& bound : run.bounds) {
        if (bound.share >= kLeastBusy && (bound.kind == "bandwidth" || bound.kind == "queueing"))
          names.insert(report::name_of_link(bound.resource));
      }
    }
    return names;
  }

  void vary_bandwidth(const LinkGroup& group) {
    const bool waited_for = std::ranges::any_of(
        group.links, [&](const std::string& link) { return waited_for_.contains(report::name_of_link(link)); });
    if (group.busy_share < kLeastBusy && !waited_for) return;
    add({.kind = report::WhatIf::Kind::bandwidth,
         .on = group.pattern,
         .factor = kTwice,
         .change = change_of("more-bandwidth", kTwice, group)},
        [links = group.links](scenario::Scenario&, sim::Cluster& cluster) {
          change_links(cluster, changes_of(links, kTwice, 1));
        });
  }

  void vary_latency(const LinkGroup& group) {
    if (group.most_latency <= 0) return;
    add({.kind = report::WhatIf::Kind::latency,
         .on = group.pattern,
         .factor = kTwice,
         .change = change_of("less-latency", kTwice, group)},
        [links = group.links](scenario::Scenario&, sim::Cluster& cluster) {
          change_links(cluster, changes_of(links, 1, 1 / kTwice));
        });
  }

  /// Returns whether changing a group of links has an effect, so that its links are varied one by one.
  bool matters(report::WhatIf::Kind kind, const std::string& pattern) const {
    for (const report::WhatIf& tried : explanation_.what_ifs) {
      if (tried.kind != kind || tried.on != pattern) continue;
      for (std::size_t run = 0; run < tried.effects.size(); ++run) {
        if (std::abs(saving_of(explanation_, run, tried)) >= kLeastEffect) return true;
      }
    }
    return false;
  }

  void vary_single_links() {
    std::map<std::string, std::size_t> sizes;
    for (const LinkGroup& link : groups(report::name_of_link)) ++sizes[pattern_of_link(link.pattern)];
    std::size_t alone = 0;
    // Links on critical paths are tried before links that are only busy.
    std::vector<LinkGroup> links = groups(report::name_of_link);
    std::stable_partition(links.begin(), links.end(),
                          [&](const LinkGroup& link) { return waited_for_.contains(link.pattern); });
    for (const LinkGroup& link : links) {
      const std::string group = pattern_of_link(link.pattern);
      if (sizes[group] == 1) continue;  // the group is this single link, which was varied already
      const bool by_bandwidth = matters(report::WhatIf::Kind::bandwidth, group);
      const bool by_latency = matters(report::WhatIf::Kind::latency, group);
      if (!by_bandwidth && !by_latency) continue;
      if (++alone > kMostLinksAlone) {
        ++explanation_.links_left_out;
        continue;
      }
      if (by_bandwidth) vary_bandwidth(link);
      if (by_latency) vary_latency(link);
    }
  }

  void vary_groups() {
    const std::vector<LinkGroup> all = groups(pattern_of_link);
    for (const LinkGroup& group : all) {
      vary_bandwidth(group);
      vary_latency(group);
    }
    if (all.size() > 1) {
      const auto everywhere = [](double bandwidth, double latency) {
        return [=](scenario::Scenario&, sim::Cluster& cluster) { change_links(cluster, {{"*", bandwidth, latency}}); };
      };
      add({.kind = report::WhatIf::Kind::bandwidth,
           .on = "*",
           .factor = kTwice,
           .change = of_speed("more-bandwidth", "*", kTwice)},
          everywhere(kTwice, 1));
      add({.kind = report::WhatIf::Kind::latency,
           .on = "*",
           .factor = kTwice,
           .change = of_speed("less-latency", "*", kTwice)},
          everywhere(1, 1 / kTwice));
    }
  }

  // ---- computing ----

  void vary_devices() {
    std::set<std::string> names;
    for (const spec::Placement& worker : scenario_.all_devices()) names.insert(worker.device);
    for (const std::string& name : names) {
      add({.kind = report::WhatIf::Kind::device,
           .on = name,
           .factor = kTwice,
           .change = of_speed("faster-device", name, kTwice),
           .assumption = report::Statement{"all-of-the-device"}.with("factor", kTwice)},
          [name](scenario::Scenario& scenario, sim::Cluster& cluster) {
            for (std::size_t i = 0; i < scenario.all_devices().size(); ++i) {
              if (scenario.all_devices()[i].device == name) speed_up(cluster.devices[i], kTwice, scenario);
            }
          });
    }
    if (!scenario_.aggregator) return;
    add({.kind = report::WhatIf::Kind::device,
         .on = scenario_.aggregator->device,
         .factor = kTwice,
         .change = of_speed("faster-device", scenario_.aggregator->device, kTwice).with("aggregator", true),
         .assumption = report::Statement{"all-of-the-device"}.with("factor", kTwice)},
        [](scenario::Scenario&, sim::Cluster& cluster) { speed_up(cluster.aggregator_device, kTwice); });
  }

  // ---- settings of the step ----

  void vary_batch() {
    const std::int64_t batch = scenario_.timed_as ? scenario_.timed_as->batch : scenario_.training.batch;
    const auto with_batch = [](std::int64_t samples) {
      return [samples](scenario::Scenario& scenario, sim::Cluster&) {
        if (!scenario.timed_as) scenario.timed_as = spec::TimedAsSpec{};
        scenario.timed_as->batch = samples;
      };
    };
    const auto add_batch = [&](double factor, std::int64_t samples) {
      add({.kind = report::WhatIf::Kind::batch,
           .on = "",
           .factor = factor,
           .change = report::Statement{"other-batch"}
                         .with("factor", factor)
                         .with("samples_per_worker", static_cast<double>(samples)),
           .assumption = report::Statement{"steps-by-batch"}.with("factor", factor)},
          with_batch(samples));
    };
    add_batch(kTwice, 2 * batch);
    if (batch % 2 == 0) add_batch(1 / kTwice, batch / 2);
  }

  void vary_buckets() {
    const bool some = std::ranges::any_of(scenario_.runs, [](const spec::RunSpec& run) {
      return run.communicates && !run.event_driven && run.exchange == spec::ExchangeMode::peer;
    });
    if (!some) return;
    const auto add_sums = [&](report::Statement change, double bytes) {
      add({.kind = report::WhatIf::Kind::overlap,
           .on = "",
           .factor = 1,
           .change = std::move(change),
           .assumption = report::Statement{"other-runs-stay"}},
          [bytes](scenario::Scenario& scenario, sim::Cluster&) {
            for (spec::RunSpec& run : scenario.runs) run.bucket_bytes = bytes;
          });
    };
    add_sums(report::Statement{"sums-in-buckets"}.with("bytes", kBuckets), kBuckets);
    add_sums({"sums-by-layer"}, 0);
  }

  void vary_limits() {
    add({.kind = report::WhatIf::Kind::limit,
         .on = "network",
         .factor = kBeyondMeasure,
         .change = {"network-without-limits"},
         .assumption = report::Statement{"limits-of-links"}},
        [this](scenario::Scenario& scenario, sim::Cluster& cluster) {
          keep_sums(explanation_.result, scenario);
          change_links(cluster, {{"*", kBeyondMeasure, 0}});
          // With unlimited bandwidth, continuous background traffic would not delay anything but would send a million
          // times as many messages.
          cluster.platform.background.clear();
        });
    add({.kind = report::WhatIf::Kind::limit,
         .on = "devices",
         .factor = kBeyondMeasure,
         .change = {"computing-without-time"},
         .assumption = report::Statement{"limits-of-devices"}},
        [](const scenario::Scenario&, sim::Cluster& cluster) {
          for (spec::DeviceSpec& device : cluster.devices) device.slowdown /= kBeyondMeasure;
          cluster.aggregator_device.slowdown /= kBeyondMeasure;
        });
  }

  void vary_framework() {
    if (scenario_.framework.none()) return;
    add({.kind = report::WhatIf::Kind::limit,
         .on = "framework",
         .factor = kBeyondMeasure,
         .change = report::Statement{"framework-without-time", {scenario_.framework.in_words()}},
         .assumption = report::Statement{"limits-of-framework"}},
        [](scenario::Scenario&, sim::Cluster& cluster) { cluster.framework = without_time(cluster.framework); });
    add({.kind = report::WhatIf::Kind::framework,
         .on = scenario_.framework.name,
         .factor = kTwice,
         .change = report::Statement{"faster-framework", {scenario_.framework.in_words()}}.with("factor", kTwice)},
        [](scenario::Scenario&, sim::Cluster& cluster) { speed_up(cluster.framework, kTwice); });
  }

  void say_how() {
    std::vector<report::Statement>& notes = explanation_.notes;
    if (const auto links = explanation_.links_left_out; links > 0)
      notes.push_back(report::Statement{"links-left-out"}.with("links", static_cast<double>(links)));
    notes.push_back({"changes-are-simulated"});
    if (std::ranges::any_of(scenario_.runs, &spec::RunSpec::event_driven))
      notes.push_back({"events-are-simulated-again"});
  }

  const scenario::Scenario& scenario_;
  const Learned& learned_;
  bool show_progress_;
  report::Explanation explanation_;
  std::int64_t timed_steps_ = 0;           ///< per run, in variations; 0: as in the scenario
  std::vector<report::Effect> of_sample_;  ///< per run: whole-run times ÷ times on the sample
  std::set<std::string> waited_for_;
  std::vector<Variation> variations_;
};

}  // namespace

report::Comparison compare_scenarios(const scenario::Scenario& before, const scenario::Scenario& after,
                                     std::string name, bool show_progress) {
  LearningStore store;
  const auto time = [&](const scenario::Scenario& scenario) {
    report::Result result = run_experiment(scenario, show_progress, &store);
    result.rate_as_tcp = rate_as_tcp(scenario);
    return result;
  };
  report::Comparison comparison;
  comparison.name = std::move(name);
  comparison.before = time(before);
  comparison.after = time(after);
  for (scenario::ScenarioDifference& one : scenario::differences(before, after))
    comparison.differences.push_back({std::move(one.path), std::move(one.before), std::move(one.after)});
  return comparison;
}

report::Explanation explain_scenario(const scenario::Scenario& scenario, const Learned& learned, bool show_progress) {
  return Explainer(scenario, learned, show_progress).run();
}

scenario::Scenario as_explained(scenario::Scenario scenario) {
  if (std::ranges::any_of(scenario.runs, &spec::RunSpec::event_driven)) return scenario;
  scenario.training.stop = spec::TrainingSpec::Stop::target;
  scenario.training.exact_once = true;
  scenario.training.seeds = 1;
  return scenario;
}

}  // namespace dadsim::study
