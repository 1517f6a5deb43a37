#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "report/plan/plan_report.hpp"
#include "report/text/path_name.hpp"
#include "report/words/phrases.hpp"

namespace dadsim::report {
namespace {

constexpr std::size_t kMostAnswers = 40;  // on a terminal without --verbose

const char* mark_of(GoalStanding standing) {
  switch (standing) {
    case GoalStanding::met:
      return "✓";
    case GoalStanding::likely:
      return "~";
    case GoalStanding::open:
      return "?";
    case GoalStanding::missed:
      return "✗";
  }
  throw std::logic_error("unknown standing");
}

/// An object of what a trial takes.
DocumentTable object_of(const Trial& trial, const PlanReport& report) {
  const TrialEnds ends = ends_of(trial);
  DocumentTable table{.object = true};
  table.add_row()
      .add("reached", trial.reached)
      .add("best_accuracy", trial.accuracy)
      .add("seeds", trial.seeds)
      .add("seeds_missed", trial.seeds_missed)
      .add("timed", trial.timed)
      .add("seconds", trial.reached ? DocumentValue(trial.seconds) : DocumentValue())
      .add("low", ends.seconds.low)
      .add("high", ends.seconds.high)
      .add("money", trial.costs.money)
      .add("joules", trial.costs.joules)
      .add("grams_co2e", trial.costs.carbon)
      .add("lines_per_month", trial.lines_per_month)
      .add("memory_bytes", trial.memory)
      .add("watts", trial.watts)
      .add("devices", trial.devices)
      .add("throughput", trial.throughput)
      .add("throughput_low", ends.throughput.low)
      .add("throughput_high", ends.throughput.high)
      .add("throughput_of", trial.tokens ? "tokens" : "samples")
      .add("scaling_efficiency", trial.scaling)
      .add("scaling_low", ends.scaling.low)
      .add("scaling_high", ends.scaling.high)
      .add("layout", trial.layout ? DocumentValue(assignments_of(*trial.layout)) : DocumentValue())
      .add("infeasible", trial.infeasible.empty() ? DocumentValue() : DocumentValue(trial.infeasible))
      .add("meets", meets(report.goal, trial))
      .add("standing", to_string(standing_of(report.goal, trial)))
      .add("of_limit", excess(report.goal, trial));
  return table;
}

DocumentTable tried_of(const PlanReport& report, const GoalAnswer& answer) {
  DocumentTable tried;
  for (const Tried& one : answer.tried)
    tried.add_row().add("number", one.number).add("value", one.value).add("trial", object_of(one.trial, report));
  return tried;
}

void add_answer(TableRow row, const PlanReport& report, const GoalAnswer& answer) {
  std::map<std::string, std::string> changes;
  for (const Change& change : answer.choices) changes[change.path] = change.value;
  DocumentTable chosen{.object = true}, neighbour{.object = true}, band{.object = true}, again;
  if (answer.answer) chosen.add_row().add("path", answer.answer->path).add("value", answer.answer->value);
  if (answer.neighbour)
    neighbour.add_row().add("value", answer.neighbour->value).add("trial", object_of(*answer.neighbour_trial, report));
  if (answer.may || answer.safe)
    band.add_row()
        .add("may", answer.may)
        .add("safe", answer.safe)
        .add("assumed", answer.trial.assumed_scatter.has_value());
  for (const Stretch& stretch : answer.misses_again)
    again.add_row().add("from", stretch.from).add("to", stretch.to).add("to_the_end", stretch.to_the_end);
  const std::vector<Statement> remarks = remarks_on(report, answer);
  std::string takes = in_words(takes_of(report, answer.trial));
  for (const std::string& remark : in_words(remarks)) takes += "; " + remark;
  row.add("run", "  run", answer.run, Unit::plain,
          fmt::format("{} {}", mark_of(standing_of(report.goal, answer.trial)), answer.run))
      .add("met", answer.met)
      .add("tied", answer.tied)
      .add("front", answer.front)
      .add("changes", "changes", changes, Unit::plain, words::assignments_in_words(assignments_of(answer)))
      .add("answer", chosen)
      .add("trial", object_of(answer.trial, report))
      .add("neighbour", neighbour)
      .add("band", band)
      .add("misses_again", again)
      .add("remarks", "to the goal; the next number", remarks, Unit::plain, takes)
      .add("tried", tried_of(report, answer));
}

DocumentTable object_of_goal(const PlanReport& report) {
  const spec::GoalSpec& goal = report.goal;
  DocumentTable table{.object = true};
  table.add_row()
      .add("accuracy", report.timing_only ? DocumentValue() : DocumentValue(report.target_accuracy))
      .add("seconds", goal.seconds)
      .add("money", goal.money)
      .add("joules", goal.joules)
      .add("grams_co2e", goal.carbon)
      .add("memory_bytes", goal.memory)
      .add("watts", goal.watts)
      .add("devices", goal.devices)
      .add("throughput", goal.throughput)
      .add("scaling_efficiency", goal.scaling)
      .add("objective", to_string(objective_of(goal)))
      .add("against", goal.against ? DocumentValue(to_string(*goal.against)) : DocumentValue())
      .add("layouts", goal.layouts.has_value());
  return table;
}

}  // namespace

Document document_of(const PlanReport& report) {
  Document document{report, answer_of(report)};
  document.page = PageKind::plan;
  document.add("asked", goal_of(report));
  document.print(
      paragraph(fmt::format("Goal: {}. By the band of what it takes: ✓ met, ~ likely met, ? cannot be said, ✗ missed.",
                            in_words(goal_of(report)))) +
      '\n');
  document.add("learned_on", report.learned_on);
  document.add("timed_as", report.timed_as);
  std::map<std::string, std::string> names;
  for (const spec::AllowedChange& change : report.goal.allowed)
    names[change.varied.path] = path_in_words(change.varied.path);
  document.add("names", names);
  document.add("goal", object_of_goal(report));
  document.add("currency", report.currency.empty() ? DocumentValue() : DocumentValue(report.currency));
  DocumentTable answers{.style = {.prose = true}};
  for (const GoalAnswer& answer : report.answers)
    add_answer(answers.add_row(answers.rows.size() >= kMostAnswers), report, answer);
  document.parts.push_back({.name = "answers", .shown = Shown::always, .what = std::move(answers)});
  if (report.answers.size() > kMostAnswers)
    document.print(fmt::format("  … and {} more\n", report.answers.size() - kMostAnswers), Shown::brief);
  document.add("timing_runs", report.timing_runs);
  document.add("learned_runs", report.learned_runs);
  std::string text = "\n";
  if (const GoalAnswer& best = report.answers.front(); best.trial.layout) {
    std::vector<std::string> set = assignments_of(best);
    std::ranges::copy(assignments_of(*best.trial.layout), std::back_inserter(set));
    text += paragraph(fmt::format("To have it: --set {}", fmt::join(set, " --set ")));
  }
  std::string runs = fmt::format("{} full timing runs, {} learned runs.", report.timing_runs, report.learned_runs);
  if (std::ranges::any_of(report.answers, [](const GoalAnswer& answer) { return answer.tried.size() > 1; }))
    runs +=
        " Between two neighbouring numbers that were tried of a range, the goal is taken to be met from one on, if at "
        "all.";
  document.print(text + paragraph(runs));
  return document;
}

}  // namespace dadsim::report
