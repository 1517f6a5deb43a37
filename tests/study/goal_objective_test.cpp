// Tests the order of answers that meet a goal.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "estimate/bands.hpp"
#include "study/planning/goal_search.hpp"

namespace dadsim::study {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Returns a trial: 16, 32 or 64 devices take equal time, and cost grows with their number. 8 devices are too slow; 128
/// lack memory.
report::Trial of_devices(const std::vector<std::string>& assignments) {
  const std::string& one = assignments.front();
  const double devices = std::stod(one.substr(one.find('=') + 1));
  report::Trial trial{.reached = true, .seconds = devices < 16 ? 7200.0 : 3600.0};
  trial.devices = devices;
  trial.costs.money = devices * 41;
  trial.costs.carbon = 1000 - devices;
  trial.throughput = 1e6 * devices / trial.seconds;
  if (devices > 64) trial = {.infeasible = "needs 90 GB on a worker"};
  return trial;
}

std::vector<report::GoalAnswer> answers_to(spec::GoalSpec goal) {
  spec::AllowedChange change;
  change.varied.path = "hosts";
  change.varied.values = {"128", "64", "32", "16", "8"};
  goal.allowed = {change};
  return search_goal(goal, {"a"}, [](const std::vector<std::string>& assignments, const std::string&) {
    return of_devices(assignments);
  });
}

std::string first(const spec::GoalSpec& goal) { return answers_to(goal).front().choices.front().value; }

TEST(GoalObjective, WithALimitOnCostTheCheapestThatMeetsTheTimeComesFirst) {
  EXPECT_EQ(first({.seconds = 4000, .money = 5000}), "16");
  EXPECT_EQ(first({.seconds = 4000}), "16") << "of what is as quick the cheaper one";
  EXPECT_EQ(first({.seconds = 8000, .money = 5000}), "8");
}

TEST(GoalObjective, IsNamedByTheGoal) {
  EXPECT_EQ(first({.seconds = 8000, .objective = spec::Objective::cheapest}), "8");
  EXPECT_EQ(first({.seconds = 8000, .objective = spec::Objective::least_carbon}), "64");
  EXPECT_EQ(first({.seconds = 8000, .carbon = 2000}), "64") << "what is limited";
  EXPECT_EQ(first({.objective = spec::Objective::quickest}), "16") << "the cheapest of those that are as quick";
}

TEST(GoalObjective, LimitsOnDevicesThroughputAndMemoryAreHeld) {
  EXPECT_EQ(first({.devices = 40, .objective = spec::Objective::least_carbon}), "32");
  EXPECT_EQ(first({.throughput = 1e4, .objective = spec::Objective::cheapest}), "64");
  report::Trial trial{.reached = true, .seconds = 1};
  trial.memory = 80e9;
  trial.scaling = 0.8;
  EXPECT_TRUE(meets({.memory = 81e9}, trial));
  EXPECT_FALSE(meets({.memory = 79e9}, trial));
  EXPECT_TRUE(meets({.scaling = 0.79}, trial));
  EXPECT_FALSE(meets({.scaling = 0.81}, trial));
  EXPECT_FALSE(meets({.watts = 1e6}, trial)) << "its power is not known";
  trial.seconds = kUnknown;
  EXPECT_FALSE(meets({.seconds = 100}, trial)) << "its time is not known";
}

TEST(GoalObjective, WhatDoesNotGoIsAnAnswerAndNeverMeetsTheGoal) {
  const auto answers = answers_to({});
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers.back().choices.front().value, "128");
  EXPECT_FALSE(answers.back().met);
  EXPECT_EQ(answers.back().trial.infeasible, "needs 90 GB on a worker");
}

/// Returns a trial with this time; errors of trials with the same `computing` are shared.
report::Trial of_time(double hours, double money, const std::string& computing) {
  report::Trial trial{.reached = true, .seconds = 3600 * hours};
  trial.costs.money = money;
  trial.contender.parts = {{"compute.assumed", 1, computing}};
  const estimate::Band band = estimate::band_of(trial.contender.parts);
  trial.band = band;
  return trial;
}

