// Tests how counts of tokens and samples are read, with the units that people write.
#include <gtest/gtest.h>

#include "scenario/elements/count_row.hpp"

namespace dadsim::scenario {
namespace {

TEST(Count, ReadsWhatPeopleWrite) {
  EXPECT_EQ(parse_count("2T"), 2e12);
  EXPECT_EQ(parse_count(" 300B "), 300e9);
  EXPECT_EQ(parse_count("1.5M"), 1.5e6);
  EXPECT_EQ(parse_count("3e11"), 3e11);
  EXPECT_EQ(parse_count("250k"), 250e3);
  for (const char* wrong : {"", "T", "2 TB", "-1B", "0", "nan", "inf", "1e19", "2TT", "2t"})
    EXPECT_FALSE(parse_count(wrong)) << wrong;
}

TEST(Count, PrintsWhatReadsBack) {
  for (const double count : {1.0, 12345.0, 1.5e6, 300e9, 2e12, 1.234567e11, 0.5})
    EXPECT_EQ(parse_count(count_text(count)), count) << count_text(count);
  EXPECT_EQ(count_text(2e12), "2T");
  EXPECT_EQ(count_text(1.5e9), "1.5B");
}

}  // namespace
}  // namespace dadsim::scenario
