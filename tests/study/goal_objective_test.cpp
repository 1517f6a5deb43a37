// Which of the answers that meet a goal comes first.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "study/planning/goal_search.hpp"

namespace dadsim::study {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// 16, 32 and 64 devices: as long each, and dearer the more there are; 8 are too slow. Of 128 the memory is too small.
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
  EXPECT_EQ(first({.objective = spec::Objective::quickest}), "64") << "the first of those that are as quick";
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
