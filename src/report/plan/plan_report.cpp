#include "report/plan/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/run/cost_sentence.hpp"
#include "support/human.hpp"

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

std::string margin_in_words(const PlanReport& report, const Trial& trial) {
  if (!trial.reached && trial.seeds > 1) {
    return fmt::format("does not reach it with {} of {} seeds: {} at best", trial.seeds_missed, trial.seeds,
                       human_percent(trial.accuracy));
  }
  if (!trial.reached) return fmt::format("does not reach it: {} at best", human_percent(trial.accuracy));
  const spec::GoalSpec& goal = report.goal;
  // The limit that is exceeded the most, or else the tightest.
  std::string text;
  double tightest = -1;
  const auto look_at = [&](const std::optional<double>& limit, const std::optional<double>& value,
                           const auto& in_words) {
    if (!limit) return;
    const double share = value ? *value / *limit : kInfinity;
    if (share <= tightest) return;
    tightest = share;
    if (!value) {
      text = "misses: " + in_words(0.0) + " is not known";
    } else if (*value > *limit) {
      text = "misses by " + in_words(*value - *limit);
    } else {
      text = "stays " + in_words(*limit - *value) + " below";
    }
  };
  look_at(goal.seconds, trial.seconds, [](double seconds) { return human_seconds(seconds); });
  look_at(goal.money, trial.costs.money, [&](double money) { return money_in_words(money, report.currency); });
  look_at(goal.joules, trial.costs.joules, [](double joules) { return human_energy(joules); });
  look_at(goal.carbon, trial.costs.carbon, [](double grams) { return carbon_in_words(grams); });
  return text.empty() ? "reaches it" : text;
}

}  // namespace dadsim::report
