#include "report/explain/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

#include "report/run/over_seeds.hpp"
#include "report/run/result_document.hpp"
#include "report/run/table.hpp"
#include "report/text/text_blocks.hpp"
#include "report/words/phrases.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr double kConfirmed = 0.25;   // a saving below this multiple of (share / 2) is tiny
constexpr double kSurprising = 1.25;  // a saving above this multiple of (share / 2) is surprising
constexpr double kSmall = 0.005;      // share of the time; smaller differences need no reason

class PartChecker {
 public:
  PartChecker(const Explanation& explanation, std::size_t run) : explanation_(explanation), run_(run) {}

  PartSaving check(const Cause& cause, const Cause::Part& part) const {
    PartSaving check;
    check.what_if = tried(cause, part);
    if (check.what_if == nullptr) {
      check.why_not = Statement{cause.kind == "compute"     ? "others-are-waited-for"
                                : cause.kind == "bandwidth" ? "rarely-busy"
                                                            : "no-latency-changed"};
      return check;
    }
    check.saving = saving(*check.what_if);
    const bool of_links =
        check.what_if->kind == WhatIf::Kind::bandwidth || check.what_if->kind == WhatIf::Kind::latency;
    check.with_others = of_links && check.what_if->on != name_of_link(part.pattern) && check.what_if->on != "*" &&
                        part.resources == 1 && check.what_if->on.find('#') != std::string::npos;
    if (check.saving < kConfirmed * part.share / 2) check.why_not = why_not(cause, part, check.saving);
    if (check.saving > kSurprising * share_of(cause, *check.what_if) / 2 + kSmall) check.why_more = why_more(cause);
    return check;
  }

  /// Returns the reason if a change of links saves clearly more than half of the critical path's share of its kind.
  std::optional<Statement> why_more(const WhatIf& change) const {
    if (change.kind != WhatIf::Kind::bandwidth && change.kind != WhatIf::Kind::latency) return std::nullopt;
    const std::vector<Cause> causes = causes_of(explanation_.result.runs[run_]);
    const auto cause = std::ranges::find(causes, to_string(change.kind), &Cause::kind);
    if (cause == causes.end() || saving(change) <= kSurprising * cause->share / 2 + kSmall) return std::nullopt;
    return why_more(*cause);
  }

 private:
  double saving(const WhatIf& what_if) const { return saving_of(explanation_, run_, what_if); }

  const WhatIf* find(WhatIf::Kind kind, const std::string& on) const {
    const auto found = std::ranges::find_if(explanation_.what_ifs,
                                            [&](const WhatIf& one) { return one.kind == kind && one.on == on; });
    return found == explanation_.what_ifs.end() ? nullptr : &*found;
  }

  /// Returns the change of a kind that saves most; null if none was tried.
  const WhatIf* best(WhatIf::Kind kind) const {
    const WhatIf* best = nullptr;
    for (const WhatIf& one : explanation_.what_ifs) {
      if (one.kind == kind && (best == nullptr || saving(one) > saving(*best))) best = &one;
    }
    return best;
  }

  static std::string group_of(const Cause::Part& part) { return with_numbers_open(name_of_link(part.pattern)); }

  const WhatIf* tried(const Cause& cause, const Cause::Part& part) const {
    if (cause.kind == "bandwidth") {
      const WhatIf* alone = part.resources == 1 ? find(WhatIf::Kind::bandwidth, name_of_link(part.pattern)) : nullptr;
      return alone != nullptr ? alone : find(WhatIf::Kind::bandwidth, group_of(part));
    }
    if (cause.kind == "compute") return part.device.empty() ? nullptr : find(WhatIf::Kind::device, part.device);
    if (cause.kind == "framework") return best(WhatIf::Kind::framework);
    if (cause.kind == "queueing") {
      // TCP windows depend on round trips, so the best change of the queue's own link or of the whole path counts.
      const WhatIf* best_of_all = nullptr;
      for (const auto& [kind, on] :
           {std::pair{WhatIf::Kind::latency, group_of(part)}, std::pair{WhatIf::Kind::bandwidth, group_of(part)},
            std::pair{WhatIf::Kind::latency, std::string("*")}}) {
        const WhatIf* one = find(kind, on);
        if (one != nullptr && (best_of_all == nullptr || saving(*one) > saving(*best_of_all))) best_of_all = one;
      }
      return best_of_all;
    }
    // Latency of a route is on links of several kinds, so the change of all links comes first.
    const WhatIf* all = find(WhatIf::Kind::latency, "*");
    return all != nullptr ? all : best(WhatIf::Kind::latency);
  }

