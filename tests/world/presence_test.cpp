// Presence in a step: drawn, in time, and counted.
#include "world/presence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace dadsim::world {
namespace {

TEST(Presence, DrawsSoManyEachAsLikelyAsTheOthers) {
  std::vector<std::size_t> there(10);
  std::iota(there.begin(), there.end(), 5);
  std::vector<int> times(15, 0);
  constexpr int kDraws = 4000;
  for (std::uint32_t step = 0; step < kDraws; ++step) {
    const auto some = draw_some(there, 3, RandomStream(7, Purpose::participation, 1, step));
    ASSERT_EQ(some.size(), 3U);
    ASSERT_TRUE(some[0] < some[1] && some[1] < some[2]) << "in rising order, nobody twice";
    for (const std::size_t site : some) ++times[site];
  }
  // The standard deviation of a count is √(4000 · 0.3 · 0.7) = 29.
  for (const std::size_t site : there) EXPECT_NEAR(times[site], 0.3 * kDraws, 4 * 29) << site;
  EXPECT_EQ(draw_some({4, 2}, 3, RandomStream(7, Purpose::participation, 1, 0)), (std::vector<std::size_t>{2, 4}));
  EXPECT_TRUE(draw_some({}, 3, RandomStream(7, Purpose::participation, 1, 0)).empty());
}

TEST(Presence, DrawsAgainUntilSomebodyCounts) {
  const std::vector<double> chances{0.5, 0, 0.5, 1};
  int with_zero = 0;
  for (std::int64_t step = 0; step < 1000; ++step) {
    const auto who = draw_each({0, 1, 2}, chances, 3, step, [](std::int32_t site) { return site == 0; });
    ASSERT_EQ(who.front(), 0) << "only it counts";
    for (const std::int32_t site : who) EXPECT_NE(site, 1) << "of no chance";
    with_zero += who.size() > 1 ? 1 : 0;
  }
  EXPECT_NEAR(with_zero, 500, 4 * std::sqrt(250)) << "the other's chance is its own";
  // A site draws the same whoever else is there.
  const auto any = [](std::int32_t) { return true; };
  for (std::int64_t step = 0; step < 50; ++step) {
    const bool alone = draw_each({2, 3}, chances, 3, step, any).front() == 2;
    EXPECT_EQ(draw_each({1, 2, 3}, chances, 3, step, any).front() == 2, alone) << step;
  }
}

TEST(Presence, TheChanceSoFarIsNeverNought) {
  TimesThere times(2);
  EXPECT_EQ(times.chance(0), 1);
  for (int i = 0; i < 3; ++i) times.note(0, i == 0);
  EXPECT_EQ(times.chance(0), 2.0 / 4);
  EXPECT_EQ(times.chance(1), 1) << "each by itself";
}

TEST(Presence, ADeadlineOfNoughtIsNone) {
  EXPECT_EQ(Deadline{}.after(5), kNever);
  EXPECT_FALSE(Deadline{}.exists());
  EXPECT_EQ(Deadline{2}.after(5), 7);
}

}  // namespace
}  // namespace dadsim::world
