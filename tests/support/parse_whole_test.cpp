#include "support/parse_whole.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace dadsim {
namespace {

TEST(ParseWhole, IsTheNumberAndNothingElse) {
  EXPECT_EQ(parse_whole<int>("-12"), -12);
  EXPECT_EQ(parse_whole<double>("1e3"), 1000.0);
  for (const char* text : {"", " 1", "1 ", "+1", "1s", "1.5", "99999999999"})
    EXPECT_FALSE(parse_whole<int>(text)) << text;
}

TEST(ParseWhole, WithinARangeWhoseEndsBelongToIt) {
  EXPECT_EQ(parse_whole<int>("3", 3, 5), 3);
  EXPECT_EQ(parse_whole<int>("5", 3, 5), 5);
  EXPECT_FALSE(parse_whole<int>("2", 3, 5));
  EXPECT_FALSE(parse_whole<int>("6", 3, 5));
  EXPECT_EQ(parse_whole<std::int64_t>("9223372036854775807", 1), INT64_MAX);
  EXPECT_FALSE(parse_whole<std::int64_t>("0", 1));
  EXPECT_FALSE(parse_whole<double>("nan", 0, 1));
}

}  // namespace
}  // namespace dadsim