  /// Returns the share of the critical path that has this cause and that the change shortens.
  double share_of(const Cause& cause, const WhatIf& what_if) const {
    double share = 0;
    for (const Cause::Part& part : cause.parts)
      if (tried(cause, part) == &what_if) share += part.share;
    return share;
  }

  /// Returns the reason for a surprising saving. A critical path attributes every second to one cause, but a changed
  /// cause can shorten other parts too.
  Statement why_more(const Cause& cause) const {
    if (cause.kind == "compute") return Statement{"waiting-shortens-too"};
    if (!is_over_tcp()) return Statement{"messages-come-sooner"};
    if (cause.kind != "latency") return Statement{"queues-shorten-too"};
    Statement why = Statement{"windows-grow-faster"}.with("share", cause.share);
    for (const Cause& other : causes_of(explanation_.result.runs[run_]))
      if (other.kind == "queueing") why.with("queueing", other.share);
    return why;
  }

  bool is_over_tcp() const {
    return std::ranges::any_of(explanation_.result.runs[run_].network.links,
                               [](const auto& link) { return link.transport.starts_with("tcp"); });
  }

  /// Returns the share of time that waits for any part of the network.
  double network_share() const {
    double share = 0;
    for (const Cause& cause : causes_of(explanation_.result.runs[run_])) {
      if (cause.kind == "bandwidth" || cause.kind == "latency" || cause.kind == "queueing") share += cause.share;
    }
    return share;
  }

  /// A change that helps where the part's own change does not, and the conclusion about the part.
  struct Evidence {
    const WhatIf* what_if = nullptr;
    Statement reason;
  };

  /// Returns the reason that belongs to the change with the largest saving.
  std::optional<Statement> best_reason(const Cause::Part& part, double saved) const {
    const std::string group = group_of(part);
    const Statement by_round_trips = Statement{"held-by-round-trips"}.with("tcp", is_over_tcp());
    Evidence best = std::ranges::max(
        std::vector<Evidence>{
            {find(WhatIf::Kind::bandwidth, group), Statement{"others-as-tight"}.with("of_its_kind", true)},
            {find(WhatIf::Kind::bandwidth, "*"), Statement{"others-as-tight"}.with("of_its_kind", false)},
            {find(WhatIf::Kind::latency, group), by_round_trips},
            {find(WhatIf::Kind::latency, "*"), by_round_trips}},
        {}, [&](const Evidence& one) { return one.what_if == nullptr ? -1.0 : saving(*one.what_if); });
    if (best.what_if == nullptr || saving(*best.what_if) <= std::max(2 * saved, kLeastSaving)) return std::nullopt;
    return best.reason.with("saving", saving(*best.what_if)).with(best.what_if->change);
  }

  Statement why_not(const Cause& cause, const Cause::Part& part, double saved) const {
    if (saved < -kLeastSaving) return Statement{"slower-when-faster"}.with("tcp", is_over_tcp());
    if (cause.kind == "compute" || cause.kind == "framework") return {"rest-is-waited-for"};
    if (cause.kind == "bandwidth") {
      if (std::optional<Statement> reason = best_reason(part, saved)) return *std::move(reason);
    }
    const WhatIf* without_network = find(WhatIf::Kind::limit, "network");
    if (without_network != nullptr && saving(*without_network) < network_share() / 2)
      return Statement{"beyond-the-links"}.with("saving", saving(*without_network));
    if (cause.kind == "queueing") return {"queue-untried"};
    if (cause.kind == "latency") return {"protocols-take-most"};
    return {is_over_tcp() ? "held-by-windows" : "others-take-as-long"};
  }

  const Explanation& explanation_;
  std::size_t run_;
};

constexpr double kWorthAdvising = 0.01;  // share of the time
constexpr double kWorthNaming = 0.05;    // share of the step

/// Returns the share of a run's time saved: of the time to the target if both runs reach it, else of a step.
double saving(const RunResult& run, const Effect& effect) {
  if (run.target_reached && effect.target_seconds && run.target_seconds > 0)
    return 1 - *effect.target_seconds / run.target_seconds;
  return run.step_seconds > 0 ? 1 - effect.step_seconds / run.step_seconds : 0;
}