TEST(GoalObjective, AGoalIsMetByTheBandOfWhatItTakes) {
  using enum report::GoalStanding;
  const report::Trial trial = of_time(19.2, 100, "a");
  const double low = 3600 * 19.2 * trial.band->low;
  const double high = 3600 * 19.2 * trial.band->high;
  ASSERT_GT(high, 20 * 3600);
  EXPECT_EQ(standing_of({.seconds = 1.001 * high}, trial), met);
  EXPECT_EQ(standing_of({.seconds = 0.999 * high}, trial), likely);
  EXPECT_EQ(standing_of({.seconds = 20 * 3600}, trial), likely) << "19.2 h of 20 h";
  EXPECT_EQ(standing_of({.seconds = 19 * 3600}, trial), open);
  EXPECT_EQ(standing_of({.seconds = 0.999 * low}, trial), missed);
  // Values that depend on time have a band, and other values have none.
  EXPECT_EQ(standing_of({.money = 101}, trial), likely);
  report::Trial large = trial;
  large.memory = 80e9;
  EXPECT_EQ(standing_of({.memory = 81e9}, large), met);
  large.throughput = 1000;
  EXPECT_EQ(standing_of({.throughput = 999}, large), likely);
  EXPECT_EQ(standing_of({.throughput = 999 / trial.band->high}, large), met);
  EXPECT_EQ(to_string(open), std::string("cannot be said"));
  // A limit on an unknown value is neither met nor missed, but the goal is missed if another limit is.
  EXPECT_EQ(standing_of({.scaling = 0.5}, trial), open);
  EXPECT_EQ(standing_of({.throughput = 1}, trial), open);
  EXPECT_EQ(standing_of({.seconds = 0.999 * low, .scaling = 0.5}, trial), missed);
}

TEST(GoalObjective, ChoicesWithinTheBandOfEachOtherAreTiedAndTheCheaperOneIsSaid) {
  spec::AllowedChange change;
  change.varied.path = "hosts";
  change.varied.values = {"8", "16", "32"};
  spec::GoalSpec goal{.seconds = 1e6, .objective = spec::Objective::quickest, .allowed = {change}};
  const auto answers = [&](const std::string& other) {
    return search_goal(goal, {"a"}, [&](const std::vector<std::string>& assignments, const std::string&) {
      const std::string& one = assignments.front();
      if (one.ends_with("=8")) return of_time(19, 300, "a");
      return one.ends_with("16") ? of_time(18, 500, other) : of_time(2, 900, other);
    });
  };
  const auto apart = answers("a");
  EXPECT_EQ(apart[0].choices[0].value, "32") << "nine times as quick";
  EXPECT_FALSE(apart[1].tied || apart[2].tied);
  goal.devices = 100;
  change.varied.values = {"8", "16"};
  goal.allowed = {change};
  // Errors of equal devices cancel, so 18 h are certainly less than 19 h. With different devices, the order stays open.
  EXPECT_EQ(answers("a")[0].choices[0].value, "16");
  const auto tied = answers("b");
  EXPECT_EQ(tied[0].choices[0].value, "8");
  EXPECT_FALSE(tied[0].tied);
  EXPECT_TRUE(tied[1].tied);
  goal.objective = spec::Objective::cheapest;
  EXPECT_EQ(answers("a")[0].choices[0].value, "8");
  report::PlanReport report;
  report.goal = goal;
  report.timing_only = true;
  report.currency = "USD";
  report.timing_runs = 2;
  report.answers = tied;
  const std::string said = verdict(document_of(report));
  EXPECT_NE(said.find("meets the goal"), std::string::npos) << said;
  EXPECT_NE(said.find("Not distinguishable from this answer: a with hosts 16: 18.0 h ("), std::string::npos) << said;
  EXPECT_NE(said.find("The answer is the cheaper one."), std::string::npos) << said;
}

TEST(GoalObjective, TheFrontHoldsWhatNothingBeatsInBoth) {
  std::vector<std::string> front;
  for (const auto& answer :
       answers_to({.objective = spec::Objective::cheapest, .against = spec::Objective::quickest})) {
    if (answer.front) front.push_back(answer.choices.front().value);
  }
  EXPECT_EQ(front, (std::vector<std::string>{"8", "16"}));
}

}  // namespace
}  // namespace dadsim::study
