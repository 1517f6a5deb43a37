#include <gtest/gtest.h>

#include <limits>

#include "report/text/amounts.hpp"

namespace dadsim::report {
namespace {

// If a target was met immediately, the text once was "inf times faster".
TEST(FactorText, NothingIsAMultipleOfATimeOfZero) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  EXPECT_EQ(times_in_words(kInfinite), "infinitely many times");
  EXPECT_EQ(factor_in_words({kInfinite, std::nullopt, std::nullopt}), "infinitely many times");
  EXPECT_EQ(factor_in_words({kInfinite, 2.0, kInfinite}), "infinitely many times");
  EXPECT_EQ(factor_in_words({4.0, 2.0, kInfinite}), "4.0 times (2.0 … ∞)");
  EXPECT_EQ(interval_in_words({4.0, 2.0, kInfinite}), "4.0; 2.0 … ∞");
  EXPECT_EQ(factor_in_words({2.0, std::nullopt, std::nullopt}), "2.00 times");
}

}  // namespace
}  // namespace dadsim::report
