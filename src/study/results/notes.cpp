#include "study/results/notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "compress/registry.hpp"
#include "methods/method_page.hpp"
#include "protocols/registry.hpp"
#include "report/run/divergence.hpp"
#include "sim/platform.hpp"
#include "study/results/throughput.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/outages_of.hpp"

namespace dadsim::study {
namespace {

/// Returns the assumptions of event-driven runs.
std::vector<report::Statement> assumptions_of_events(const std::vector<spec::RunSpec>& runs) {
  report::Statement statement{"event-driven"};
  for (const spec::RunSpec& run : runs) {
    if (run.event_driven) statement.subjects.push_back(run.label);
  }
  if (statement.subjects.empty()) return {};
  return {std::move(statement)};
}

/// Returns the assumption about the framework: for event-driven runs always, for others if the scenario names one.
std::optional<report::Statement> framework_of(const spec::FrameworkSpec& framework,
                                              const std::vector<spec::RunSpec>& runs) {
  const bool none = framework.none() && framework.computing == 1;
  const auto uses = [&](const spec::RunSpec& run) { return run.event_driven || (!none && run.communicates); };
  if (std::ranges::none_of(runs, uses)) return std::nullopt;
  report::Statement statement{"framework", {none ? "none" : framework.in_words()}};
  const spec::FrameworkFacts* facts = spec::find_framework(framework.name, framework.version);
  if (facts != nullptr) statement = statement.with("date", facts->date).with("source", facts->source);
  return statement;
}

/// Returns the objectives of the runs if sites have unequal numbers of samples; none if the numbers are equal or
/// unknown.
std::optional<report::Statement> objectives(const scenario::Scenario& scenario, const models::Partition* partition) {
  if (partition == nullptr || partition->size() < 2) return std::nullopt;
  const auto [least, most] = std::ranges::minmax(*partition, {}, [](const auto& site) { return site.size(); });
  if (least.size() == most.size()) return std::nullopt;
  std::vector<std::string> said;
  for (const auto& [objective, runs] : objectives_of(scenario.runs, scenario.training))
    said.push_back(fmt::format("{} ({})", objective, fmt::join(runs, ", ")));
  return report::Statement{"objectives-differ"}
      .with("objectives", std::move(said))
      .with("least", static_cast<double>(least.size()))
      .with("most", static_cast<double>(most.size()));
}

/// Returns a note if its condition holds, else none.
using Note = std::optional<report::Statement> (*)(const NoteContext&);
using Said = std::optional<report::Statement>;

const methods::MethodInfo& info_of(const NoteContext& context) {
  return *protocols::find_method(context.run.spec.algorithm);
}

methods::Sharing sharing_of(const NoteContext& context) { return info_of(context).sharing; }

/// Returns a note on the order of events in event-driven runs.
Said order(const NoteContext& context) {
  if (!context.run.spec.event_driven) return {};
  return report::Statement{"event-order"}.with("learned", !context.nothing_learned);
}

/// Returns a note on the reaction of event-driven runs to failures.
Said failures(const NoteContext& context) {
  if (!context.run.spec.event_driven) return {};
  return report::Statement{"on-failure"}.with(
      "does", methods::method_page(context.run.spec.algorithm).section(methods::kOnFailure));
}

/// Returns a note on absence, for runs in which sites missed steps, or steps waited for sites.
Said absence(const NoteContext& context) {
  if (context.run.spec.event_driven || !context.run.event_driven) return {};
  const spec::AbsenceSpec& what = context.run.spec.absence;
  return report::Statement{"absence"}
      .with("does", std::string(to_string(what.does)))
      .with("patience", what.patience)
      .with("unbiased", what.estimate == spec::AbsenceSpec::Estimate::unbiased)
      .with("own_weights", context.run.spec.decentralised);
}

/// Returns a note on runs that pool their data.
Said pooling(const NoteContext& context) {
  if (sharing_of(context) != methods::Sharing::pooled) return {};
  return report::Statement{"pooling"};
}

/// Returns a note on runs without sharing, or with weights or layers per site. Mentions accuracies only if there are
/// any.
Said own_networks(const NoteContext& context) {
  if (context.run.spec.event_driven) return {};
  const methods::Sharing sharing = sharing_of(context);
  const bool own_weights = sharing == methods::Sharing::own_weights;
  const bool own_layers = has_own_layers(info_of(context), context.run.spec);
  const bool mean_accuracy =
      !context.nothing_learned && (own_weights || own_layers || sharing == methods::Sharing::no_sharing);
  if (!own_weights && !own_layers && !mean_accuracy) return {};
  return report::Statement{"own-networks"}
      .with("own_weights", own_weights)
      .with("own_layers", own_layers)
      .with("mean_accuracy", mean_accuracy);
}

/// Returns a note on lossy compressors, for synchronous and event-driven runs.
Said compression(const NoteContext& context) {
  const spec::CompressSpec& compress = context.run.spec.compress;
  const compress::CompressorInfo& compressor = compress::compressors().at(compress.method);
  if (compressor.lossless) return {};
  return report::Statement{"compression", {compressor.name}}
      .with("event_driven", context.run.spec.event_driven)
      .with("learned", !context.nothing_learned)
      .with("memory", compress.memory);
}

double count(std::ptrdiff_t number) { return static_cast<double>(number); }

/// Returns the algorithm's remark on a timed network that differs from the learning one.
Said remark_on_timed(const NoteContext& context) {
  if (!context.of_other_network || !info_of(context).remark_on_timed) return {};
  return report::Statement{"remark-on-timed"}.with("text", info_of(context).remark_on_timed(context.timed.shape));
}

/// Returns a note on runs whose final loss is not finite, or above ten times the loss of the untrained network.
Said divergence(const NoteContext& context) {
  if (!context.run.divergence) return {};
  const report::Divergence& how = *context.run.divergence;
  report::Statement statement{"divergence"};
  if (std::isfinite(how.loss)) return statement.with("loss", how.loss).with("loss_before", how.before);
  return statement.with("step", static_cast<double>(how.step)).with("event_driven", context.run.spec.event_driven);
}

/// Returns a note on runs that end no better than a guess. The loss shows whether their learning rate was too large or
/// too small.
Said at_chance(const NoteContext& context) {
  if (context.nothing_learned || !report::ends_at_chance(context.run, context.learned.guess)) return {};
  return report::Statement{"at-chance"}
      .with("accuracy", context.run.final_accuracy)
      .with("chance", context.learned.guess.chance)
      .with("loss", context.run.curve.back().loss)
      .with("loss_before", context.run.curve.front().loss);
}

/// Returns a note with the statistics of layers that choose what they send.
Said statistics(const NoteContext& context) {
  if (context.run.statistics.empty()) return {};
  std::vector<std::string> layers, statistics;
  for (const report::LayerStatistic& one : context.run.statistics) {
    layers.push_back(one.layer);
    statistics.push_back(one.statistic);
  }
  return report::Statement{"layer-statistics", {context.timed.shape.name}}
      .with("layers", std::move(layers))
      .with("statistics", std::move(statistics));
}

/// Returns a note on runs without a barrier between their steps.
Said first_steps(const NoteContext& context) {
  const std::vector<double>& ends = context.run.first_steps;
  if (ends.empty()) return {};
  return report::Statement{"no-barrier"}
      .with("first_seconds", ends.front())
      .with("steps", static_cast<double>(ends.size()))
      .with("seconds", ends.back())
      .with("step_seconds", context.run.step_seconds);
}

/// Returns a note on a compression that never left anything out.
Said idle_compression(const NoteContext& context) {
  if (context.run.is_lossy.value_or(true)) return {};
  return report::Statement{"idle-compression"};
}

/// Reports a recomputation that frees no memory, because fused attention keeps no scores.
Said idle_recomputation(const NoteContext& context) {
  const spec::ParallelismSpec& how = context.timed.parallelism;
  if (how.recomputation != spec::Recomputation::selective || how.recomputed_parts != spec::BlockParts{}) return {};
  const auto keeps = [](const spec::LayerShape& layer) { return layer.scores_per_sample > 0; };
  if (std::ranges::any_of(context.timed.shape.layers, keeps)) return {};
  return report::Statement{"idle-recomputation"};
}

/// Returns a note on ranks at the limit of the learned network.
Said censored_ranks(const NoteContext& context) {
  if (context.run.censored_layers == 0) return {};
  return report::Statement{"censored-ranks"}
      .with("layers", static_cast<double>(context.run.censored_layers))
      .with("of", count(std::ranges::count_if(context.timed.shape.layers, &spec::LayerShape::has_outer_product)));
}

/// Returns a note on more work per second than the peak of the devices permits.
Said above_peak(const NoteContext& context) {
  if (!context.run.throughput || !context.run.throughput->above_peak) return {};
  return report::Statement{"above-peak"}
      .with("model_flops_utilisation", context.run.throughput->model_flops_utilisation.value())
      .with(*context.run.throughput->above_peak);
}

/// Returns a warning if the counted memory plus an allocator's overhead exceeds a device's memory.
Said tight_memory(const NoteContext& context) {
  constexpr double kReserve = 0.1;  // share of the counted memory: fragments, workspaces, communication buffers
  const double counted = context.run.memory.total();
  if (!(context.run.device_memory > 0) || (1 + kReserve) * counted <= context.run.device_memory) return {};
  return report::Statement{"tight-memory"}
      .with("bytes", counted)
      .with("reserve", kReserve)
      .with("device_bytes", context.run.device_memory);
}

/// Returns a note that a leak was measured at some sites only.
Said leak_of_sample(const NoteContext& context) {
  if (!context.run.leak || context.run.leak->sampled.empty()) return {};
  return report::Statement{"leak-of-sample"}
      .with("sites", count(std::ssize(context.run.leak->sampled)))
      .with("of", static_cast<double>(context.run.workers));
}

constexpr std::array<Note, 17> kNotes{
    order,      failures,     absence,       pooling,     own_networks,     compression,        remark_on_timed,
    divergence, at_chance,    statistics,    first_steps, idle_compression, idle_recomputation, censored_ranks,
    above_peak, tight_memory, leak_of_sample};

}  // namespace

std::map<std::string, std::vector<std::string>> objectives_of(const std::vector<spec::RunSpec>& runs,
                                                              const spec::TrainingSpec& training) {
  std::map<std::string, std::vector<std::string>> labels;
  for (const spec::RunSpec& run : runs) {
    const methods::MethodInfo* info = protocols::find_method(run.algorithm);
    if (info == nullptr || !info->communicates() || info->one_objective != nullptr) continue;
    labels[objective_in_words(*info, run, training)].push_back(run.label);
  }
  return labels;
}

std::vector<report::Statement> assumptions_of(const scenario::Scenario& scenario, const report::Result& result,
                                              bool steps_known, const models::Partition* partition) {
  std::vector<report::Statement> assumptions;
  const auto say = [&](report::Statement statement) { assumptions.push_back(std::move(statement)); };
  if (result.timing_only) {
    say(scenario.recorded ? report::Statement{"as-recorded", {scenario.timed_as->own_shape.name}}
                          : recording_of(result));
  } else if (result.timed_as_other) {
    say(report::Statement{"timed-as-other"}
            .with("learned_on", result.learned_on)
            .with("timed_as", result.timed_as)
            .with("steps_known", steps_known));
  }
  const auto gossips = [](const spec::RunSpec& run) { return run.decentralised; };
  const auto learned_first = [](const spec::RunSpec& run) { return !run.event_driven; };
  const auto in_steps = [&](const spec::RunSpec& run) { return !gossips(run) && learned_first(run); };
  if (std::ranges::any_of(scenario.runs, in_steps)) say({"barrier"});
  if (std::ranges::any_of(scenario.runs, gossips)) say({"no-barrier-runs"});
  for (report::Statement& statement : assumptions_of_events(scenario.runs)) say(std::move(statement));
  if (std::optional<report::Statement> statement = framework_of(scenario.framework, scenario.runs))
    say(*std::move(statement));
  if (const spec::JitterSpec& jitter = scenario.network.jitter; !(jitter == spec::JitterSpec{}))
    say(report::Statement{"jitter"}.with("spatial", jitter.spatial).with("temporal", jitter.temporal));
  const auto spreads = [](const spec::Placement& worker) { return worker.speed_spread > 0; };
  if (std::ranges::any_of(scenario.all_devices(), spreads)) say({"speed-spread"});
  const auto misses = [&](const spec::RunSpec& run) { return may_be_absent(scenario, run); };
  const bool missed = std::ranges::any_of(scenario.runs, misses);
  if (missed || std::ranges::any_of(scenario.runs, &spec::RunSpec::event_driven)) say({"outages-are-seen"});
  if (missed) say({"broken-steps"});
  if (std::optional<report::Statement> statement = objectives(scenario, partition)) say(*std::move(statement));
  const bool failing = !scenario.failures.none() || !sim::state_profiles(scenario.platform).empty();
  if (failing && std::ranges::any_of(scenario.runs, [](const spec::RunSpec& run) { return !run.communicates; })) {
    say({"failures-of-others"});
  }
  if (scenario.evaluation && std::ranges::any_of(scenario.runs, learned_first)) say({"corrections"});
  if (scenario.network.rendezvous) say({"rendezvous"});
  if (spec::has_goodput_lines(scenario.platform)) {
    say(report::Statement{"goodput"}
            .with("window", scenario.network.window)
            .with("streams", static_cast<double>(scenario.network.streams)));
  }
  std::set<std::string> used;
  for (const spec::Placement& worker : scenario.all_devices()) used.insert(worker.device);
  if (scenario.aggregator) used.insert(scenario.aggregator->device);
  const spec::Precision precision = scenario.timed_as ? scenario.timed_as->precision : spec::Precision::fp32;
  for (const std::string& name : used) {
    const spec::DeviceSpec& device = find_device(scenario.devices, name);
    if (scenario.recorded && !(device.step_seconds > 0)) continue;
    say(device.step_seconds > 0
            ? report::Statement{"measured-device", {name}}.with("step_seconds", device.step_seconds)
            : report::Statement{"roofline", {name}}.with("rates", rates_in_words(device, precision)));
  }
  return assumptions;
}

std::vector<report::Statement> notes_of(const NoteContext& context) {
  std::vector<report::Statement> notes;
  for (const Note note : kNotes) {
    // The algorithm's remarks on the network that learned come before those on the timed one.
    if (note == remark_on_timed)
      notes.insert(notes.end(), context.learned.remarks.begin(), context.learned.remarks.end());
    if (Said said = note(context)) notes.push_back(*std::move(said));
  }
  return notes;
}

}  // namespace dadsim::study
