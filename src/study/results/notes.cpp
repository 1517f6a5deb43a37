#include "study/results/notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "algorithms/flexible/plan.hpp"
#include "algorithms/registry.hpp"
#include "compress/registry.hpp"
#include "protocols/registry.hpp"
#include "report/divergence.hpp"
#include "study/alternatives.hpp"
#include "support/human.hpp"

namespace dadsim::study {
namespace {

/// A note, or nothing where its law does not hold.
using Note = std::string (*)(const NoteContext&);

algorithms::Sharing sharing_of(const NoteContext& context) {
  return algorithms::algorithm_registry().at(context.run.spec.algorithm).sharing;
}

/// Of event-driven runs.
std::string order(const NoteContext& context) {
  if (!context.run.spec.event_driven) return {};
  return context.nothing_learned
             ? "the order of events was played on this cluster, and a step is an update of the model"
             : "the order of events decides what is learned: it was played on this cluster, and a step is an update of "
               "the model";
}

/// Of event-driven runs.
std::string failures(const NoteContext& context) {
  if (!context.run.spec.event_driven) return {};
  return "on a failure: " + protocols::protocol_registry().at(context.run.spec.algorithm).on_failure;
}

/// Of runs that pool their data.
std::string pooling(const NoteContext& context) {
  if (context.run.spec.event_driven || sharing_of(context) != algorithms::Sharing::pooled) return {};
  return "timed on the first worker alone, with the batches of all; the data are taken to be there already";
}

/// Of runs that share nothing, own their weights or some of their layers; of accuracies only where there are any.
std::string own_networks(const NoteContext& context) {
  if (context.run.spec.event_driven) return {};
  std::vector<std::string> parts;
  if (sharing_of(context) == algorithms::Sharing::own_weights) parts.emplace_back("every site has weights of its own");
  if (algorithms::has_own_layers(context.run.spec)) parts.emplace_back("some layers are each site's own");
  if (!context.nothing_learned && (!parts.empty() || sharing_of(context) == algorithms::Sharing::no_sharing))
    parts.emplace_back("accuracy is the mean over the sites' own networks");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

/// Of compressors that lose something, in both worlds.
std::string compression(const NoteContext& context) {
  const spec::CompressSpec& compress = context.run.spec.compress;
  const compress::CompressorInfo& compressor = compress::compressors().at(compress.method);
  if (compressor.lossless) return {};
  std::string text = fmt::format(
      "{} sent as {}", context.run.spec.event_driven ? "what is compressed is" : "matrices are", compressor.name);
  if (!context.nothing_learned) {
    text += " and learned as they arrive";
    if (compress.memory) text += ", with what was lost added to the next";
  }
  if (!context.run.spec.event_driven) text += "; what is learned beside them is sent as it is";
  return text;
}

/// Where the algorithm has something to say of itself on this network.
std::string remark(const NoteContext& context) { return context.learned.remark; }

/// Of edAD where another network is timed than learns: which deltas follow is a matter of the network.
std::string following_deltas(const NoteContext& context) {
  if (!context.of_other_network || context.run.spec.algorithm != "edad") return {};
  const std::vector<spec::LayerShape>& layers = context.timed.shape.layers;
  return fmt::format(
      "of the {} matrices of {}, the deltas of {} follow from the next one's and are recomputed; the others are sent",
      std::ranges::count_if(layers, &spec::LayerShape::has_outer_product), context.timed.shape.name,
      std::ranges::count_if(layers, &spec::LayerShape::delta_follows));
}

/// Of every run whose loss is no finite number at the end, or above ten times that of the untrained network.
std::string divergence(const NoteContext& context) {
  return context.run.divergence ? divergence_in_words(context.run) : std::string();
}

/// Where layers choose what they hand over.
std::string statistics(const NoteContext& context) {
  if (context.run.statistics.empty()) return {};
  return statistics_in_words(context.run.statistics, context.timed.shape.name);
}

/// Of runs without a barrier between their steps.
std::string first_steps(const NoteContext& context) {
  const std::vector<double>& ends = context.run.first_steps;
  if (ends.empty()) return {};
  return fmt::format("no barrier between steps: the first ends after {}, {} of them after {}; from then on {} each",
                     human_seconds(ends.front()), ends.size(), human_seconds(ends.back()),
                     human_seconds(context.run.step_seconds));
}

/// Where a compression was there and never took anything away.
std::string idle_compression(const NoteContext& context) {
  if (context.run.bites.value_or(true)) return {};
  return "its compression left nothing out of the network that learned: what was learned says nothing of the "
         "compression";
}

/// Where ranks stood at the limit of the network that learned.
std::string censored_ranks(const NoteContext& context) {
  if (context.run.censored_layers == 0) return {};
  return fmt::format(
      "ranks of {} of {} layers were at the limit of the network that learned, which tells nothing of layers that hold "
      "more: they are timed with the cap",
      context.run.censored_layers,
      std::ranges::count_if(context.timed.shape.layers, &spec::LayerShape::has_outer_product));
}

/// Where more is done in a second than the peak of the devices has room for.
std::string above_peak(const NoteContext& context) {
  if (!context.run.throughput || context.run.throughput->above_peak.empty()) return {};
  return fmt::format("it does {} of the devices' peak: {}",
                     human_percent(context.run.throughput->model_flops_utilisation.value()),
                     context.run.throughput->above_peak);
}

constexpr std::array<Note, 13> kNotes{
    order,      failures,   pooling,     own_networks,     compression,    remark,    following_deltas,
    divergence, statistics, first_steps, idle_compression, censored_ranks, above_peak};

}  // namespace

std::vector<std::string> notes_of(const NoteContext& context) {
  std::vector<std::string> notes;
  for (const Note note : kNotes) {
    if (std::string text = note(context); !text.empty()) notes.push_back(std::move(text));
  }
  return notes;
}

}  // namespace dadsim::study
