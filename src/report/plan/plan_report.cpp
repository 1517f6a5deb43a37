#include "report/plan/plan_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dadsim::report {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double excess(const spec::GoalSpec& goal, const Trial& trial) {
  if (!trial.reached) return kInfinity;
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
  return most;
}

bool meets(const spec::GoalSpec& goal, const Trial& trial) { return excess(goal, trial) <= 1; }

bool may_meet(const spec::GoalSpec& goal, const Trial& trial) {
  return excess(goal, trial) * (trial.scatter ? trial.scatter->low : 1) <= 1;
}

bool surely_meets(const spec::GoalSpec& goal, const Trial& trial) {
  return excess(goal, trial) * (trial.scatter ? trial.scatter->high : 1) <= 1;
}

}  // namespace dadsim::report
