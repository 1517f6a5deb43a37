#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <vector>

#include "estimate/bands.hpp"
#include "report/text/seconds.hpp"
#include "report/words/kinds.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string no_published_steps(const Statement& reason) {
  return fmt::format("no published results for {} are known here", reason.subject());
}

std::string batch_beyond_published(const Statement& reason) {
  return fmt::format(
      "published results for {} go from a global batch of {:.0f} to {:.0f}, and what a batch of {:.0f} needs cannot be "
      "read off from them",
      reason.subject(), reason.number("least_batch"), reason.number("most_batch"), reason.number("batch"));
}

constexpr const char* kOwnNetworkTimed = "nothing is timed but the network that learns";
constexpr const char* kOwnWorkload = "nobody has published results for a workload of one's own";

std::string steps_as_said(const Statement& source) {
  if (source.has("steps")) return fmt::format("{} steps as the scenario says", source.number("steps"));
  return fmt::format("{} epochs of {:.0f} samples as the scenario says", source.number("epochs"),
                     source.number("samples_per_epoch"));
}

std::string budget_as_said(const Statement& source) {
  return source.has("tokens") ? fmt::format("a budget of {} tokens", large_number_in_words(source.number("tokens")))
                              : fmt::format("a budget of {} samples", large_number_in_words(source.number("samples")));
}

std::string published_steps(const Statement& source) {
  const double samples = source.number("samples");
  const std::string amount = source.has("samples_per_epoch") ? fmt::format("{:.4g} epochs of {:.0f} samples",
                                                                           samples / source.number("samples_per_epoch"),
                                                                           source.number("samples_per_epoch"))
                                                             : fmt::format("{:.0f} samples", samples);
  const std::string list = fmt::format("{}", fmt::join(source.subjects, ", "));
  const std::vector<double>& batches = source.numbers("batches");
  const std::vector<double>& counts = source.numbers("results");
  const auto results = [&](std::size_t i) {
    return fmt::format("{:.0f} {}", counts.at(i), counts.at(i) == 1 ? "result" : "results");
  };
  if (batches.size() == 1) return fmt::format("{}, mean of {} at this batch: {}", amount, results(0), list);
  return fmt::format("{}, between {} at a batch of {:.0f} and {} at {:.0f}: {}", amount, results(0), batches.at(0),
                     results(1), batches.at(1), list);
}

std::string target_not_reached(const Statement& reason) {
  std::string text = reason.is("of_gradient_sharing") ? "gradient sharing" : "it";
  text += " did not reach the target";
  if (const double seeds = reason.number("seeds"); seeds > 1)
    text += fmt::format(" with {:.0f} of {:.0f} seeds", reason.number("seeds_missed"), seeds);
  if (reason.has("best_accuracy")) text += ": best " + human_percent(reason.number("best_accuracy"));
  return text;
}

constexpr const char* kMetBeforeTraining = "the target was met before the first step";
constexpr const char* kNothingLeftOut =
    "its compression left nothing out of the network that learned, which therefore cannot tell what it costs in steps; "
    "a larger batch, wider layers or a stronger compression could";
constexpr const char* kNothingMeasured = "nothing was learned that they could be measured on";

std::string step_as_measured(const Statement& basis) {
  return fmt::format("the step of {} as measured", basis.subject());
}

std::string rate_assumed(const Statement& basis) {
  return fmt::format("{} layers in {} on {} are assumed", basis.text("layers"), basis.text("precision"),
                     basis.subject());
}

std::string rate_calibrated(const Statement& basis) {
  return fmt::format("{} layers in {} on {} calibrated on {}", basis.text("layers"), basis.text("precision"),
                     basis.subject(), basis.text("source"));
}

constexpr const char* kCompressionAssumed = "what compression computes is assumed";

std::string as_its_category(const Statement& basis) { return estimate::error_category(basis.text("category")).meaning; }

std::string measured_step_is_shorter(const Statement& reason) {
  return fmt::format("the step that was measured on {} is shorter than that", reason.subject());
}

std::string step_as_recorded(const Statement& basis) {
  return fmt::format("the seconds of a recorded step, on '{}' as where it was recorded", basis.subject());
}

std::string fewer_multiplications(const Statement& reason) {
  return fmt::format(
      "3 × 3 convolutions take {:.3g} of the multiplications that are counted, by Winograd's minimal filtering",
      reason.number("share"));
}

constexpr const char* kFewerPasses =
    "the run computes less than the three passes that are counted, one forward and two backward";

std::string numbers_not_read(const Statement& reason) {
  return fmt::format(
      "{:.0f} of {:.0f} times the numbers of a site could not be read: they are neither rows nor a gradient of the "
      "first "
      "layer, or only their sum over sites is known",
      reason.number("unread"), reason.number("of"));
}