constexpr std::size_t kMostParts = 4;  // largest number of parts named per kind
constexpr double kNamed = 0.01;        // share of the step; smaller parts are counted together

/// Returns "twice as fast saves 23.2 %", with a reason if the saving is tiny or surprisingly large.
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

/// Returns the critical path as text, by kind, and below each kind its resources, with the real saving of faster ones.
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
  if (without_effect > 0) text += fmt::format("    changes with less than 0.1 % difference: {}\n", without_effect);
  return text;
}

/// Returns the effect of a change on a run: "time to the target 30.0 s → 18.0 s".
std::string effect_in_words(const RunResult& run, const Effect& effect) {
  const bool target = run.target_reached && effect.target_seconds;
  return fmt::format("{} {} → {}",
                     target             ? "time to the target"
                     : run.event_driven ? "a round"
                                        : "a step",
                     human_seconds(target ? run.target_seconds : run.step_seconds),
                     human_seconds(target ? *effect.target_seconds : effect.step_seconds));
}

std::string advice(const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  const std::vector<const WhatIf*> best = most_useful(explanation, index, kMostUseful);
  if (best.empty()) return paragraph("  " + in_words(Statement{"nothing-helps"}), 4);
  std::string text;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const WhatIf& one = *best[i];
    text +=
        paragraph(fmt::format("  {}. {}: {}{}.", i + 1, in_words(one.change), effect_in_words(run, one.effects[index]),
                              one.assumption ? ", " + in_words(*one.assumption) : ""),
                  5);
  }
  return text;
}

/// Returns a sentence on the cause that limits a run, and on the most useful change.
std::string answer_on(const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  const std::vector<const WhatIf*> best = most_useful(explanation, index, 1);
  const std::string held =
      run.event_driven ? time_sentence(run) : fmt::format("{}: {}.", run.spec.label, causes_in_words(run));
  return best.empty() ? held + ' ' + in_words(Statement{"nothing-helps"})
                      : fmt::format("{} The most useful change: {}; it saves {:.1f} %.", held,
                                    in_words(best[0]->change), 100 * saving_of(explanation, index, *best[0]));
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
  text += fmt::format("  What if ({}):\n",
                      result.timing_only ? fmt::format("change; time of the {0}", run.event_driven ? "round" : "step")
                                         : "change; time of a step; time to the target");
  return text + sensitivities(explanation, index) + "  Most useful:\n" + advice(explanation, index);
}

/// Returns the index of a change among the what-ifs; null if there is none.
DocumentValue index_of(const Explanation& explanation, const WhatIf* what_if) {
  return what_if == nullptr ? DocumentValue() : DocumentValue(what_if - explanation.what_ifs.data());
}

void add_run(TableRow row, const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  DocumentTable what_ifs;
  const auto add_saving = [&](TableRow& part_row, const Cause& cause, const Cause::Part& part) {
    const PartSaving check = saving_of_part(explanation, index, cause, part);
    part_row.add("tried", index_of(explanation, check.what_if), "saving_if_twice_as_fast",
                 check.what_if != nullptr ? DocumentValue(check.saving) : DocumentValue(), "why_not", check.why_not,
                 "why_more", check.why_more);
  };
  for (const WhatIf& what_if : explanation.what_ifs) {
    const Effect& effect = what_if.effects.at(index);
    const auto [least, most] = saving_between(explanation, index, what_if);
    what_ifs.add_row().add("kind", to_string(what_if.kind), "on", what_if.on, "factor", what_if.factor, "change",
                           what_if.change, "assumption", what_if.assumption, "step_seconds", effect.step_seconds,
                           "target_seconds", effect.target_seconds, "saving", saving_of(explanation, index, what_if),
                           "saving_low", least, "saving_high", most);
  }
  std::vector<std::int64_t> useful;
  for (const WhatIf* best : most_useful(explanation, index, kMostUseful))
    useful.push_back(best - explanation.what_ifs.data());
  add_figures(row, run, explanation.result);
  row.add("critical_path", bounds_of(run), "causes", causes_table(run, add_saving), "what_if", what_ifs, "most_useful",
          useful);
}

