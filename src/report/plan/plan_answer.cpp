#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "report/plan/plan_report.hpp"

namespace dadsim::report {
namespace {

bool nothing_was_timed(const PlanReport& report) {
  return report.timing_runs == 0 && std::ranges::none_of(report.answers, [](const GoalAnswer& one) {
           return one.trial.reached || !one.trial.infeasible.empty();
         });
}

/// Returns whether the uncertainty from seeds gives a range of numbers instead of one.
bool leaves_a_range(const GoalAnswer& answer) {
  return answer.answer && answer.met && answer.trial.band && answer.may && answer.safe && *answer.may != *answer.safe;
}

void say_costs(const std::optional<double>& money, const std::optional<double>& joules,
               const std::optional<double>& carbon, Statement& statement) {
  if (money) statement.with("money", *money);
  if (joules) statement.with("joules", *joules);
  if (carbon) statement.with("grams_co2e", *carbon);
}

void say_seeds(const Trial& trial, Statement& statement) {
  statement.with("best_accuracy", trial.accuracy);
  if (trial.seeds < 2) return;
  statement.with("seeds", static_cast<double>(trial.seeds));
  statement.with("seeds_missed", static_cast<double>(trial.seeds_missed));
}

bool counts_tokens_of(const PlanReport& report) {
  return std::ranges::any_of(report.answers, [](const GoalAnswer& one) { return one.trial.tokens; });
}

}  // namespace

std::optional<Statement> assumption_of_batches(const PlanReport& report) {
  if (!report.timing_only || !report.known) return std::nullopt;
  double least = 0;
  double most = 0;
  const auto look_at = [&](const Trial& trial) {
    if (!(trial.batch > 0)) return;
    least = least > 0 ? std::min(least, trial.batch) : trial.batch;
    most = std::max(most, trial.batch);
  };
  for (const GoalAnswer& answer : report.answers) {
    look_at(answer.trial);
    for (const Tried& one : answer.tried) look_at(one.trial);
  }
  constexpr double kRounding = 1.001;
  const Statement& source = report.known->source;
  if (!(most > least * kRounding) || source.kind == "published-steps") return std::nullopt;
  return Statement{"plan-batches"}
      .with("least_batch", least)
      .with("most_batch", most)
      .with("steps", source.has("steps"));
}

Statement goal_of(const PlanReport& report) {
  const spec::GoalSpec& goal = report.goal;
  Statement statement{"goal"};
  if (report.timing_only) {
    statement.with("of", report.of);
    if (report.known) {
      if (!report.known->target.empty()) statement.with("target", report.known->target);
      for (const char* budget : {"tokens", "samples", "steps"}) {
        const Statement& source = report.known->source;
        if (source.has(budget) && source.kind != "published-steps")
          statement.with(std::string("work_") + budget, source.number(budget));
      }
    }
  } else {
    statement.with("accuracy", report.target_accuracy);
  }
  if (goal.memory) statement.with("memory_bytes", *goal.memory);
  if (goal.watts) statement.with("watts", *goal.watts);
  if (goal.devices) statement.with("devices", static_cast<double>(*goal.devices));
  if (goal.throughput) statement.with("throughput", *goal.throughput).with("tokens", counts_tokens_of(report));
  if (goal.scaling) statement.with("scaling_efficiency", *goal.scaling);
  if (const spec::Objective objective = objective_of(goal); objective != spec::Objective::automatic)
    statement.with("objective", std::string(to_string(objective)));
  if (goal.against) statement.with("against", std::string(to_string(*goal.against)));
  if (goal.seconds) statement.with("seconds", *goal.seconds);
  if (!report.currency.empty()) statement.with("currency", report.currency);
  say_costs(goal.money, goal.joules, goal.carbon, statement);
  return statement;
}

std::vector<std::string> assignments_of(const GoalAnswer& answer) {
  std::vector<std::string> assignments;
  for (const Change& change : answer.choices) assignments.push_back(change.assignment());
  if (answer.answer) assignments.push_back(answer.answer->assignment());
  return assignments;
}

Statement takes_of(const PlanReport& report, const Trial& trial) {
  if (!trial.infeasible.empty()) return Statement{"trial-infeasible"}.with("fault", trial.infeasible);
  if (!trial.reached) return Statement{"trial-comes-to"}.with("best_accuracy", trial.accuracy);
  Statement statement{"trial-takes"};
  const TrialEnds ends = ends_of(trial);
  const auto say = [&](const std::string& name, double value, const TrialEnds::Ends& band) {
    statement.with(name, value);
    if (band.low && band.high) statement.with(name + "_low", *band.low).with(name + "_high", *band.high);
  };
  if (std::isfinite(trial.seconds)) say("seconds", trial.seconds, ends.seconds);
  if (trial.throughput && (report.goal.throughput || !std::isfinite(trial.seconds))) {
    say("throughput", *trial.throughput, ends.throughput);
    statement.with("tokens", trial.tokens);
  }
  if (trial.scaling && report.goal.scaling) say("scaling_efficiency", *trial.scaling, ends.scaling);
  if (trial.memory && report.goal.memory) statement.with("memory_bytes", *trial.memory);
  if (trial.watts && report.goal.watts) statement.with("watts", *trial.watts);
  if (report.goal.devices) statement.with("devices", trial.devices);
  if (trial.layout) statement.with(statement_of(*trial.layout));
  if (report.currency.empty()) return statement;
  statement.with("currency", report.currency);
  say_costs(trial.costs.money, trial.costs.joules, trial.costs.carbon, statement);
  if (trial.lines_per_month) statement.with("lines_per_month", *trial.lines_per_month);
  return statement;
}

Statement margin_of(const PlanReport& report, const Trial& trial) {
  if (!trial.infeasible.empty()) return Statement{"trial-infeasible"}.with("fault", trial.infeasible);
  if (!trial.reached) {
    Statement statement{"target-missed"};
    say_seeds(trial, statement);
    return statement;
  }
  // Finds the limit that is exceeded the most; if none is, the tightest one.
  Statement margin{"target-met"};
  double tightest = -1;
  const auto look_at = [&](const char* name, const std::optional<double>& limit, const std::optional<double>& value,
                           bool at_least = false) {
    if (!limit) return;
    const bool known = value && std::isfinite(*value);
    const double share = !known     ? std::numeric_limits<double>::infinity()
                         : at_least ? *limit / *value
                                    : *value / *limit;
    if (share <= tightest) return;
    tightest = share;
    margin = Statement{!known ? "limit-unknown" : share > 1 ? "limit-missed" : "limit-kept"};
    margin.with("limit", std::string(name));
    if (!report.currency.empty()) margin.with("currency", report.currency);
    if (known) margin.with("by", std::abs(*value - *limit));
    if (at_least) margin.with("at_least", true).with("tokens", trial.tokens);
  };
  look_at("seconds", report.goal.seconds, trial.seconds);
  look_at("money", report.goal.money, trial.costs.money);
  look_at("joules", report.goal.joules, trial.costs.joules);
  look_at("grams_co2e", report.goal.carbon, trial.costs.carbon);
  look_at("memory_bytes", report.goal.memory, trial.memory);
  look_at("watts", report.goal.watts, trial.watts);
  if (report.goal.devices) look_at("devices", static_cast<double>(*report.goal.devices), trial.devices);
  look_at("throughput", report.goal.throughput, trial.throughput, true);
  look_at("scaling_efficiency", report.goal.scaling, trial.scaling, true);
  return margin;
}

std::optional<Statement> seed_band_of(const GoalAnswer& answer) {
  if (!answer.answer || !answer.met || !answer.trial.band) return std::nullopt;
  if (!answer.safe && !answer.may) return std::nullopt;
  Statement band{"seed-band"};
  band.with("seeds", static_cast<double>(answer.trial.seeds));
  if (answer.trial.assumed_scatter) band.with("assumed_scatter", *answer.trial.assumed_scatter);
  if (answer.may) band.with("may", *answer.may);
  if (answer.safe) band.with("safe", *answer.safe);
  return band;
}

std::optional<Statement> missed_again_of(const GoalAnswer& answer) {
  if (answer.misses_again.empty()) return std::nullopt;
  std::vector<std::string> from, to;
  for (const Stretch& stretch : answer.misses_again) {
    from.push_back(stretch.from);
    to.push_back(stretch.to);
  }
  return Statement{"missed-again"}
      .with("from", std::move(from))
      .with("to", std::move(to))
      .with("to_the_end", answer.misses_again.back().to_the_end);
}

std::vector<Statement> remarks_on(const PlanReport& report, const GoalAnswer& answer) {
  if (!answer.trial.infeasible.empty()) return {};
  if (!answer.trial.timed) {
    return {answer.trial.seeds > 1 ? margin_of(report, answer.trial) : Statement{"not-reached"}.with("timed", false),
            {"not-timed"}};
  }
  if (!answer.met)
    return {answer.trial.reached ? margin_of(report, answer.trial) : Statement{"not-reached"}.with("timed", true)};
  std::vector<Statement> remarks;
  const std::optional<Statement> band = seed_band_of(answer);
  if (answer.answer && !answer.neighbour) {
    remarks.push_back({"end-of-range"});
  } else if (answer.answer && !band) {
    remarks.push_back(Statement{"neighbour-misses"}
                          .with("value", answer.neighbour->value)
                          .with(margin_of(report, *answer.neighbour_trial)));
  }
  for (const std::optional<Statement>& more : {band, missed_again_of(answer)}) {
    if (more) remarks.push_back(*more);
  }
  return remarks;
}

namespace {

/// Returns statements on the most preferred number that is enough, and on its uncertainty from the seeds.
std::vector<Statement> what_is_enough(const PlanReport& report, const GoalAnswer& best) {
  const std::optional<Statement> band = seed_band_of(best);
  const bool range = leaves_a_range(best);
  Statement answer{range ? "needs-about" : "enough", {best.run}};
  answer.with("changes", assignments_of(best));
  if (best.answer) answer.with("path", best.answer->path).with("value", best.answer->value);
  if (range) {
    answer.with("chosen", !best.choices.empty());
    return {answer.with(*band).with(takes_of(report, best.trial))};
  }
  answer.with("standing", std::string(to_string(standing_of(report.goal, best.trial))));
  answer.with(takes_of(report, best.trial));
  if (best.neighbour) {
    answer.with(Statement{"neighbour-misses"}
                    .with("value", best.neighbour->value)
                    .with(margin_of(report, *best.neighbour_trial)));
  }
  std::vector<Statement> all{std::move(answer)};
  if (band) all.push_back(Statement{"seeds-leave", {best.run}}.with(*band));
  return all;
}

Statement choice_of(const char* kind, const PlanReport& report, const GoalAnswer& answer) {
  Statement choice{kind, {answer.run}};
  return choice.with("changes", assignments_of(answer)).with(takes_of(report, answer.trial));
}

/// Returns the answers that cannot be distinguished from the first, if there are any.
std::optional<Statement> tied_of(const PlanReport& report) {
  Statement statement{"plan-tied"};
  for (const GoalAnswer& answer : report.answers) {
    if (answer.tied) statement.with(choice_of("front-answer", report, answer));
  }
  if (statement.parts.empty()) return std::nullopt;
  const Trial& best = report.answers.front().trial;
  const auto is_before = [&](const auto& figure) {
    return std::ranges::all_of(report.answers,
                               [&](const GoalAnswer& one) { return !one.tied || figure(best) < figure(one.trial); });
  };
  const bool cheaper = is_before([](const Trial& trial) { return objective_value(spec::Objective::cheapest, trial); });
  const bool quicker = is_before([](const Trial& trial) { return objective_value(spec::Objective::quickest, trial); });
  if (cheaper || quicker) statement.with("by", std::string(cheaper ? "cheaper" : "quicker"));
  return statement;
}

/// Returns a statement on the first answer that surely meets the goal; none if there is no such answer, or if it is the
/// report's first.
std::optional<Statement> sure_of(const PlanReport& report) {
  const auto is_sure = [&](const GoalAnswer& one) {
    return one.met && standing_of(report.goal, one.trial) == GoalStanding::met;
  };
  if (is_sure(report.answers.front())) return std::nullopt;
  const auto sure = std::ranges::find_if(report.answers, is_sure);
  if (sure == report.answers.end()) return std::nullopt;
  return Statement{"plan-sure"}.with(choice_of("front-answer", report, *sure));
}

/// Returns the Pareto front of the answers, if the goal names two objectives and the front has several answers.
std::optional<Statement> front_of(const PlanReport& report) {
  if (!report.goal.against) return std::nullopt;
  Statement statement{"plan-front"};
  statement.with("objective", std::string(to_string(report.goal.objective)));
  statement.with("against", std::string(to_string(*report.goal.against)));
  for (const GoalAnswer& answer : report.answers) {
    if (!answer.front) continue;
    statement.subjects.push_back(answer.run);
    statement.with(choice_of("front-answer", report, answer));
  }
  return statement.parts.size() < 2 ? std::nullopt : std::optional(statement);
}

std::vector<Statement> answer_to_goal(const PlanReport& report) {
  const GoalAnswer& best = report.answers.front();
  if (nothing_was_timed(report)) {
    Statement answer{"target-never-reached", {best.run}};
    say_seeds(best.trial, answer);
    return {answer};
  }
  if (!best.met) {
    Statement answer{"out-of-reach", {best.run}};
    answer.with("changes", assignments_of(best));
    answer.with("open", standing_of(report.goal, best.trial) == GoalStanding::open);
    if (best.trial.reached) answer.with(takes_of(report, best.trial));
    return {answer.with(margin_of(report, best.trial))};
  }
  std::vector<Statement> answer = what_is_enough(report, best);
  if (std::optional<Statement> tied = tied_of(report)) answer.push_back(*std::move(tied));
  if (std::optional<Statement> sure = sure_of(report)) answer.push_back(*std::move(sure));
  if (best.answer && best.trial.assumed_scatter)
    answer.push_back(Statement{"seeds-would-tell"}.with("assumed", seed_band_of(best).has_value()));
  if (const std::optional<Statement> again = missed_again_of(best))
    answer.push_back(Statement{"missed-beyond", {best.run}}.with("value", best.answer->value).with(*again));
  if (std::optional<Statement> front = front_of(report)) answer.push_back(*std::move(front));
  return answer;
}

}  // namespace

std::vector<Statement> answer_of(const PlanReport& report) {
  std::vector<Statement> answer = answer_to_goal(report);
  if (report.rate_as_tcp) answer.push_back(*report.rate_as_tcp);
  return answer;
}

}  // namespace dadsim::report
