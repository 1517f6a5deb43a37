#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string event_order(const Statement& note) {
  return fmt::format("the order of events {}is that of this cluster, and a step is an update of the model",
                     note.is("learned") ? "decides what is learned: it " : "");
}

std::string on_failure(const Statement& note) { return "on a failure: " + note.text("does"); }

std::string pooling(const Statement& /*note*/) {
  return "timed on the first worker alone, with the batches of all; its data are assumed to be there";
}

std::string own_networks(const Statement& note) {
  std::vector<const char*> parts;
  if (note.is("own_weights")) parts.push_back("every site has weights of its own");
  if (note.is("own_layers")) parts.push_back("some layers are each site's own");
  if (note.is("mean_accuracy")) parts.push_back("accuracy is the mean over the sites' own networks");
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string compression(const Statement& note) {
  const bool event_driven = note.is("event_driven");
  std::string text =
      fmt::format("{} sent as {}", event_driven ? "what is compressed is" : "matrices are", note.subject());
  if (note.is("learned")) {
    text += " and learned as they arrive";
    if (note.is("memory")) text += "; what was lost is added to the next message";
  }
  if (!event_driven) text += "; other parameters are sent as they are";
  return text;
}

std::string remark(const Statement& note) { return note.text("text"); }

std::string ranks_at_cap(const Statement& note) {
  return fmt::format(
      "its ranks are taken to be at their cap, {:.0f}, wherever a layer allows: what it sends and computes is an upper "
      "bound",
      note.number("cap"));
}

std::string learned_as(const Statement& note) {
  return fmt::format("learned as '{}' did: both are exact, and would differ by rounding", note.subject());
}

std::string divergence(const Statement& note) {
  if (note.has("loss")) {
    return fmt::format("diverged: the loss is {:.3g} at the end, and was {:.3g} before training", note.number("loss"),
                       note.number("loss_before"));
  }
  return fmt::format("diverged: the loss was no longer a finite number after {} {:.0f}",
                     note.is("event_driven") ? "update" : "step", note.number("step"));
}

/// `note`: on a run, or on the runs that an answer names, whose own notes say more.
std::string at_chance(const Statement& note) {
  if (!note.subjects.empty())
    return listed(note.subjects) + ": the accuracy at the end is that of a guess; a note says what to change.";
  constexpr double kRose = 1.05;
  const bool rose = note.number("loss") > kRose * note.number("loss_before");
  return fmt::format(
      "ends at chance: it is right in {}, and the most frequent class is in {}; its loss went from {:.3g} to "
      "{:.3g}, which asks for {}",
      human_percent(note.number("accuracy")), human_percent(note.number("chance")), note.number("loss_before"),
      note.number("loss"), rose ? "a smaller learning-rate" : "more epochs or a larger learning-rate");
}

std::string layer_statistics(const Statement& note) {
  constexpr std::size_t kMostNames = 3;
  const std::vector<std::string>& names = note.texts("layers");
  const std::vector<std::string>& statistics = note.texts("statistics");
  std::map<std::string, std::vector<std::string>> layers;
  for (std::size_t i = 0; i < names.size(); ++i) layers[statistics.at(i)].push_back(names[i]);
  std::vector<std::string> texts;
  for (const auto& [statistic, of] : layers) {
    const auto end = of.begin() + static_cast<std::ptrdiff_t>(std::min(of.size(), kMostNames));
    texts.push_back(fmt::format("{} for {} of {} layers ({}{})", statistic, of.size(), names.size(),
                                fmt::join(of.begin(), end, ", "), end == of.end() ? "" : " …"));
  }
  return fmt::format("what sites hand over of {}: {}", note.subject(), fmt::join(texts, "; "));
}

std::string no_barrier(const Statement& note) {
  return fmt::format("no barrier between steps: the first ends after {}, {:.0f} of them after {}; from then on {} each",
                     human_seconds(note.number("first_seconds")), note.number("steps"),
                     human_seconds(note.number("seconds")), human_seconds(note.number("step_seconds")));
}

std::string idle_compression(const Statement& /*note*/) {
  return "its compression lost nothing of the network that learned: what it costs in steps is not known";
}

std::string censored_ranks(const Statement& note) {
  return fmt::format(
      "ranks of {:.0f} of {:.0f} layers were at the limit of the network that learned; larger layers may hold more, so "
      "they are timed with the cap",
      note.number("layers"), note.number("of"));
}

std::string above_peak(const Statement& note) {
  return fmt::format("it does {} of the devices' peak: {}", human_percent(note.number("model_flops_utilisation")),
                     in_words(note.part()));
}

std::string tight_memory(const Statement& note) {
  return fmt::format(
      "it may not fit: it needs {}, and {} of that for fragments and workspaces, and a device has {}; whoever "
      "ran such a job computed more again, or kept less",
      human_bytes(note.number("bytes")), human_percent(note.number("reserve")),
      human_bytes(note.number("device_bytes")));
}

std::string absence(const Statement& note) {
  const std::string& does = note.text("does");
  std::string text;
  if (does == "wait") text = "a step waits until all sites are there";
  if (does == "restart") text = "a step waits until all sites are there, and all go on from the last checkpoint";
  if (does == "without") text = "a step is taken by those that are there";
  if (does == "retry") {
    text = fmt::format("a step waits {} for those that are away, and is then taken by those that are there",
                       human_seconds(note.number("patience")));
  }
  if (does == "without" || does == "retry") {
    text += note.is("unbiased")      ? ", each part weighed by one over the chance that its site is there"
            : note.is("own_weights") ? ""
                                     : ", whose parts add up to one";
  }
  return text + (note.is("own_weights") ? "; who is back goes on with the weights that it had"
                                        : "; who is back gets the model first");
}

std::string leak_of_sample(const Statement& note) {
  return fmt::format("what messages reveal was measured at {:.0f} of {:.0f} sites", note.number("sites"),
                     note.number("of"));
}

constexpr std::array kNotes{
    StatementKind{"event-order", "of event-driven runs", event_order},
    StatementKind{"on-failure", "of event-driven runs", on_failure},
    StatementKind{"absence", "sites may be missing from its steps", absence},
    StatementKind{"pooling", "of runs that pool their data", pooling},
    StatementKind{"own-networks", "of runs that share nothing, or whose sites own weights or layers", own_networks},
    StatementKind{"compression", "of compressors that lose something", compression},
    StatementKind{"remark", "the method has something to say of itself on this network", remark},
    StatementKind{"ranks-at-cap", "nothing was learned, and what would be found out of its ranks was not",
                  ranks_at_cap},
    StatementKind{"learned-as", "another exact run learned for it", learned_as},
    StatementKind{"remark-on-timed", "the same, of the network that is timed, where that is another one", remark},
    StatementKind{"divergence", "the loss is no finite number at the end, or above ten times that before training",
                  divergence},
    StatementKind{"at-chance",
                  "the accuracy at the end is that of a guess within two standard deviations, and so is the loss",
                  at_chance},
    StatementKind{"layer-statistics", "layers choose what sites hand over", layer_statistics},
    StatementKind{"no-barrier", "of runs without a barrier between their steps", no_barrier},
    StatementKind{"idle-compression", "a compression never took anything away", idle_compression},
    StatementKind{"censored-ranks", "ranks stood at the limit of the network that learned", censored_ranks},
    StatementKind{"above-peak", "more is done in a second than the peak of the devices has room for", above_peak},
    StatementKind{"tight-memory", "what is counted, and a tenth, is more than a device has", tight_memory},
    StatementKind{"leak-of-sample", "what messages reveal was measured at some sites alone", leak_of_sample},
};

}  // namespace

std::span<const StatementKind> of_runs() { return kNotes; }

}  // namespace dadsim::report::words
