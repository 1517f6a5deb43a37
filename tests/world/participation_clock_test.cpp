// Tests participation in steps: draws, deadlines and counts.
#include "world/participation_clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace dadsim::world {
namespace {

TEST(ParticipationClock, DrawsSoManyEachAsLikelyAsTheOthers) {
  std::vector<std::size_t> there(10);
  std::iota(there.begin(), there.end(), 5);
  std::vector<int> times(15, 0);
  constexpr int kDraws = 4000;
  const ParticipationClock clock({.sites = 10, .seed = 7, .stream = 1, .fraction = 0.3});
  for (std::int64_t step = 0; step < kDraws; ++step) {
    const auto some = clock.draw(step, there);
    ASSERT_EQ(some.size(), 3U);
    ASSERT_TRUE(some[0] < some[1] && some[1] < some[2]) << "in rising order, nobody twice";
    for (const std::size_t site : some) ++times[site];
  }
  // A count of draws has a standard deviation of √(4000 · 0.3 · 0.7) = 29.
  for (const std::size_t site : there) EXPECT_NEAR(times[site], 0.3 * kDraws, 4 * 29) << site;
  EXPECT_EQ(clock.draw(0, {4, 2}), (std::vector<std::size_t>{2, 4}));
  EXPECT_TRUE(clock.draw(0, {}).empty());
  EXPECT_EQ(ParticipationClock({.sites = 10, .fraction = 0.3, .over_selection = 1.4}).draw(0, there).size(), 5U);
  EXPECT_EQ(ParticipationClock({.sites = 10, .fraction = 1e-6}).needed(), 1U);
}

TEST(ParticipationClock, DrawsAgainUntilSomebodyCounts) {
  const ParticipationClock clock({.sites = 4, .seed = 3, .chances = {0.5, 0, 0.5, 1}});
  int with_zero = 0;
  for (std::int64_t step = 0; step < 1000; ++step) {
    const auto who = clock.draw_each(step, {0, 1, 2}, [](std::int32_t site) { return site == 0; });
    ASSERT_EQ(who.front(), 0) << "only it counts";
    for (const std::int32_t site : who) EXPECT_NE(site, 1) << "of no chance";
    with_zero += who.size() > 1 ? 1 : 0;
  }
  EXPECT_NEAR(with_zero, 500, 4 * std::sqrt(250)) << "the other's chance is its own";
  // A site's draw is independent of the other sites.
  const auto any = [](std::int32_t) { return true; };
  for (std::int64_t step = 0; step < 50; ++step) {
    const bool alone = clock.draw_each(step, {2, 3}, any).front() == 2;
    EXPECT_EQ(clock.draw_each(step, {1, 2, 3}, any).front() == 2, alone) << step;
  }
}

TEST(ParticipationClock, TheChanceSoFarIsNeverNought) {
  ParticipationClock clock({.sites = 2, .counts_presence = true});
  EXPECT_EQ(clock.chances_of({0}), std::vector{1.0});
  for (int i = 0; i < 3; ++i) clock.note(0, i == 0);
  EXPECT_EQ(clock.chances_of({0, 1}), (std::vector{2.0 / 4, 1.0})) << "each by itself";
}

TEST(ParticipationClock, TheChanceOfADrawTakesRepeatsIn) {
  ParticipationClock drawn({.sites = 4, .fraction = 0.5, .counts_presence = true});
  drawn.note(1, false);
  EXPECT_EQ(drawn.chances_of({1, 2}), (std::vector{0.5 / 2, 0.5}));
  const ParticipationClock each({.sites = 3, .chances = {0.5, 0.25, 0.9}});
  // Sites 0 and 1 may count. A draw in which neither takes part is repeated.
  const std::vector<double> chances = each.chances_of({0, 2}, {0, 1, 2}, [](std::int32_t site) { return site < 2; });
  EXPECT_NEAR(chances[0], 0.5 / (1 - 0.5 * 0.75), 1e-15);
  EXPECT_EQ(chances[1], 1) << "at most one";
}

TEST(ParticipationClock, ADeadlineOfNoughtIsNone) {
  EXPECT_FALSE(ParticipationClock({.deadline = ParticipationClock::deadline_of(0)}).has_deadline());
  EXPECT_TRUE(ParticipationClock({.deadline = ParticipationClock::deadline_of(2)}).has_deadline());
}

TEST(ParticipationClock, ADeadlineEndsARoundOnceEnoughHaveAnswered) {
  ParticipationClock clock({.deadline = 2, .least = 1});
  clock.begin(5);
  EXPECT_EQ(clock.date(1), 7);
  EXPECT_EQ(clock.date(0), kNever) << "nobody has answered";
  EXPECT_FALSE(clock.is_over(6.9, 1, 2));
  EXPECT_TRUE(clock.is_over(6.9, 3, 0)) << "all have answered";
  EXPECT_FALSE(clock.is_over(7, 0, 3));
  EXPECT_TRUE(clock.is_over(7, 1, 2));
}

TEST(ParticipationClock, AQuorumGrantsItsGraceOnce) {
  ParticipationClock clock({.enough = 2, .grace = 3});
  clock.begin(10);
  EXPECT_FALSE(clock.is_over(11, 1, 3));
  EXPECT_EQ(clock.date(1), kNever);
  EXPECT_FALSE(clock.is_over(12, 2, 2));
  EXPECT_EQ(clock.date(2), 15);
  EXPECT_FALSE(clock.is_over(14, 3, 1)) << "a further answer gives no further grace";
  EXPECT_TRUE(clock.is_over(15, 3, 1));
  ParticipationClock at_once({.deadline = 9, .enough = 2});
  at_once.begin(0);
  EXPECT_FALSE(at_once.is_complete(1, 1));
  EXPECT_TRUE(at_once.is_complete(2, 1));
}

TEST(ParticipationClock, AWindowLastsItsTime) {
  ParticipationClock clock({.deadline = 4, .lasts = true});
  clock.begin(1);
  EXPECT_FALSE(clock.is_over(4.9, 3, 0)) << "although all have answered";
  EXPECT_TRUE(clock.is_over(5, 0, 3));
}

}  // namespace
}  // namespace dadsim::world
