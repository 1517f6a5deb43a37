#include "study/results/transfer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "algorithms/registry.hpp"
#include "models/data/dataset.hpp"
#include "scenario/elements/host_list.hpp"
#include "scenario/xml/findings.hpp"
#include "schedule/censored_rank.hpp"
#include "sim/platform.hpp"
#include "spec/model_shape.hpp"
#include "support/diagnostics.hpp"
#include "support/human.hpp"

namespace dadsim::study {
namespace {

constexpr double kSmall = 1 << 20;  // bytes; for smaller messages software takes longer than links

/// Returns whether two learning curves have equal losses at equal steps, as far as both go; false below two common
/// evaluations.
bool learned_the_same(const step::Trajectory& a, const step::Trajectory& b) {
  const std::size_t common = std::min(a.curve.size(), b.curve.size());
  return common > 1 && std::equal(a.curve.begin(), a.curve.begin() + static_cast<std::ptrdiff_t>(common),
                                  b.curve.begin(), [](const step::Evaluation& one, const step::Evaluation& other) {
                                    return one.step == other.step && one.loss == other.loss;
                                  });
}

/// Returns the lossy layers of the learning network and of the timed one.
std::pair<algorithms::LossyLayers, algorithms::LossyLayers> lossy_layers_of(std::int64_t batch, std::size_t workers,
                                                                            const spec::RunSpec& run,
                                                                            const spec::ModelShape& learned,
                                                                            const TimedAs& timed) {
  const methods::MethodInfo& info = algorithms::algorithm_registry().at(run.algorithm);
  return {algorithms::lossy_layers(info, run, learned, batch, workers),
          algorithms::lossy_layers(info, run, timed.shape, timed.batch, workers)};
}

/// Returns gradient sharing with the scenario's own seed; null if it was not learned.
const LearnedRun* reference_of(const scenario::Scenario& scenario, const Learned& learned) {
  if (!learned.reference.empty()) return learned.reference.front().get();
  const std::optional<std::size_t> run = reference_run_of(scenario.runs);
  return run ? learned.runs.at(*run).get() : nullptr;
}

std::optional<bool> is_lossy(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRun& learned,
                             const TimedAs& timed, const LearnedRun* reference) {
  if (!algorithms::compresses_gradients(algorithms::algorithm_registry().at(run.algorithm), run)) return std::nullopt;
  const auto [here, there] =
      lossy_layers_of(scenario.training.batch, scenario.workers.size(), run, learned.shape, timed);
  if (here.layers == 0 && there.layers > 0) return false;
  const schedule::CensoredCount found = schedule::count_censored(learned.trajectory, learned.shape);
  if (found.looked > 0 && found.left_out == 0) return false;
  return reference == nullptr || !learned_the_same(learned.trajectory, reference->trajectory);
}

/// Returns a warning of runs without an aggregator in which every site sends all its factors to every other site, if
/// exactly one host is free to be the aggregator.
std::optional<std::string> warning_of_peers(const scenario::Scenario& scenario) {
  if (scenario.aggregator) return std::nullopt;
  std::vector<std::string> free = scenario::hubs_of(scenario.platform);
  if (std::holds_alternative<spec::PlatformFileSpec>(scenario.platform.what)) {
    for (const sim::PlatformHost& host : sim::platform_hosts(scenario.platform)) free.push_back(host.name);
    for (const spec::Placement& worker : scenario.all_devices()) std::erase(free, worker.host);
  }
  std::vector<std::string> labels;
  for (const spec::RunSpec& run : scenario.runs) {
    if (!run.communicates || run.event_driven || run.decentralised || run.exchange_named) continue;
    const methods::MethodInfo& info = algorithms::algorithm_registry().at(run.algorithm);
    if (!info.sends_sums(run) && !info.sums_gradients(run)) labels.push_back(run.label);
  }
  if (free.size() != 1 || labels.empty()) return std::nullopt;
  return fmt::format(
      "<workers> lacks <aggregator>: in {} every site sends to every other; add <aggregator host=\"{}\" "
      "device=\"{}\"/> to merge messages there, or write exchange=\"peer\"",
      scenario::printable(fmt::format("{}", fmt::join(labels, ", "))), free.front(), scenario.workers.front().device);
}

}  // namespace

std::string category_of_messages(const step::NetworkUse& network, const CarriedMessages& carried) {
  std::set<std::string> transports;
  double queue = std::numeric_limits<double>::infinity();  // bytes of the smallest queue of a tcp link
  for (const step::NetworkUse::LinkClass& link : network.links) {
    transports.insert(link.transport);
    if (link.transport == "tcp" && link.queue_bytes > 0) queue = std::min(queue, link.queue_bytes);
  }
  if (transports.contains("tcp")) {
    if (carried.gloo) return "network.gloo";
    return carried.at_once_bytes > queue ? "network.tcp-overflow" : "network.tcp";
  }
  // No messages between TPUs were measured.
  const bool of_tpus = std::ranges::any_of(network.links, [](const step::NetworkUse::LinkClass& link) {
    const spec::LinkSpec* known = sim::find_link(link.name);
    return known != nullptr && known->costs == spec::MessageCosts::ici;
  });
  if (of_tpus || (!transports.contains("rdma") && !transports.contains("nvlink"))) return "network.assumed";
  if (carried.most_bytes < kSmall) return "network.small";
  return transports.contains("rdma") ? "network.rdma" : "network.nvlink";
}

double bytes_at_once(const step::NetworkUse::Collective& collective, double workers) {
  if (collective.algorithm.find("ring") != std::string::npos || collective.algorithm.starts_with("gloo"))
    return collective.kind == "all-reduce" ? collective.most_bytes / workers : collective.most_bytes;
  return collective.most_bytes * std::max(1.0, workers - 1);
}

void annotate_transfer(const scenario::Scenario& scenario, const Learned& learned, std::size_t run,
                       const TimedAs& timed, report::RunResult& result) {
  result.is_lossy = is_lossy(scenario, scenario.runs[run], *learned.runs[run], timed, reference_of(scenario, learned));
  const LearnedRun& learned_run = *learned.runs[run];
  const std::set<std::size_t> layers =
      schedule::censored_layers(learned_run.trajectory, learned_run.shape, timed.shape, timed.sample_scale);
  result.censored_layers = static_cast<std::int64_t>(layers.size());
}

std::vector<std::string> warnings_of(const scenario::Scenario& scenario) {
  std::vector<std::string> warnings = sim::passed_over_of(scenario.platform);
  if (std::optional<std::string> peers = warning_of_peers(scenario)) warnings.push_back(*std::move(peers));
  if (!scale_setting(scenario) && !std::holds_alternative<spec::CsvSource>(scenario.data.source)) return warnings;
  try {
    const spec::DataFacts facts = models::inspect_data(scenario.data.source);
    warnings.insert(warnings.end(), facts.notes.begin(), facts.notes.end());
    // The size of the learning network has no effect either if relative steps come from a scale study.
    if (!scale_setting(scenario) || !scenario.ladder.empty()) return warnings;
    const spec::ModelShape learned = spec::model_shape(scenario.model, facts.shape);
    const TimedAs timed = timed_as_of(scenario, learned);
    for (const spec::RunSpec& run : scenario.runs) {
      if (run.event_driven) continue;
      if (!algorithms::compresses_gradients(algorithms::algorithm_registry().at(run.algorithm), run)) continue;
      const auto [here, there] = lossy_layers_of(scenario.training.batch, scenario.workers.size(), run, learned, timed);
      if (here.layers > 0) continue;
      std::string text = fmt::format(
          "run '{}': the compression drops nothing of the learning network with {} samples per worker and step",
          scenario::printable(run.label), scenario.training.batch);
      if (there.layers > 0) {
        text +=
            fmt::format(", but drops numbers in {} of {} timed layers, so the number of additional steps is not known",
                        there.layers, there.of);
      }
      warnings.push_back(text + "; use a larger batch, wider layers or a stronger compression");
    }
  } catch (const InputError&) {
    // Unreadable data are reported when they are read.
  }
  return warnings;
}

std::vector<std::string> warnings_of(const scenario::Scenario& scenario, const report::Result& result) {
  double end = 0;
  for (const report::RunResult& run : result.runs) end = std::max(end, run.total_seconds);  // a NaN is not larger
  std::vector<std::string> warnings;
  for (const spec::OutageSpec& one : scenario.failures.outages) {
    const bool after = one.from >= end;
    const bool longer = std::isfinite(one.seconds) && 2 * one.seconds > end;
    if (!after && !longer) continue;
    warnings.push_back(fmt::format("the outage of '{}' {} {}, but the longest run takes {}; {}",
                                   scenario::printable(one.match), after ? "begins after" : "lasts",
                                   human_seconds(after ? one.from : one.seconds), human_seconds(end),
                                   after ? "begin the outage earlier" : "make the outage shorter"));
  }
  return warnings;
}

}  // namespace dadsim::study