std::string messages_not_read(const Statement& reason) {
  return fmt::format("{:.0f} of {:.0f} messages are no numbers of a whole model or gradient", reason.number("unread"),
                     reason.number("of"));
}

constexpr const char* kDataInOnePlace = "all data are in one place before the first step";
constexpr const char* kNoMatrixOfRows = "the network has no matrix that multiplies rows";
constexpr const char* kFirstLayerNotSent = "nothing was sent of the first layer in the steps that were measured";
constexpr const char* kNothingToCompare = "there are no other samples to compare a batch with";
constexpr const char* kChangedData = "sites trained with data that had changed";
constexpr const char* kNoMessageByItself = "no message to it was a model or a gradient by itself";

std::string update_is_divided(const Statement& why) {
  return fmt::format("above 100 % since sharding divides the update: alone a worker computes {} a step, here {}",
                     human_seconds(why.number("alone_seconds")), human_seconds(why.number("compute_seconds")));
}

std::string computes_less(const Statement& why) {
  return fmt::format("above 100 % since a worker computes {} a step alone, and {} here",
                     human_seconds(why.number("alone_seconds")), human_seconds(why.number("compute_seconds")));
}

std::string waits_less(const Statement& why) {
  return fmt::format("above 100 % since a worker waits {} a step for messages alone, and {} here",
                     human_seconds(why.number("alone_seconds")), human_seconds(why.number("exposed_seconds")));
}

constexpr std::array kProvenance{
    StatementKind{"no-published-steps", "why the steps of a workload are not known: nobody has published any",
                  no_published_steps},
    StatementKind{"batch-beyond-published", "the same: nobody has at this batch", batch_beyond_published},
    StatementKind{"own-network-timed", "the same: no workload is timed", as_it_is<kOwnNetworkTimed>},
    StatementKind{"own-workload", "the same: it is the scenario's own", as_it_is<kOwnWorkload>},
    StatementKind{"steps-as-said", "where the steps of a workload are from: the scenario", steps_as_said},
    StatementKind{"budget-as-said", "the same: a budget of samples or tokens that the scenario says", budget_as_said},
    StatementKind{"published-steps", "the same: published results", published_steps},
    StatementKind{"target-not-reached", "why relative steps are not known: a target was missed", target_not_reached},
    StatementKind{"met-before-training", "the same: it was met at once", as_it_is<kMetBeforeTraining>},
    StatementKind{"nothing-left-out", "the same: the compression lost nothing here", as_it_is<kNothingLeftOut>},
    StatementKind{"nothing-measured", "the same: nothing was learned", as_it_is<kNothingMeasured>},
    StatementKind{"no-matrix-of-rows", "why it is not known what messages reveal: the network has no such layer",
                  as_it_is<kNoMatrixOfRows>},
    StatementKind{"data-in-one-place", "the same: data are pooled", as_it_is<kDataInOnePlace>},
    StatementKind{"numbers-not-read", "the same of an adversary: not all numbers could be read", numbers_not_read},
    StatementKind{"first-layer-not-sent", "the same: nothing of the first layer was sent",
                  as_it_is<kFirstLayerNotSent>},
    StatementKind{"no-samples-to-compare", "the same: a batch can be compared with nothing",
                  as_it_is<kNothingToCompare>},
    StatementKind{"messages-not-read", "the same of event-driven runs: not all messages could be read",
                  messages_not_read},
    StatementKind{"trained-with-changed-data", "the same: data had changed", as_it_is<kChangedData>},
    StatementKind{"no-message-by-itself", "the same: no message could be read", as_it_is<kNoMessageByItself>},
    StatementKind{"step-as-measured", "what the time of a device rests on: a measured step", step_as_measured},
    StatementKind{"step-as-recorded", "the same: a step that was recorded", step_as_recorded},
    StatementKind{"rate-assumed", "the same: an assumed rate", rate_assumed},
    StatementKind{"rate-calibrated", "the same: a rate that was calibrated", rate_calibrated},
    StatementKind{"compression-assumed", "what the time of compressing rests on", as_it_is<kCompressionAssumed>},
    StatementKind{"as-its-category", "what any other time rests on: what was measured of its category",
                  as_its_category},
    StatementKind{"update-is-divided", "why workers do more than each alone: sharding divides the update",
                  update_is_divided},
    StatementKind{"waits-less", "the same: it waits less for messages of its own devices", waits_less},
    StatementKind{"computes-less", "the same: for anything else", computes_less},
    StatementKind{"measured-step-is-shorter", "why devices do more than their peak: a measured step",
                  measured_step_is_shorter},
    StatementKind{"fewer-multiplications", "the same: convolutions that multiply less", fewer_multiplications},
    StatementKind{"fewer-passes", "the same: anything else", as_it_is<kFewerPasses>},
};

}  // namespace

std::span<const StatementKind> of_provenance() { return kProvenance; }

}  // namespace dadsim::report::words
