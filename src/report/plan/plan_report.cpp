#include "report/plan/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "report/text/path_name.hpp"
#include "report/words/phrases.hpp"

namespace dadsim::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::size_t kMostAnswers = 40;  // largest number of answers on a terminal without --verbose

const char* mark_of(GoalStanding standing) {
  using enum GoalStanding;
  return standing == met ? "✓" : standing == likely ? "~" : standing == open ? "?" : "✗";
}

/// Returns an object with the results of a trial.
DocumentTable object_of(const Trial& trial, const PlanReport& report) {
  const TrialEnds ends = ends_of(trial);
  return object_with("reached", trial.reached, "best_accuracy", trial.accuracy, "seeds", trial.seeds, "seeds_missed",
                     trial.seeds_missed, "timed", trial.timed, "seconds", or_null(trial.reached, trial.seconds), "low",
                     ends.seconds.low, "high", ends.seconds.high, "money", trial.costs.money, "joules",
                     trial.costs.joules, "grams_co2e", trial.costs.carbon, "lines_per_month", trial.lines_per_month,
                     "memory_bytes", trial.memory, "watts", trial.watts, "devices", trial.devices, "throughput",
                     trial.throughput, "throughput_low", ends.throughput.low, "throughput_high", ends.throughput.high,
                     "throughput_of", trial.tokens ? "tokens" : "samples", "scaling_efficiency", trial.scaling,
                     "scaling_low", ends.scaling.low, "scaling_high", ends.scaling.high, "layout",
                     trial.layout ? DocumentValue(trial.layout->set) : DocumentValue(), "infeasible",
                     or_null(!trial.infeasible.empty(), trial.infeasible), "meets", meets(report.goal, trial),
                     "standing", to_string(standing_of(report.goal, trial)), "of_limit", excess(report.goal, trial));
}

void add_answer(TableRow row, const PlanReport& report, const GoalAnswer& answer) {
  std::map<std::string, std::string> changes;
  for (const Change& change : answer.choices) changes[change.path] = change.value;
  DocumentValue chosen, neighbour, band;
  if (answer.answer) chosen = object_with("path", answer.answer->path, "value", answer.answer->value);
  if (answer.neighbour)
    neighbour = object_with("value", answer.neighbour->value, "trial", object_of(*answer.neighbour_trial, report));
  if (answer.may || answer.safe)
    band = object_with("may", answer.may, "safe", answer.safe, "assumed", answer.trial.assumed_scatter.has_value());
  const std::vector<Statement> remarks = remarks_on(report, answer);
  const bool says_accuracy = !remarks.empty() && remarks.front().kind == "target-missed";
  std::string takes = says_accuracy ? std::string() : in_words(takes_of(report, answer.trial));
  for (const std::string& remark : in_words(remarks)) takes += (takes.empty() ? "" : "; ") + remark;
  row.add("run", "  run", answer.run, Unit::plain,
          fmt::format("{} {}", mark_of(standing_of(report.goal, answer.trial)), answer.run))
      .add("met", answer.met, "tied", answer.tied, "front", answer.front)
      .add("changes", "changes", changes, Unit::plain, words::assignments_in_words(assignments_of(answer)))
      .add("answer", chosen, "trial", object_of(answer.trial, report), "neighbour", neighbour, "band", band,
           "misses_again",
           list_of(answer.misses_again, "from", &Stretch::from, "to", &Stretch::to, "to_the_end", &Stretch::to_the_end))
      .add("remarks", "figures; distance to the goal", remarks, Unit::plain, takes)
      .page("goal", fmt::format("{}{}{}", to_string(standing_of(report.goal, answer.trial)),
                                answer.met && answer.front ? ", on the front" : "",
                                answer.met && answer.tied ? ", not told apart" : ""))
      .page("answer", answer.met && answer.answer ? answer.answer->value : "–")
      .page("seeds leave open", !answer.may && !answer.safe               ? "–"
                                : !answer.safe                            ? "from " + *answer.may + " on"
                                : answer.may && answer.may != answer.safe ? *answer.may + " to " + *answer.safe
                                                                          : *answer.safe)
      .add("tried", list_of(answer.tried, "number", &Tried::number, "value", &Tried::value, "trial",
                            [&](const Tried& one) { return object_of(one.trial, report); }));
}