/// Returns "saves 23.2 %", "takes 4.0 % longer" or "no difference".
std::string saving_in_words(double saving) {
  if (saving < -kLeastSaving) return fmt::format("takes {} longer", human_percent(-saving));
  return saving < kLeastSaving ? "no difference" : fmt::format("saves {}", human_percent(saving));
}

/// Adds the columns with the run's most useful changes to a table of all runs.
void add_useful(DocumentTable& table, const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  const std::vector<const WhatIf*> best = most_useful(explanation, index, kMostUseful);
  if (best.empty())
    table.add_row().say("run", run.spec.label, "change", in_words(Statement{"nothing-helps"}), "effect", "", "saving",
                        "");
  for (const WhatIf* one : best)
    table.add_row().say("run", run.spec.label, "change", in_words(*one), "effect",
                        effect_in_words(run, one->effects[index]), "saving",
                        saving_in_words(saving_of(explanation, index, *one)));
}

/// Returns the causes on a run's critical path, each with its parts.
DocumentTable path_table(const Explanation& explanation, std::size_t index) {
  DocumentTable table;
  const auto add = [&](const std::string& cause, double share, double seconds, const std::string& saving,
                       const std::string& why) {
    table.add_row().say("cause", cause, "share", share_in_words(share), "time per step", human_seconds(seconds),
                        "twice as fast", saving, "why the saving is small or large", why);
  };
  for (const Cause& cause : causes_of(explanation.result.runs[index])) {
    add(cause_in_words(cause.kind), cause.share, cause.seconds, "", "");
    Cause::Part rest;
    rest.resources = 0;
    for (const Cause::Part& part : cause.parts) {
      if (part.share < kNamed) {
        rest.seconds += part.seconds;
        rest.share += part.share;
        ++rest.resources;
        continue;
      }
      const PartSaving check = saving_of_part(explanation, index, cause, part);
      const std::optional<Statement>& why = check.why_not ? check.why_not : check.why_more;
      add("– " + resources_in_words(cause, part), part.share, part.seconds,
          check.what_if == nullptr ? "not tried" : saving_in_words(check.saving), why ? in_words(*why) : "");
    }
    if (rest.seconds > 0 && rest.resources < cause.parts.size())
      add(fmt::format("– {} more, each under 1 %", rest.resources), rest.share, rest.seconds, "", "");
  }
  return table;
}

/// Returns why a change of some links or devices has no effect, based on the critical path's parts that it changes.
std::string why_idle(const Explanation& explanation, std::size_t index, const WhatIf& what_if) {
  if (what_if.on.empty() || what_if.on == "*") return {};
  for (const Cause& cause : causes_of(explanation.result.runs[index]))
    for (const Cause::Part& part : cause.parts)
      if (part.pattern.starts_with(what_if.on))
        if (const auto why = saving_of_part(explanation, index, cause, part).why_not) return in_words(*why);
  return {};
}

/// Adds the changes of a run, the most useful first: a bar for each change with an effect, and a table of all.
void add_changes(Document& document, const Explanation& explanation, std::size_t index) {
  const RunResult& run = explanation.result.runs[index];
  const auto saving_by = [&](const WhatIf* one) { return saving_of(explanation, index, *one); };
  std::vector<const WhatIf*> sorted;
  for (const WhatIf& one : explanation.what_ifs) sorted.push_back(&one);
  std::ranges::stable_sort(sorted, std::greater<>(), saving_by);
  DocumentTable table;
  Chart chart{
      .name = "left-" + run.spec.label,
      .title = "Time with each change of " + run.spec.label,
      .kind = Chart::Kind::bars,
      .y = {run.target_reached ? "share of the time to the target" : "share of the time of a step", Unit::share},
      .above = "Share of the time that each change leaves; the change that saves most comes first.",
      .choice = "Run"};
  std::vector<double> left;
  for (const WhatIf* one : sorted) {
    const double saving = saving_by(one);
    const Effect& effect = one->effects[index];
    const bool idle = std::abs(saving) < kLeastSaving;
    table.add_row().say("change", in_words(*one), "saving", saving_in_words(saving), "a step",
                        human_seconds(effect.step_seconds), explanation.result.timing_only ? "" : "to the target",
                        effect.target_seconds ? human_seconds(*effect.target_seconds) : "–", "kind",
                        one->kind == WhatIf::Kind::batch   ? "batch (a guess: its steps are not simulated)"
                        : one->kind == WhatIf::Kind::limit ? "limit: no change can save more"
                                                           : to_string(one->kind),
                        "why not", idle ? why_idle(explanation, index, *one) : "");
    if (idle) continue;
    chart.names.push_back(in_words(*one));
    left.push_back(1 - saving);
  }
  chart.add_bars("left of the time", left);
  if (!left.empty()) document.charts.push_back(std::move(chart));
  document.parts.push_back(
      {.shown = Shown::page,
       .heading = fmt::format("All changes tried for {} ({} now), the largest saving first", run.spec.label,
                              human_seconds(run.target_reached ? run.target_seconds : run.step_seconds)),
       .what = std::move(table)});
}

