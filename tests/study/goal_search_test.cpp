#include "study/planning/goal_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>

namespace dadsim::study {
namespace {

spec::AllowedChange range(const std::string& path, double from, double to, const std::string& form = "{}") {
  spec::AllowedChange change;
  change.varied.path = path;
  change.varied.from = from;
  change.varied.to = to;
  change.varied.form = form;
  return change;
}

spec::AllowedChange list(const std::string& path, std::vector<std::string> values) {
  spec::AllowedChange change;
  change.varied.path = path;
  change.varied.values = std::move(values);
  return change;
}

std::map<std::string, std::string> as_map(const std::vector<std::string>& assignments) {
  std::map<std::string, std::string> map;
  for (const std::string& one : assignments) map[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
  return map;
}

/// Returns an evaluation that takes `work` ÷ `link.up` seconds.
Evaluate inversely(double work, int* count = nullptr) {
  return [work, count](const std::vector<std::string>& assignments, const std::string&) {
    if (count != nullptr) ++*count;
    return report::Trial{
        .reached = true, .accuracy = 1, .seconds = work / std::stod(as_map(assignments).at("link.up"))};
  };
}

TEST(GoalSearch, FindsTheLeastNumberThatMeetsTheGoalAndItsNeighbourThatDoesNot) {
  int count = 0;
  const spec::GoalSpec goal{.seconds = 60, .allowed = {range("link.up", 1, 1e6, "{}Mbps")}};
  // Numbers from 151.2 on meet the goal of 60 s.
  const auto answers = search_goal(goal, {"dad"}, inversely(60 * 151.2, &count));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers[0].met);
  EXPECT_EQ(answers[0].answer->assignment(), "link.up=152Mbps");
  EXPECT_EQ(answers[0].neighbour->value, "151Mbps");
  EXPECT_LE(answers[0].trial.seconds, 60);
  EXPECT_GT(answers[0].neighbour_trial->seconds, 60);
  // The search tries 13 numbers over the range, then bisects between two of them, which are 5,400 numbers apart.
  EXPECT_LE(count, 13 + 10);
  EXPECT_EQ(answers[0].tried.size(), static_cast<std::size_t>(count));
  EXPECT_TRUE(std::ranges::is_sorted(answers[0].tried, {}, &report::Tried::number));
  EXPECT_TRUE(answers[0].misses_again.empty());
  EXPECT_FALSE(answers[0].may || answers[0].safe) << "nothing is known of seeds";
}

/// Returns an evaluation that meets 60 s only for numbers inside the pieces.
Evaluate in_pieces(const std::vector<std::pair<double, double>>& pieces) {
  return [pieces](const std::vector<std::string>& assignments, const std::string&) {
    const double number = std::stod(as_map(assignments).at("link.up"));
    const bool met =
        std::ranges::any_of(pieces, [&](const auto& piece) { return piece.first <= number && number <= piece.second; });
    return report::Trial{.reached = true, .accuracy = 1, .seconds = met ? 50.0 : 70.0};
  };
}

TEST(GoalSearch, ARangeNeedNotBeMonotone) {
  const spec::GoalSpec goal{.seconds = 60, .allowed = {range("link.up", 1, 1000, "{}Mbps")}};
  const auto answer = search_goal(goal, {"dad"}, in_pieces({{8.3, 21}, {40, 1000}}))[0];
  ASSERT_TRUE(answer.met);
  EXPECT_EQ(answer.answer->value, "8.3Mbps");
  EXPECT_EQ(answer.neighbour->value, "8.29Mbps");
  ASSERT_EQ(answer.misses_again.size(), 1U);
  EXPECT_EQ(answer.misses_again[0].from, "21.1Mbps");
  EXPECT_EQ(answer.misses_again[0].to, "39.9Mbps");
  EXPECT_FALSE(answer.misses_again[0].to_the_end);
}

TEST(GoalSearch, SaysThatItIsMissedAgainUpToTheEnd) {
  const spec::GoalSpec goal{.seconds = 60, .allowed = {range("link.up", 1, 1000)}};
  const auto answer = search_goal(goal, {"dad"}, in_pieces({{1, 2}, {9, 12}, {50, 300}}))[0];
  EXPECT_EQ(answer.answer->value, "1");
  EXPECT_FALSE(answer.neighbour);
  ASSERT_EQ(answer.misses_again.size(), 3U);
  EXPECT_EQ(answer.misses_again[0].from, "2.01");
  EXPECT_EQ(answer.misses_again[0].to, "8.99");
  EXPECT_EQ(answer.misses_again[1].from, "12.1");
  EXPECT_EQ(answer.misses_again[1].to, "49.9");
  EXPECT_EQ(answer.misses_again[2].from, "301");
  EXPECT_EQ(answer.misses_again[2].to, "1000");
  EXPECT_TRUE(answer.misses_again[2].to_the_end);
}

TEST(GoalSearch, WhereMostIsPreferredMissesAreThoseBelow) {
  spec::GoalSpec goal{.seconds = 60, .allowed = {range("link.up", 1, 1000)}};
  goal.allowed[0].prefers_least = false;
  const auto answer = search_goal(goal, {"dad"}, in_pieces({{1, 2}, {50, 300}}))[0];
  EXPECT_EQ(answer.answer->value, "300");
  EXPECT_EQ(answer.neighbour->value, "301");
  ASSERT_EQ(answer.misses_again.size(), 1U);
  EXPECT_EQ(answer.misses_again[0].from, "49.9");
  EXPECT_EQ(answer.misses_again[0].to, "2.01");
}

TEST(GoalSearch, SeedsLeaveABandOpen) {
  const spec::GoalSpec goal{.seconds = 60, .allowed = {range("link.up", 1, 1000)}};
  const auto with = [&](estimate::Band scatter) {
    const Evaluate evaluate = [=](const std::vector<std::string>& assignments, const std::string&) {
      const double seconds = 60 * 151.2 / std::stod(as_map(assignments).at("link.up"));
      return report::Trial{.reached = true, .accuracy = 1, .seconds = seconds, .seeds = 5, .band = scatter};
    };
    return search_goal(goal, {"dad"}, evaluate)[0];
  };
  const auto answer = with({0.9, 1.1});  // the bounds of the answer are 151.2 times these: 136.08 and 166.32
  EXPECT_EQ(answer.answer->value, "152");
  EXPECT_EQ(answer.may.value(), "137");
  EXPECT_EQ(answer.safe.value(), "167");
  EXPECT_EQ(report::in_words(seed_band_of(answer).value()), "137 to 167 (over 5 seeds)");
  const auto open = with({0, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(open.may.value(), "1");
  EXPECT_FALSE(open.safe);
  EXPECT_NE(report::in_words(seed_band_of(open).value()).find("no number of the range is certainly enough"),
            std::string::npos);
}

TEST(GoalSearch, PrefersTheMostWhereAsked) {
  spec::GoalSpec goal{.seconds = 10, .allowed = {range("latency", 0, 500, "{}ms")}};
  goal.allowed[0].prefers_least = false;
  const Evaluate evaluate = [](const std::vector<std::string>& assignments, const std::string&) {
    return report::Trial{.reached = true, .seconds = 2 + 0.1 * std::stod(as_map(assignments).at("latency"))};
  };
  const auto answers = search_goal(goal, {"dad"}, evaluate);
  EXPECT_EQ(answers[0].answer->value, "80ms");
  EXPECT_EQ(answers[0].neighbour->value, "80.5ms");
}

TEST(GoalSearch, AnEndOfTheRangeHasNoNeighbour) {
  const spec::GoalSpec goal{.seconds = 60, .allowed = {range("link.up", 100, 1e6)}};
  const auto answers = search_goal(goal, {"dad"}, inversely(60));
  EXPECT_TRUE(answers[0].met);
  EXPECT_EQ(answers[0].answer->value, "100");
  EXPECT_FALSE(answers[0].neighbour);
}

TEST(GoalSearch, SaysWhatIsOutOfReachWithTheBestThereIs) {
  const spec::GoalSpec goal{.seconds = 60, .allowed = {range("link.up", 1, 1000)}};
  const auto answers = search_goal(goal, {"dad"}, inversely(60 * 2000.0));
  EXPECT_FALSE(answers[0].met);
  EXPECT_EQ(answers[0].answer->value, "1000");
  EXPECT_DOUBLE_EQ(answers[0].trial.seconds, 120);
  EXPECT_FALSE(answers[0].neighbour);
}

TEST(GoalSearch, FindsWhatOnlyTheMiddleOfARangeMeets) {
  const spec::GoalSpec goal{.seconds = 60, .allowed = {range("batch", 1, 1000)}};
  const Evaluate evaluate = [](const std::vector<std::string>& assignments, const std::string&) {
    const double batch = std::stod(as_map(assignments).at("batch"));
    return report::Trial{.reached = true, .seconds = 1000 / batch + batch};  // at least 63.2 s, for any batch
  };
  const spec::GoalSpec wide{.seconds = 70, .allowed = {range("batch", 1, 1000)}};
  EXPECT_FALSE(
      search_goal(spec::GoalSpec{.seconds = 60, .allowed = {range("batch", 900, 1000)}}, {"a"}, evaluate)[0].met);
  const auto answers = search_goal(wide, {"a"}, evaluate);
  ASSERT_TRUE(answers[0].met);
  EXPECT_LE(answers[0].trial.seconds, 70);
  EXPECT_GT(answers[0].neighbour_trial->seconds, 70);
}

TEST(GoalSearch, TriesEveryChoiceForEveryRunAndOrdersThem) {
  const spec::GoalSpec goal{.seconds = 60, .allowed = {list("device", {"slow", "fast"}), range("link.up", 1, 1000)}};
  std::set<std::string> seen;
  const Evaluate evaluate = [&](const std::vector<std::string>& assignments, const std::string& label) {
    const auto map = as_map(assignments);
    seen.insert(map.at("device") + label);
    const double work = (map.at("device") == "slow" ? 2 : 1) * (label == "dad" ? 600.0 : 6000.0);
    return report::Trial{.reached = label != "never", .accuracy = 0.9, .seconds = work / std::stod(map.at("link.up"))};
  };
  const auto answers = search_goal(goal, {"dad", "gradient-sharing", "never"}, evaluate);
  EXPECT_EQ(seen.size(), 6U);
  ASSERT_EQ(answers.size(), 6U);
  EXPECT_EQ(answers[0].answer->value, "10");
  EXPECT_EQ(answers[0].choices[0].value, "fast");
  EXPECT_EQ(answers[1].answer->value, "20");
  EXPECT_EQ(answers[2].run, "gradient-sharing");
  EXPECT_EQ(answers[2].answer->value, "100");
  EXPECT_FALSE(answers[4].met);
  EXPECT_EQ(answers[4].run, "never");
}

TEST(GoalSearch, FurtherRangesAreTriedAtAFewNumbers) {
  const spec::GoalSpec goal{.allowed = {range("a", 1, 100), range("b", 1, 1000), list("c", {"x", "y"})}};
  EXPECT_EQ(count_choices(goal), kTriedOfARange * 2);
}

TEST(GoalSearch, WithoutARangeEveryChoiceIsATrial) {
  const spec::GoalSpec goal{.money = 5, .allowed = {list("workers", {"2", "4", "8"})}};
  const Evaluate evaluate = [](const std::vector<std::string>& assignments, const std::string&) {
    const double workers = std::stod(as_map(assignments).at("workers"));
    return report::Trial{.reached = true, .seconds = 100 / workers, .costs = {.money = workers}};
  };
  const auto answers = search_goal(goal, {"dad"}, evaluate);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_TRUE(answers[0].met && answers[1].met && !answers[2].met);
  EXPECT_EQ(answers[0].choices[0].value, "2");  // the cheapest choice that meets the goal
}

TEST(GoalSearch, ALimitOnWhatIsNotKnownIsNotMet) {
  EXPECT_FALSE(report::meets({.money = 5}, {.reached = true, .seconds = 1}));
  EXPECT_TRUE(report::meets({.seconds = 1}, {.reached = true, .seconds = 1}));
  EXPECT_FALSE(report::meets({}, {.reached = false}));
  EXPECT_TRUE(report::meets({}, {.reached = true}));
}

TEST(GoalSearch, NumbersHaveThreeDigitsOrAreWhole) {
  EXPECT_EQ(numbers_of(range("x", 9.97, 10.2).varied), (std::vector<double>{9.97, 9.98, 9.99, 10.0, 10.1, 10.2}));
  spec::AllowedChange whole = range("x", 1.5, 4);
  whole.varied.whole = true;
  EXPECT_EQ(numbers_of(whole.varied), (std::vector<double>{1.5, 2, 3, 4}));
  EXPECT_EQ(numbers_of(range("x", 3, 3).varied), (std::vector<double>{3}));
  whole.varied.from = 1;
  whole.varied.to = 1e9;
  const auto numbers = numbers_of(whole.varied);
  EXPECT_LT(numbers.size(), 10'000U);
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    EXPECT_EQ(numbers[i], std::floor(numbers[i]));
    EXPECT_GT(numbers[i], numbers[i - 1]);
    EXPECT_LE(numbers[i] / numbers[i - 1], i < 100 ? 2.0 : 1.011);
  }
}

}  // namespace
}  // namespace dadsim::study
