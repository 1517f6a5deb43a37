#include "sim/network/link_queue.hpp"

#include <gtest/gtest.h>

namespace dadsim::sim {
namespace {

TEST(LinkQueue, AWordWaitsForWhatWasWrittenBeforeIt) {
  LinkQueue queue;
  const LinkQueue::BusySpan through = queue.add(3, {1, 1}, 4, 1);
  EXPECT_DOUBLE_EQ(through.begin, 1);
  EXPECT_DOUBLE_EQ(through.end, 5);
  EXPECT_DOUBLE_EQ(queue.wait(4, 1, 100), 4);
  EXPECT_DOUBLE_EQ(queue.wait(2, 1, 100), 0) << "was written before";
  EXPECT_DOUBLE_EQ(queue.wait(2, 2, 100), 3) << "comes later";
  EXPECT_DOUBLE_EQ(queue.wait(4, 2, 2.5), 2.5) << "the rest waits at its host";
  EXPECT_DOUBLE_EQ(queue.wait(4, 9, 100), 0);
}

TEST(LinkQueue, BytesThatComeNoFasterThanTheyLeaveHoldNobodyUp) {
  LinkQueue queue;
  queue.add(1, {1, 5}, 4, 1);
  EXPECT_DOUBLE_EQ(queue.wait(2, 3, 100), 0);
  // Messages arrive twice as fast as they leave, so half of them are still in the queue.
  LinkQueue narrow;
  narrow.add(1, {1, 5}, 8, 1);
  EXPECT_DOUBLE_EQ(narrow.wait(2, 3, 100), 2);
}

TEST(LinkQueue, ServesMessagesOneAfterTheOther) {
  LinkQueue queue;
  queue.add(1, {1, 1}, 4, 1);
  EXPECT_DOUBLE_EQ(queue.add(2, {2, 2}, 1, 2).end, 6);
  EXPECT_DOUBLE_EQ(queue.wait(3, 2, 100), 4);
  EXPECT_DOUBLE_EQ(queue.add(4, {10, 10}, 1, 10).begin, 10) << "idle in between";
}

}  // namespace
}  // namespace dadsim::sim