/// Adds the parts of the page: the causes of each run's time, and the savings of each change.
void add_page(Document& document, const Explanation& explanation) {
  const Result& result = explanation.result;
  document.command = "dadsim explain";
  document.setting = setting_of(result, !result.timing_only);
  document.facts = {{"Seed", fmt::format("{}", result.seed)}};
  if (!result.timing_only)
    document.facts.emplace_back("Target", "accuracy " + words::accuracy_in_words(result.target_accuracy));
  document.charts = {step_parts(result, false)};
  document.charts.front().above = "The critical path of a step by cause, run by run.";
  DocumentTable facts, useful;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    const RunResult& run = result.runs[i];
    facts.add_row().add("about", run.spec.label, "words",
                        run.steps == 0     ? in_words(Statement{"no-step"})
                        : run.event_driven ? time_sentence(run)
                                           : causes_in_words(run));
    if (run.steps > 0) add_useful(useful, explanation, i);
  }
  document.parts.push_back({.name = "facts", .what = std::move(facts), .page_alone = true});
  document.parts.push_back({.shown = Shown::page,
                            .heading = "The changes that save most, each simulated; of changes to links, only the best",
                            .what = std::move(useful)});
  document.print(
      "The critical path shows the waits of this step, not those of a changed step. Each "
      "part therefore has a simulated saving, as if the part were twice as fast. A "
      "reason follows if this saving is far from half of the part's share.",
      Shown::page);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    if (result.runs[i].steps == 0) continue;
    document.parts.push_back(
        {.shown = Shown::page,
         .heading = fmt::format("On the critical path of {}; “twice as fast” is twice the bandwidth, half the latency, "
                                "or a device of twice the speed",
                                result.runs[i].spec.label),
         .what = path_table(explanation, i)});
    add_changes(document, explanation, i);
  }
}

}  // namespace

PartSaving saving_of_part(const Explanation& explanation, std::size_t run, const Cause& cause,
                          const Cause::Part& part) {
  return PartChecker(explanation, run).check(cause, part);
}

const char* to_string(WhatIf::Kind kind) {
  using enum WhatIf::Kind;
  static constexpr std::pair<WhatIf::Kind, const char*> kNames[] = {
      {bandwidth, "bandwidth"}, {latency, "latency"},     {device, "device"}, {batch, "batch"},
      {overlap, "overlap"},     {framework, "framework"}, {limit, "limit"}};
  return std::ranges::find(kNames, kind, &std::pair<WhatIf::Kind, const char*>::first)->second;
}

std::string in_words(const WhatIf& what_if) {
  const std::string words = in_words(what_if.change);
  return what_if.assumption ? fmt::format("{} ({})", words, in_words(*what_if.assumption)) : words;
}

double saving_of(const Explanation& explanation, std::size_t run, const WhatIf& what_if) {
  return saving(explanation.result.runs.at(run), what_if.effects.at(run));
}

std::pair<double, double> saving_between(const Explanation& explanation, std::size_t run, const WhatIf& what_if) {
  const double ratio = 1 - saving_of(explanation, run, what_if);
  const estimate::Band& band = what_if.effects.at(run).band;
  return {1 - ratio * band.high, 1 - ratio * band.low};
}

