#include <gtest/gtest.h>

#include "protocols/flare/flare_protocol.hpp"

namespace dadsim::test {
namespace {

using protocols::SampleStream;
using Places = std::vector<std::size_t>;

TEST(SampleStream, GoesRound) {
  SampleStream stream({4, 0, 2, 7, 5});
  EXPECT_EQ(stream.next(3), (Places{4, 0, 2}));
  EXPECT_EQ(stream.next(3), (Places{4, 0, 2}));  // reading places ahead skips no place
  stream.pass(3);
  EXPECT_EQ(stream.next(4), (Places{7, 5, 4, 0}));
  stream.pass(12);
  EXPECT_EQ(stream.next(1), (Places{4}));
  EXPECT_EQ(stream.next(9), (Places{4, 0, 2, 7, 5}));  // every place is drawn once
}

TEST(SampleStream, WhatIsWithdrawnDoesNotComeAgain) {
  SampleStream stream({4, 0, 2, 7, 5});
  stream.pass(3);
  stream.withdraw({2, 7});  // place 2 was drawn already, place 7 was not
  EXPECT_EQ(stream.next(3), (Places{5, 4, 0}));
  stream.pass(1);
  stream.withdraw({5});
  EXPECT_EQ(stream.next(3), (Places{4, 0}));
  EXPECT_FALSE(stream.is_spent());
}

TEST(SampleStream, WhereAllAreWithdrawnAllComeAgainAndItSaysSo) {
  SampleStream stream({3, 1, 2});
  stream.pass(1);
  stream.withdraw({1, 2});
  stream.withdraw({3});
  EXPECT_TRUE(stream.is_spent());
  EXPECT_EQ(stream.next(3), (Places{1, 2, 3}));
  stream.withdraw({1});  // place 1 was drawn already
  EXPECT_EQ(stream.next(3), (Places{1, 2, 3}));
}

}  // namespace
}  // namespace dadsim::test