DocumentTable object_of_goal(const PlanReport& report) {
  const spec::GoalSpec& goal = report.goal;
  return object_with("accuracy", or_null(!report.timing_only, report.target_accuracy), "seconds", goal.seconds, "money",
                     goal.money, "joules", goal.joules, "grams_co2e", goal.carbon, "memory_bytes", goal.memory, "watts",
                     goal.watts, "devices", goal.devices, "throughput", goal.throughput, "scaling_efficiency",
                     goal.scaling, "objective", to_string(objective_of(goal)), "against",
                     goal.against ? DocumentValue(to_string(*goal.against)) : DocumentValue(), "layouts",
                     goal.layouts.has_value());
}

}  // namespace

TrialEnds ends_of(const Trial& trial) {
  TrialEnds ends;
  if (!trial.reached) return ends;
  if (trial.band && std::isfinite(trial.seconds))
    ends.seconds = {trial.seconds * trial.band->low, trial.seconds * trial.band->high};
  if (trial.band && trial.throughput)
    ends.throughput = {*trial.throughput / trial.band->high, *trial.throughput / trial.band->low};
  if (trial.scaling_band && trial.scaling)
    ends.scaling = {*trial.scaling * trial.scaling_band->low, *trial.scaling * trial.scaling_band->high};
  return ends;
}

double excess(const spec::GoalSpec& goal, const Trial& trial, double estimate::Band::*end) {
  if (!trial.reached || !trial.infeasible.empty()) return kInfinity;
  double most = 0;
  const double longer = end != nullptr && trial.band ? *trial.band.*end : 1;
  const auto times = [&](std::optional<double> value) {
    if (value) *value *= longer;
    return value;
  };
  const auto check = [&](const std::optional<double>& limit, const std::optional<double>& value) {
    if (!limit) return;
    if (!value || std::isnan(*value)) {
      most = kInfinity;
    } else {
      most = std::max(most, *limit > 0 ? *value / *limit : *value > 0 ? kInfinity : 0);
    }
  };
  check(goal.seconds, times(trial.seconds));
  check(goal.money, times(trial.costs.money));
  check(goal.joules, times(trial.costs.joules));
  check(goal.carbon, times(trial.costs.carbon));
  check(goal.memory, trial.memory);
  check(goal.watts, trial.watts);
  if (goal.devices) check(static_cast<double>(*goal.devices), trial.devices);
  const auto check_least = [&](const std::optional<double>& least, const std::optional<double>& value) {
    if (!least) return;
    most = std::max(most, value && *value > 0 ? *least / *value : kInfinity);
  };
  check_least(goal.throughput, trial.throughput ? std::optional(*trial.throughput / longer) : std::nullopt);
  std::optional<double> scaling = trial.scaling;
  if (scaling && trial.scaling_band && end != nullptr)
    *scaling *= end == &estimate::Band::high ? trial.scaling_band->low : trial.scaling_band->high;
  check_least(goal.scaling, scaling);
  return most;
}

spec::Objective objective_of(const spec::GoalSpec& goal) {
  if (goal.objective != spec::Objective::automatic) return goal.objective;
  if (goal.money) return spec::Objective::cheapest;
  if (goal.joules) return spec::Objective::least_energy;
  return goal.carbon ? spec::Objective::least_carbon : spec::Objective::automatic;
}

double objective_value(spec::Objective objective, const Trial& trial) {
  std::optional<double> value;
  switch (objective) {
    case spec::Objective::automatic:
    case spec::Objective::quickest:
      // With an unknown amount of work, the throughput decides.
      value = std::isfinite(trial.seconds) || !trial.throughput ? trial.seconds : 1 / *trial.throughput;
      break;
    case spec::Objective::cheapest:
      value = trial.costs.money;
      break;
    case spec::Objective::least_energy:
      value = trial.costs.joules;
      break;
    case spec::Objective::least_carbon:
      value = trial.costs.carbon;
      break;
  }
  return value && std::isfinite(*value) ? *value : kInfinity;
}

bool is_better(const spec::GoalSpec& goal, const GoalAnswer& a, std::size_t a_preference, const GoalAnswer& b,
               std::size_t b_preference) {
  if (a.met != b.met) return a.met;
  if (!a.met) {
    if (a.trial.reached != b.trial.reached) return a.trial.reached;
    return a.trial.reached ? excess(goal, a.trial) < excess(goal, b.trial) : a.trial.accuracy > b.trial.accuracy;
  }
  const spec::Objective objective = objective_of(goal);
  std::vector<double> by_a, by_b;
  const auto compare = [&](spec::Objective by) {
    by_a.push_back(objective_value(by, a.trial));
    by_b.push_back(objective_value(by, b.trial));
  };
  if (objective != spec::Objective::automatic) compare(objective);
  by_a.push_back(static_cast<double>(a_preference));
  by_b.push_back(static_cast<double>(b_preference));
  // If the time limit is met, the cheaper answer comes first.
  if (objective == spec::Objective::automatic && goal.seconds) compare(spec::Objective::cheapest);
  compare(spec::Objective::quickest);
  return by_a < by_b;
}

