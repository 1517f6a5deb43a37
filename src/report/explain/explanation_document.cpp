#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/explain/explanation.hpp"
#include "report/run/over_seeds.hpp"
#include "report/run/result_document.hpp"
#include "report/run/table.hpp"
#include "report/text/paragraph.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr std::size_t kMostParts = 4;  // of each kind
constexpr double kNamed = 0.01;        // of the step: smaller parts are counted together

/// "twice as fast saves 23.2 %", and where that is next to nothing, why.
std::string check_in_words(const PartSaving& check) {
  std::string text;
  if (check.what_if != nullptr) {
    const bool latency = check.what_if->kind == WhatIf::Kind::latency;
    const std::string change = latency && check.what_if->on == "*" ? "half the latency of all links"
                               : check.with_others                 ? fmt::format("{} of all {}",
                                                                 latency ? "half the latency"
                                                                                         : "twice "
                                                                                           "the bandwidth",
                                                                                 check.what_if->on)
                               : latency                           ? "half the latency of its links"
                                                                   : "twice as fast";
    text = check.saving < -kLeastSaving ? fmt::format("{} takes {:.1f} % longer", change, -100 * check.saving)
                                        : fmt::format("{} saves {:.1f} %", change, 100 * std::max(0.0, check.saving));
  }
  const std::optional<Statement>& why = check.why_not ? check.why_not : check.why_more;
  if (!why) return text;
  return (text.empty() ? text : text + ": ") + in_words(*why);
}

std::string row_of_path(double share, double seconds, const std::string& words, std::size_t indent) {
  return wrapped(fmt::format("{}{}  {}  {}", std::string(indent, ' '), right_aligned(human_percent(share), 7),
                             right_aligned(human_seconds(seconds), 12), words),
                 table_width(), indent + 25);
}

/// By kind, and below each kind the resources that it lies on, with what making them faster would really save.
std::string critical_path(const Explanation& explanation, std::size_t index) {
  std::string text;
  for (const Cause& cause : causes_of(explanation.result.runs[index])) {
    text += row_of_path(cause.share, cause.seconds, cause_in_words(cause.kind), 4);
    double rest = 0;
    std::size_t others = 0;
    for (std::size_t i = 0; i < cause.parts.size(); ++i) {
      const Cause::Part& part = cause.parts[i];
      if (i >= kMostParts || part.share < kNamed) {
        rest += part.share;
        ++others;
        continue;
      }
      text += row_of_path(part.share, part.seconds,
                          fmt::format("{}: {}", resources_in_words(cause, part),
                                      check_in_words(saving_of_part(explanation, index, cause, part))),
                          6);
    }
    if (rest >= kLeastSaving)
      text += row_of_path(rest, rest / cause.share * cause.seconds, fmt::format("{} more", others), 6);
  }
  return text;
}

std::string change_text(double saving) {
  return fmt::format("{}{:.1f} %", saving > 0 ? "−" : "+", 100 * std::abs(saving));
}

std::string sensitivities(const Explanation& explanation, std::size_t run) {
  std::string text;
  std::size_t without_effect = 0;
  for (const WhatIf& what_if : explanation.what_ifs) {
    const double saving = saving_of(explanation, run, what_if);
    if (std::abs(saving) < kLeastSaving) {
      ++without_effect;
      continue;
    }
    const Effect& effect = what_if.effects[run];
    std::string to_target;
    if (!explanation.result.timing_only)
      to_target = right_aligned(effect.target_seconds ? human_seconds(*effect.target_seconds) : "–", 14);
    text += wrapped(fmt::format("    {}  {}{}  {}", right_aligned(change_text(saving), 9),
                                right_aligned(human_seconds(effect.step_seconds), 12), to_target, in_words(what_if)),
                    table_width(), to_target.empty() ? 29 : 43);
  }
  if (without_effect > 0) text += fmt::format("    changes that make no difference of 0.1 %: {}\n", without_effect);
  return text;
}

std::string advice(const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  const std::vector<const WhatIf*> best = most_useful(explanation, index, kMostUseful);
  if (best.empty()) return paragraph("  " + in_words(Statement{"nothing-helps"}), 4);
  std::string text;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const WhatIf& one = *best[i];
    const Effect& effect = one.effects[index];
    const bool target = run.target_reached && effect.target_seconds;
    text += paragraph(fmt::format("  {}. {}: {} {} → {}{}.", i + 1, in_words(one.change),
                                  target             ? "time to the target"
                                  : run.event_driven ? "a round"
                                                     : "a step",
                                  human_seconds(target ? run.target_seconds : run.step_seconds),
                                  human_seconds(target ? *effect.target_seconds : effect.step_seconds),
                                  one.assumption ? ", " + in_words(*one.assumption) : ""),
                      5);
  }
  return text;
}

/// What a run is held back by, and what would help it most.
std::string answer_on(const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  const std::vector<const WhatIf*> best = most_useful(explanation, index, 1);
  const std::string held =
      run.event_driven ? time_sentence(run) : fmt::format("{}: {}.", run.spec.label, causes_in_words(run));
  return best.empty() ? held + ' ' + in_words(Statement{"nothing-helps"})
                      : fmt::format("{} Most would help: {}, which saves {:.1f} %.", held, in_words(best[0]->change),
                                    100 * saving_of(explanation, index, *best[0]));
}

