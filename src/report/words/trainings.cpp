#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "report/text/seconds.hpp"
#include "report/words/kinds.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string whole_count(const Statement& statement, const char* name) {
  return human_count(std::llround(statement.number(name)));
}

std::string near_name(const Statement& taken) {
  return fmt::format("'{}' is taken as {} ({}).", taken.subjects.at(0), taken.subjects.at(1), taken.text("why"));
}

std::string usual_system(const Statement& taken) {
  const bool several = taken.number("nodes") > 1;
  const bool whole = taken.number("gpus") == taken.number("of");
  std::string text = fmt::format("{} {} of {} {}", whole_count(taken, "nodes"), several ? "nodes" : "node",
                                 whole_count(taken, "gpus"), taken.subjects.at(0));
  if (taken.number("gpus") > 1) text += fmt::format(" over {}", taken.text("inside"));
  text += fmt::format(" ({}{})", whole ? "" : "a part of ", taken.subjects.at(1));
  if (several)
    text +=
        fmt::format(", {} {} each and one switch that never blocks", whole_count(taken, "adapters"), taken.text("nic"));
  return text + ".";
}

std::string usual_slice(const Statement& taken) {
  return fmt::format("{} {} in a torus of {} over {} (a slice of a {}).", whole_count(taken, "devices"),
                     taken.subjects.at(0), taken.text("dimensions"), taken.text("link"), taken.subjects.at(1));
}

std::string usual_batch(const Statement& taken) {
  std::string text = fmt::format("{} samples a step", whole_count(taken, "samples"));
  if (taken.has("tokens"))
    text += fmt::format(" of {} tokens, {} tokens in all", whole_count(taken, "sequence"),
                        large_number_in_words(taken.number("tokens")));
  return text + " (--global-batch).";
}

std::string usual_training(const Statement& taken) {
  return fmt::format("{}{} and AdamW.", taken.text("precision"), taken.is("attention") ? ", fused attention" : "");
}

std::string usual_price(const Statement& taken) {
  return fmt::format("{} costs {} an hour ({}, {}; --price).", taken.subject(),
                     money_in_words(taken.number("per_hour"), "USD"), taken.text("provider"), taken.text("date"));
}

std::string large_money(double money, const std::string& currency) {
  constexpr double kExact = 1e5;
  return money < kExact ? money_in_words(money, currency) : fmt::format("{} {}", rate_in_words(money), currency);
}

std::string sites_taken(const Statement& taken) {
  return fmt::format("{}, classes dealt unevenly, batches of {} a site, on {}; a hub at 1 Gbit/s.",
                     taken.is("digits") ? "Digits are learned" : "The table is learned", whole_count(taken, "batch"),
                     taken.subject());
}

std::string train_time(const Statement& answer) {
  const double seconds = answer.number("seconds");
  std::string text = fmt::format("{} tokens take {} {} {}", large_number_in_words(answer.number("tokens")),
                                 whole_count(answer, "devices"), answer.subjects.at(1), human_seconds(seconds));
  if (answer.has("low"))
    text += fmt::format(" ({} … {})", human_seconds(answer.number("low")), human_seconds(answer.number("high")));
  if (answer.has("money")) text += fmt::format(" and {}", large_money(answer.number("money"), answer.text("currency")));
  if (answer.has("within"))
    text += fmt::format("; {}: {}", human_seconds(answer.number("within")), answer.text("standing"));
  return text + ".";
}

std::string train_step(const Statement& answer) {
  std::string text =
      fmt::format("A step of {} samples of {} on {} {} takes {}", whole_count(answer, "samples"), answer.subjects.at(0),
                  whole_count(answer, "devices"), answer.subjects.at(1), human_seconds(answer.number("seconds")));
  if (answer.has("low"))
    text += fmt::format(" ({} … {})", human_seconds(answer.number("low")), human_seconds(answer.number("high")));
  const bool tokens = answer.has("tokens_per_second");
  if (tokens || answer.has("samples_per_second"))
    text += fmt::format(": {} {}/s", rate_in_words(answer.number(tokens ? "tokens_per_second" : "samples_per_second")),
                        tokens ? "tokens" : "samples");
  if (answer.has("utilisation")) text += fmt::format(", MFU {}", human_percent(answer.number("utilisation")));
  text += fmt::format(", {}", human_bytes(answer.number("bytes")));
  if (answer.number("device_bytes") > 0)
    text += fmt::format(" of {} of memory", human_bytes(answer.number("device_bytes")));
  return text + ".";
}

std::string train_layout(const Statement& answer) { return fmt::format("Best layout: {}.", in_words(answer.part())); }

std::string train_next(const Statement& answer) {
  std::vector<std::string> layouts;
  for (const Statement& one : answer.parts)
    layouts.push_back(fmt::format("{} (+{})", in_words(one), human_percent(one.number("gap"))));
  return fmt::format("Next: {}.", fmt::join(layouts, "; "));
}

std::string train_help(const Statement& answer) {
  const std::string& part = answer.text("part");
  const std::string larger = fmt::format("a larger batch (--global-batch {})", whole_count(answer, "samples"));
  const std::string what = part == "computing" ? "computing"
                           : part == "tensor"  ? "sums among the devices of a layer"
                           : part == "bubble"  ? "the pipeline's bubble"
                                               : "gradients and parameters among replicas";
  const std::string help = part == "computing" ? (answer.is("fp8") ? "fewer bits (--precision fp8) or quicker devices"
                                                                   : "more or quicker devices")
                           : part == "tensor"  ? "a quicker link inside a node (--inside)"
                           : part == "bubble"  ? larger
                                               : "a quicker adapter (--nic) or " + larger;
  return fmt::format("Most of a step is {} ({:.0f} %): {} would help most.", what, 100 * answer.number("share"), help);
}

constexpr std::array kTrainings{
    StatementKind{"near-name", "a name that was typed is taken for one of a catalogue", near_name},
    StatementKind{"usual-system", "in which nodes devices stand where nobody said it", usual_system},
    StatementKind{"usual-slice", "the torus in which devices of a pod stand where nobody said it", usual_slice},
    StatementKind{"usual-batch", "how many samples a step has where nobody said it", usual_batch},
    StatementKind{"usual-training", "in which arithmetic a network is trained, and by which optimizer", usual_training},
    StatementKind{"usual-price", "what a device costs where nobody said it", usual_price},
    StatementKind{"sites-taken", "what sites learn and on what, where nobody said it", sites_taken},
    StatementKind{"train-time", "what a budget of tokens takes and costs, and how that stands to a limit", train_time},
    StatementKind{"train-step", "what a step of the quickest layout takes, gets done and needs", train_step},
    StatementKind{"train-layout", "the quickest layout: a part of the sentence", train_layout},
    StatementKind{"train-next", "the next layouts, parts of the sentence, with how much longer they take", train_next},
    StatementKind{"train-help", "the largest part of a step, and what makes it smaller", train_help},
};

}  // namespace

std::span<const StatementKind> of_trainings() { return kTrainings; }

}  // namespace dadsim::report::words