void mark_front(const spec::GoalSpec& goal, std::vector<GoalAnswer>& answers) {
  if (!goal.against) return;
  const auto both = [&](const GoalAnswer& one) {
    return std::pair(objective_value(goal.objective, one.trial), objective_value(*goal.against, one.trial));
  };
  for (GoalAnswer& one : answers) {
    const auto mine = both(one);
    one.front = one.met && std::ranges::none_of(answers, [&](const GoalAnswer& other) {
                  const auto its = both(other);
                  return other.met && its.first <= mine.first && its.second <= mine.second && its != mine;
                });
  }
}

bool meets(const spec::GoalSpec& goal, const Trial& trial) { return excess(goal, trial) <= 1; }

bool may_meet(const spec::GoalSpec& goal, const Trial& trial) { return excess(goal, trial, &estimate::Band::low) <= 1; }

bool surely_meets(const spec::GoalSpec& goal, const Trial& trial) {
  return excess(goal, trial, &estimate::Band::high) <= 1;
}

namespace {

/// Returns the goal without limits on quantities that are unknown for this trial.
spec::GoalSpec known_part(spec::GoalSpec goal, const Trial& trial) {
  const auto drop_unknown = [](std::optional<double>& limit, const std::optional<double>& value) {
    if (!value || !std::isfinite(*value)) limit.reset();
  };
  drop_unknown(goal.seconds, trial.seconds);
  drop_unknown(goal.money, trial.costs.money);
  drop_unknown(goal.joules, trial.costs.joules);
  drop_unknown(goal.carbon, trial.costs.carbon);
  drop_unknown(goal.memory, trial.memory);
  drop_unknown(goal.watts, trial.watts);
  drop_unknown(goal.throughput, trial.throughput);
  drop_unknown(goal.scaling, trial.scaling);
  return goal;
}

}  // namespace

GoalStanding standing_of(const spec::GoalSpec& goal, const Trial& trial) {
  if (!may_meet(known_part(goal, trial), trial)) return GoalStanding::missed;
  return surely_meets(goal, trial) ? GoalStanding::met : meets(goal, trial) ? GoalStanding::likely : GoalStanding::open;
}

namespace {

/// Returns the objective by which answers are distinguished: the one that orders them, else money if time is limited
/// and the costs are known, else time.
spec::Objective telling_objective(const spec::GoalSpec& goal, const Trial& trial) {
  const spec::Objective objective = objective_of(goal);
  if (objective != spec::Objective::automatic) return objective;
  return goal.seconds && trial.costs.money ? spec::Objective::cheapest : spec::Objective::quickest;
}

/// Returns an amount that is proportional to a trial's time, with the uncertainty of that time.
estimate::Contender contender_of(spec::Objective objective, const Trial& trial) {
  estimate::Contender contender = trial.contender;
  const double amount = objective_value(objective, trial);
  const double each = amount / trial.seconds;
  for (std::optional<estimate::Arrival>& arrival : contender.arrivals) {
    if (arrival) *arrival = {arrival->after * each, arrival->at * each, arrival->steps};
  }
  contender.step_seconds *= each;
  contender.seconds = amount;
  return contender;
}

/// Returns whether the uncertain ranges of two answers' numbers overlap.
bool numbers_overlap(const GoalAnswer& a, const GoalAnswer& b) {
  const auto number = [](const GoalAnswer& answer, const std::optional<std::string>& value) {
    const auto tried = std::ranges::find(answer.tried, value.value_or(answer.answer->value), &Tried::value);
    return tried == answer.tried.end() ? std::nan("") : tried->number;
  };
  const auto range = [&](const GoalAnswer& answer) {
    const double may = number(answer, answer.may);
    const double safe = number(answer, answer.safe);
    return std::pair(std::min(may, safe), std::max(may, safe));
  };
  return range(a).first <= range(b).second && range(b).first <= range(a).second;
}

bool is_tied(const spec::GoalSpec& goal, const GoalAnswer& first, const GoalAnswer& other) {
  if (!first.met || !other.met) return false;
  if (first.answer && other.answer && objective_of(goal) == spec::Objective::automatic)
    return numbers_overlap(first, other);
  const spec::Objective objective = telling_objective(goal, first.trial);
  const estimate::Contender a = contender_of(objective, first.trial);
  const estimate::Contender b = contender_of(objective, other.trial);
  if (!std::isfinite(a.seconds) || !std::isfinite(b.seconds)) return false;
  const bool in_order = a.seconds <= b.seconds;
  return estimate::is_beside(estimate::decide(in_order ? a : b, in_order ? b : a).standing);
}

}  // namespace

