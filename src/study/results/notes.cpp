#include "study/results/notes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "compress/registry.hpp"
#include "protocols/registry.hpp"
#include "report/run/divergence.hpp"

namespace dadsim::study {
namespace {

/// A note, or nothing where its law does not hold.
using Note = std::optional<report::Statement> (*)(const NoteContext&);
using Said = std::optional<report::Statement>;

const methods::MethodInfo& info_of(const NoteContext& context) {
  return *protocols::find_method(context.run.spec.algorithm);
}

methods::Sharing sharing_of(const NoteContext& context) { return info_of(context).sharing; }

/// Of event-driven runs.
Said order(const NoteContext& context) {
  if (!context.run.spec.event_driven) return {};
  return report::Statement{"event-order"}.with("learned", !context.nothing_learned);
}

/// Of event-driven runs.
Said failures(const NoteContext& context) {
  if (!context.run.spec.event_driven) return {};
  return report::Statement{"on-failure"}.with("does", info_of(context).on_failure);
}

/// Of runs whose steps sites were missing from, or were waited for.
Said absence(const NoteContext& context) {
  if (context.run.spec.event_driven || !context.run.event_driven) return {};
  const spec::AbsenceSpec& what = context.run.spec.absence;
  return report::Statement{"absence"}
      .with("does", std::string(to_string(what.does)))
      .with("patience", what.patience)
      .with("unbiased", what.estimate == spec::AbsenceSpec::Estimate::unbiased)
      .with("own_weights", context.run.spec.decentralised);
}

/// Of runs that pool their data.
Said pooling(const NoteContext& context) {
  if (sharing_of(context) != methods::Sharing::pooled) return {};
  return report::Statement{"pooling"};
}

/// Of runs that share nothing, own their weights or some of their layers; of accuracies only where there are any.
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

/// Of compressors that lose something, in both worlds.
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

/// Where another network is timed than learns, and the algorithm has something to say of that.
Said remark_on_timed(const NoteContext& context) {
  if (!context.of_other_network || !info_of(context).remark_on_timed) return {};
  return report::Statement{"remark-on-timed"}.with("text", info_of(context).remark_on_timed(context.timed.shape));
}

/// Of every run whose loss is no finite number at the end, or above ten times that of the untrained network.
Said divergence(const NoteContext& context) {
  if (!context.run.divergence) return {};
  const report::Divergence& how = *context.run.divergence;
  report::Statement statement{"divergence"};
  if (std::isfinite(how.loss)) return statement.with("loss", how.loss).with("loss_before", how.before);
  return statement.with("step", static_cast<double>(how.step)).with("event_driven", context.run.spec.event_driven);
}

/// Of every run that ends as good as a guess: whether its steps were too long or too short shows in its loss.
Said at_chance(const NoteContext& context) {
  if (context.nothing_learned || !report::ends_at_chance(context.run, context.learned.guess)) return {};
  return report::Statement{"at-chance"}
      .with("accuracy", context.run.final_accuracy)
      .with("chance", context.learned.guess.chance)
      .with("loss", context.run.curve.back().loss)
      .with("loss_before", context.run.curve.front().loss);
}

/// Where layers choose what they hand over.
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

/// Of runs without a barrier between their steps.
Said first_steps(const NoteContext& context) {
  const std::vector<double>& ends = context.run.first_steps;
  if (ends.empty()) return {};
  return report::Statement{"no-barrier"}
      .with("first_seconds", ends.front())
      .with("steps", static_cast<double>(ends.size()))
      .with("seconds", ends.back())
      .with("step_seconds", context.run.step_seconds);
}

/// Where a compression was there and never took anything away.
Said idle_compression(const NoteContext& context) {
  if (context.run.is_lossy.value_or(true)) return {};
  return report::Statement{"idle-compression"};
}

/// Where ranks stood at the limit of the network that learned.
Said censored_ranks(const NoteContext& context) {
  if (context.run.censored_layers == 0) return {};
  return report::Statement{"censored-ranks"}
      .with("layers", static_cast<double>(context.run.censored_layers))
      .with("of", count(std::ranges::count_if(context.timed.shape.layers, &spec::LayerShape::has_outer_product)));
}

/// Where more is done in a second than the peak of the devices has room for.
Said above_peak(const NoteContext& context) {
  if (!context.run.throughput || !context.run.throughput->above_peak) return {};
  return report::Statement{"above-peak"}
      .with("model_flops_utilisation", context.run.throughput->model_flops_utilisation.value())
      .with(*context.run.throughput->above_peak);
}

/// Where what is counted, with what an allocator holds beside it, is more than a device has.
Said tight_memory(const NoteContext& context) {
  constexpr double kReserve = 0.1;  // of what is counted: fragments, workspaces, buffers of collectives
  const double counted = context.run.memory.total();
  if (!(context.run.device_memory > 0) || (1 + kReserve) * counted <= context.run.device_memory) return {};
  return report::Statement{"tight-memory"}
      .with("bytes", counted)
      .with("reserve", kReserve)
      .with("device_bytes", context.run.device_memory);
}

/// Where what messages reveal was measured at some sites alone.
Said leak_of_sample(const NoteContext& context) {
  if (!context.run.leak || context.run.leak->sampled.empty()) return {};
  return report::Statement{"leak-of-sample"}
      .with("sites", count(std::ssize(context.run.leak->sampled)))
      .with("of", static_cast<double>(context.run.workers));
}

constexpr std::array<Note, 16> kNotes{
    order,     failures,   absence,     pooling,          own_networks,   compression, remark_on_timed, divergence,
    at_chance, statistics, first_steps, idle_compression, censored_ranks, above_peak,  tight_memory,    leak_of_sample};

}  // namespace

std::vector<report::Statement> notes_of(const NoteContext& context) {
  std::vector<report::Statement> notes;
  for (const Note note : kNotes) {
    // What the algorithm says of itself on the network that learned stands before what it says of the one that is
    // timed.
    if (note == remark_on_timed)
      notes.insert(notes.end(), context.learned.remarks.begin(), context.learned.remarks.end());
    if (Said said = note(context)) notes.push_back(*std::move(said));
  }
  return notes;
}

}  // namespace dadsim::study