std::string text_on(const Explanation& explanation, std::size_t index) {
  const Result& result = explanation.result;
  const RunResult& run = result.runs[index];
  std::string text = run.spec.label + '\n';
  if (run.steps == 0) return text + paragraph("  " + in_words(Statement{"no-step"}), 4);
  text += paragraph(
      fmt::format("  {} takes {}: {} computing, {} waiting for the network or for others{}.",
                  run.event_driven ? "A round or update" : "A step", human_seconds(run.step_seconds),
                  human_seconds(run.compute_seconds), human_seconds(run.exposed_seconds),
                  run.target_reached
                      ? fmt::format("; {} steps to the target, {}", steps_cell(run),
                                    run.arrivals.size() > 1 ? time_cell(run) : human_seconds(run.target_seconds))
                  : result.timing_only ? ""
                                       : "; the target is not reached"),
      4);
  text += run.event_driven ? paragraph("  " + time_sentence(run), 4)
                           : "  On its critical path (share, time per step):\n" + critical_path(explanation, index);
  text += fmt::format("  What if (change of {}):\n",
                      result.timing_only ? fmt::format("the {0}; {0}", run.event_driven ? "round" : "step")
                                         : "the time to the target or of the step; step; time to the target");
  return text + sensitivities(explanation, index) + "  Most useful:\n" + advice(explanation, index);
}

/// The place of a change among the what-ifs; null where there is none.
DocumentValue index_of(const Explanation& explanation, const WhatIf* what_if) {
  return what_if == nullptr ? DocumentValue() : DocumentValue(what_if - explanation.what_ifs.data());
}

void add_run(TableRow row, const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  DocumentTable what_ifs;
  const auto add_saving = [&](TableRow& part_row, const Cause& cause, const Cause::Part& part) {
    const PartSaving check = saving_of_part(explanation, index, cause, part);
    part_row.add("tried", index_of(explanation, check.what_if))
        .add("saving_if_twice_as_fast", check.what_if != nullptr ? DocumentValue(check.saving) : DocumentValue())
        .add("why_not", check.why_not)
        .add("why_more", check.why_more);
  };
  for (const WhatIf& what_if : explanation.what_ifs) {
    const Effect& effect = what_if.effects.at(index);
    what_ifs.add_row()
        .add("kind", to_string(what_if.kind))
        .add("on", what_if.on)
        .add("factor", what_if.factor)
        .add("change", what_if.change)
        .add("assumption", what_if.assumption)
        .add("step_seconds", effect.step_seconds)
        .add("target_seconds", effect.target_seconds)
        .add("saving", saving_of(explanation, index, what_if));
  }
  std::vector<std::int64_t> useful;
  for (const WhatIf* best : most_useful(explanation, index, kMostUseful))
    useful.push_back(best - explanation.what_ifs.data());
  add_figures(row, run, explanation.result);
  row.add("critical_path", bounds_of(run))
      .add("causes", causes_table(run, add_saving))
      .add("what_if", what_ifs)
      .add("most_useful", useful);
}

/// Adds what the scripts of the page need beside the JSON: sentences, and which runs share.
void add_summary(TableRow row, const Result& result, const Answer& answer) {
  DocumentTable runs;
  for (const RunResult& run : result.runs)
    runs.add_row()
        .add("shares", run.spec.communicates)
        .add("event_driven", run.event_driven.has_value())
        .add("steps_to_target", run.target_reached ? DocumentValue(run.target_step) : DocumentValue())
        .add("words", run.steps == 0     ? in_words(Statement{"no-step"})
                      : run.event_driven ? time_sentence(run)
                                         : causes_in_words(run));
  row.add("runs", runs)
      .add("first", headline_run(result, answer))
      .add("target", result.target_accuracy)
      .add("learned", !result.timing_only);
}

}  // namespace

Document document_of(const Explanation& explanation) {
  const Result& result = explanation.result;
  const Answer answer = answer_to(result);
  Document document{result, headline_of(explanation, answer)};
  document.page = PageKind::explain;
  document.add("scenario.seed", result.seed);
  document.add("learned_on", result.learned_on);
  document.add("timed_as", result.timed_as);
  document.add("answer", object_of(answer, result));
  document.add("headline", document.answer);
  DocumentTable runs, summary{.object = true};
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    if (result.runs[i].steps > 0) document.lead.push_back(answer_on(explanation, i));
    document.print((i == 0 ? "" : "\n") + text_on(explanation, i));
    add_run(runs.add_row(), explanation, i);
  }
  document.add("runs", runs);
  document.add("links_left_out", explanation.links_left_out);
  document.print("\n");
  document.parts.push_back({.name = "notes", .shown = Shown::always, .what = explanation.notes});
  document.rests_on(background(result, false), Shown::brief);
  document.rests_on(background(result, true), Shown::verbose);
  add_summary(summary.add_row(), result, answer);
  document.parts.push_back({.name = "summary", .what = summary, .page_alone = true});
  return document;
}

}  // namespace dadsim::report