void settle_ties(const spec::GoalSpec& goal, std::vector<GoalAnswer>& answers) {
  if (answers.empty() || !answers.front().met) return;
  const GoalAnswer first = answers.front();
  const bool by_time = telling_objective(goal, first.trial) == spec::Objective::quickest;
  const spec::Objective second = by_time ? spec::Objective::cheapest : spec::Objective::quickest;
  for (std::size_t i = 1; i < answers.size(); ++i) answers[i].tied = is_tied(goal, first, answers[i]);
  answers.front().tied = true;
  const auto figures = [&](const GoalAnswer& answer) {
    return std::pair(standing_of(goal, answer.trial), objective_value(second, answer.trial));
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < answers.size(); ++i) {
    if (answers[i].tied && figures(answers[i]) < figures(answers[best])) best = i;
  }
  std::ranges::rotate(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(best),
                      answers.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  answers.front().tied = false;
}

Document document_of(const PlanReport& report) {
  Document document{report, answer_of(report)};
  document.command = "dadsim plan";
  document.setting = fmt::format("Goal: {}", in_words(goal_of(report)));
  document.charts = charts_of(report);
  document.add("asked", goal_of(report));
  document.print(
      paragraph(document.setting + ". Marks by the band of values: ✓ met, ~ likely met, ? undecided, ✗ missed.") +
      '\n');
  document.add("learned_on", report.learned_on, "timed_as", report.timed_as);
  std::map<std::string, std::string> names;
  for (const spec::AllowedChange& change : report.goal.allowed)
    names[change.varied.path] = path_in_words(change.varied.path);
  document.add("names", names, "goal", object_of_goal(report), "currency",
               or_null(!report.currency.empty(), report.currency));
  document.print("Answers that meet the goal come first, the best first. If the goal is missed, the figures are those of "
               "the nearest choice tried. Met: all of the band meets the goal. Likely met: the expected value meets "
               "the goal. Missed: no part of the band meets the goal. Otherwise the answer is undecided.", Shown::page);
  DocumentTable answers{.best_first = report.answers.front().met, .style = {.prose = true}};
  for (const GoalAnswer& answer : report.answers)
    add_answer(answers.add_row(answers.rows.size() >= kMostAnswers), report, answer);
  document.parts.push_back({.name = "answers", .shown = Shown::always, .what = std::move(answers)});
  if (report.answers.size() > kMostAnswers)
    document.print(fmt::format("  … and {} more\n", report.answers.size() - kMostAnswers), Shown::brief);
  document.add("timing_runs", report.timing_runs, "learned_runs", report.learned_runs);
  const GoalAnswer& best = report.answers.front();
  if (best.trial.layout) {
    BestSettings settings{assignments_of(best)};
    std::ranges::copy(best.trial.layout->set, std::back_inserter(settings.set));
    document.parts.push_back({.shown = Shown::always, .what = std::move(settings)});
  }
  std::string runs =
      fmt::format("{} full timing run{}, {} learned run{}.", report.timing_runs, report.timing_runs == 1 ? "" : "s",
                  report.learned_runs, report.learned_runs == 1 ? "" : "s");
  if (std::ranges::any_of(report.answers, [](const GoalAnswer& answer) { return answer.tried.size() > 1; }))
    runs +=
        " Between two neighbouring tried numbers of a range, the goal is assumed to change from missed to met at most "
        "once.";
  document.print((best.trial.layout ? "" : "\n") + paragraph(runs));
  document.facts = {
      {"Learned", report.timing_only ? "nothing: only times were requested"
                                     : fmt::format("{} run{} on {}", report.learned_runs,
                                                   report.learned_runs == 1 ? "" : "s", report.learned_on)},
      {"Timed", report.timing_runs == 0 ? "nothing: learning does not reach the target"
                                        : fmt::format("{} times in full, as {}", report.timing_runs, report.timed_as)},
      {"Seeds",
       best.trial.seeds > 1
           ? fmt::format("{}; the first is timed, and intervals are 95 % intervals of the mean", best.trial.seeds)
           : "one: the scatter of seeds is assumed, not measured"}};
  return document;
}

}  // namespace dadsim::report