std::vector<const WhatIf*> most_useful(const Explanation& explanation, std::size_t run, std::size_t count) {
  std::vector<const WhatIf*> candidates;
  for (const WhatIf& what_if : explanation.what_ifs) {
    // Excludes other batches, whose number of steps is a guess, and limits, which cannot be bought.
    if (what_if.kind == WhatIf::Kind::limit || what_if.kind == WhatIf::Kind::batch) continue;
    if (saving_of(explanation, run, what_if) >= kWorthAdvising) candidates.push_back(&what_if);
  }
  std::ranges::stable_sort(candidates, [&](const WhatIf* a, const WhatIf* b) {
    return saving_of(explanation, run, *a) > saving_of(explanation, run, *b);
  });
  std::vector<const WhatIf*> best;
  std::set<WhatIf::Kind> links;  // kinds of link changes already kept; only the best of each is kept
  for (const WhatIf* one : candidates) {
    const bool of_links = one->kind == WhatIf::Kind::bandwidth || one->kind == WhatIf::Kind::latency;
    // Changing all links is not advised if changing some of them saves nearly as much.
    if (of_links && one->on == "*") {
      const bool some_do = std::ranges::any_of(candidates, [&](const WhatIf* other) {
        return other != one && other->kind == one->kind &&
               saving_of(explanation, run, *other) >= 0.9 * saving_of(explanation, run, *one);
      });
      if (some_do) continue;
    }
    if (of_links && !links.insert(one->kind).second) continue;
    best.push_back(one);
    if (best.size() == count) break;
  }
  return best;
}

std::size_t headline_run(const Result& result, const Answer& answer) {
  if (!answer.ranking.empty()) return answer.ranking.front().run;
  const auto shares = [](const RunResult& run) { return run.spec.communicates && run.steps > 0; };
  const auto found = std::ranges::find_if(result.runs, shares);
  return found == result.runs.end() ? 0 : static_cast<std::size_t>(found - result.runs.begin());
}

namespace {

/// Returns a statement on the causes of a run's step. It names only their kinds, because the text below lists their
/// resources.
std::optional<Statement> step_parts_of(const RunResult& run) {
  if (run.event_driven) return event_time_of(run);
  std::vector<std::string> kinds;
  std::vector<double> shares;
  for (const Cause& cause : causes_of(run)) {
    if (cause.share < kWorthNaming) break;
    kinds.push_back(cause.kind);
    shares.push_back(cause.share);
  }
  if (kinds.empty()) return std::nullopt;
  return Statement{"step-parts", {run.spec.label}}.with("causes", std::move(kinds)).with("shares", std::move(shares));
}

}  // namespace

std::vector<Statement> headline_of(const Explanation& explanation, const Answer& answer) {
  const Result& result = explanation.result;
  const std::size_t index = headline_run(result, answer);
  const RunResult& run = result.runs.at(index);
  const std::vector<Statement>& said = answer.statements;
  std::vector<Statement> headline{said.front()};
  std::copy_if(said.begin() + 1, said.end(), std::back_inserter(headline),
               [](const Statement& one) { return one.kind == "memory-exceeded"; });
  if (std::optional<Statement> parts = step_parts_of(run)) headline.push_back(*std::move(parts));
  const std::vector<const WhatIf*> best = most_useful(explanation, index, 1);
  if (best.empty()) {
    headline.push_back({"nothing-helps", {run.spec.label}});
  } else {
    headline.push_back(Statement{"most-helpful", {run.spec.label}}
                           .with("saving", saving_of(explanation, index, *best.front()))
                           .with("to_target", run.target_reached)
                           .with(best.front()->change));
    if (std::optional<Statement> why = PartChecker(explanation, index).why_more(*best.front()))
      headline.back().with(*std::move(why));
  }
  return headline;
}

Document document_of(const Explanation& explanation) {
  const Result& result = explanation.result;
  const Answer answer = answer_to(result);
  Document document{result, headline_of(explanation, answer)};
  add_page(document, explanation);
  document.add("scenario.seed", result.seed, "learned_on", result.learned_on, "timed_as", result.timed_as, "answer",
               object_of(answer, result), "headline", document.answer);
  DocumentTable runs;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    if (result.runs[i].steps > 0) document.lead.push_back(answer_on(explanation, i));
    document.print((i == 0 ? "" : "\n") + text_on(explanation, i));
    add_run(runs.add_row(), explanation, i);
  }
  document.add("runs", runs, "links_left_out", explanation.links_left_out);
  document.print("\n");
  document.parts.push_back({.name = "notes", .shown = Shown::always, .what = explanation.notes});
  document.rests_on(background(result, false), Shown::brief);
  document.rests_on(background(result, true), Shown::verbose);
  return document;
}

}  // namespace dadsim::report
