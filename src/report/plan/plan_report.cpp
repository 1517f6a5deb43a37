#include "report/plan/plan_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace dadsim::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double excess(const spec::GoalSpec& goal, const Trial& trial) {
  if (!trial.reached || !trial.infeasible.empty()) return kInfinity;
  double most = 0;
  const auto check = [&](const std::optional<double>& limit, const std::optional<double>& value) {
    if (!limit) return;
    if (!value || std::isnan(*value)) {
      most = kInfinity;
    } else {
      most = std::max(most, *limit > 0 ? *value / *limit : *value > 0 ? kInfinity : 0);
    }
  };
  check(goal.seconds, trial.seconds);
  check(goal.money, trial.costs.money);
  check(goal.joules, trial.costs.joules);
  check(goal.carbon, trial.costs.carbon);
  check(goal.memory, trial.memory);
  check(goal.watts, trial.watts);
  if (goal.devices) check(static_cast<double>(*goal.devices), trial.devices);
  const auto check_least = [&](const std::optional<double>& least, const std::optional<double>& value) {
    if (!least) return;
    most = std::max(most, value && *value > 0 ? *least / *value : kInfinity);
  };
  check_least(goal.throughput, trial.throughput);
  check_least(goal.scaling, trial.scaling);
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
      // Where nothing says how much work there is, what does most of it in a second.
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
  // What meets the time is enough: of two that do the cheaper one.
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

bool may_meet(const spec::GoalSpec& goal, const Trial& trial) {
  return excess(goal, trial) * (trial.scatter ? trial.scatter->low : 1) <= 1;
}

bool surely_meets(const spec::GoalSpec& goal, const Trial& trial) {
  return excess(goal, trial) * (trial.scatter ? trial.scatter->high : 1) <= 1;
}

}  // namespace dadsim::report
