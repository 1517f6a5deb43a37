#include "support/human.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace dadsim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(HumanSeconds, ChoosesTheUnit) {
  EXPECT_EQ(human_seconds(0), "0 s");
  EXPECT_EQ(human_seconds(2.5e-9), "2.50 ns");
  EXPECT_EQ(human_seconds(12e-6), "12.0 µs");
  EXPECT_EQ(human_seconds(0.0456), "45.6 ms");
  EXPECT_EQ(human_seconds(3.2), "3.20 s");
  EXPECT_EQ(human_seconds(250), "4 min 10 s");
  EXPECT_EQ(human_seconds(2.1 * 3600), "2.10 h");
  EXPECT_EQ(human_seconds(3 * 86400), "3.00 days");
  EXPECT_EQ(human_seconds(2764.3 * 86400), "2,760 days");
  EXPECT_EQ(human_seconds(kInfinity), "–");
  EXPECT_EQ(human_seconds(-kInfinity * 0), "–");
}

TEST(HumanSeconds, NeverRoundsUpToAFullUnit) {
  EXPECT_EQ(human_seconds(0.9996), "1.00 s");
  EXPECT_EQ(human_seconds(9.996), "10.0 s");
  EXPECT_EQ(human_seconds(59.97), "1 min 0 s");
  EXPECT_EQ(human_seconds(119.8), "2 min 0 s");
  EXPECT_EQ(human_seconds(3599.7), "1.00 h");
  EXPECT_EQ(human_seconds(0.99951e-3), "1.00 ms");
}

TEST(HumanBytes, IsDecimal) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(0.5), "0.50 B");
  EXPECT_EQ(human_bytes(999.7), "1.00 kB");
  EXPECT_EQ(human_bytes(74560), "74.6 kB");
  EXPECT_EQ(human_bytes(2140160), "2.14 MB");
  EXPECT_EQ(human_bytes(3.5e15), "3.50 PB");
  EXPECT_EQ(human_bytes(std::numeric_limits<double>::quiet_NaN()), "–");
}

TEST(HumanPercent, HasOneDecimal) {
  EXPECT_EQ(human_percent(0.9634), "96.3 %");
  EXPECT_EQ(human_percent(1), "100.0 %");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("hub → klinik-ä"), 14U);
  EXPECT_EQ(display_width("e\u0301"), 1U);
  EXPECT_EQ(display_width("病院"), 4U);
  EXPECT_EQ(display_width("\xFF\xC3"), 2U) << "bytes that are no UTF-8";
}

TEST(Aligned, FillsUpAndCuts) {
  EXPECT_EQ(left_aligned("ä", 3), "ä  ");
  EXPECT_EQ(right_aligned("病", 4), "  病");
  EXPECT_EQ(left_aligned("gradient", 5), "grad…");
  EXPECT_EQ(left_aligned("病院病院", 4), "病… ") << "half a wide character does not fit";
}

TEST(Wrapped, BreaksAtSpacesAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three\n");
  EXPECT_EQ(wrapped("short", 80, 2), "short\n");
  EXPECT_EQ(wrapped("an-endless-word b", 5, 2), "an-endless-word\n  b\n");
  EXPECT_EQ(wrapped("", 5, 2), "\n");
  EXPECT_EQ(wrapped("latency 11 %.", 10, 2), "latency\n  11 %.\n") << "a number stays with its unit";
  EXPECT_EQ(wrapped("ends in 7", 7, 2), "ends in\n  7\n");
}

TEST(Human, CountsAreGrouped) {
  EXPECT_EQ(human_count(0), "0");
  EXPECT_EQ(human_count(999), "999");
  EXPECT_EQ(human_count(1000), "1,000");
  EXPECT_EQ(human_count(25557032), "25,557,032");
  EXPECT_EQ(human_count(-123), "-123");
  EXPECT_EQ(human_count(-1234567), "-1,234,567");
}

}  // namespace
}  // namespace dadsim
