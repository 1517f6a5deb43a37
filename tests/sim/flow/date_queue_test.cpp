#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <utility>

#include "sim/flow/flow_events.hpp"

namespace dadsim::sim {
namespace {

TEST(DateQueue, GivesTheEarliestAndOfEqualsTheFirst) {
  // Draws dates a few latencies apart, equal dates, and random dates.
  std::mt19937 random(7);
  const auto one_of = [&](int count) { return std::uniform_int_distribution<int>(0, count - 1)(random); };
  DateQueue queue;
  std::set<std::pair<double, std::int32_t>> waiting;  // numbers are inserted in order
  double now = 0;
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.next(), INFINITY);
  for (std::int32_t number = 0; number < 20'000; ++number) {
    const double date = now + (one_of(10) == 0 ? one_of(1000) : 5 * one_of(4));
    queue.push(date, number);
    waiting.emplace(date, number);
    while (one_of(3) > 0 && !waiting.empty()) {
      ASSERT_EQ(queue.next(), waiting.begin()->first);
      now = waiting.begin()->first;
      ASSERT_EQ(queue.pop(), waiting.begin()->second);
      waiting.erase(waiting.begin());
    }
  }
  for (; !waiting.empty(); waiting.erase(waiting.begin())) ASSERT_EQ(queue.pop(), waiting.begin()->second);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace dadsim::sim
