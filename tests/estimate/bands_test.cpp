#include "estimate/bands.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace dadsim::estimate {
namespace {

const std::vector<ErrorCategory> two{{"compute.assumed", {0.8, 1.5, 30}}, {"network.tcp", {0.9, 1.1, 30}}};

TEST(Band, PartsAddInSquares) {
  const std::vector<TimePart> parts{{"compute.assumed", 3}, {"network.tcp", 1}};
  const Band band = band_of(parts, two);
  EXPECT_NEAR(band.high, 1 + std::hypot(3 * 0.5, 0.1) / 4, 1e-12);
  EXPECT_NEAR(band.low, 1 - std::hypot(3 * 0.2, 0.1) / 4, 1e-12);
  EXPECT_EQ(band_of({}, two), Band{});
}

TEST(Band, ErrorsOfOneCauseCancelInARatio) {
  const std::vector<TimePart> a{{"compute.assumed", 3, "device"}, {"network.tcp", 1, "ring"}};
  EXPECT_NEAR(ratio_band(a, a, two).high, 1, 1e-12);
  const std::vector<TimePart> b{{"compute.assumed", 1, "device"}, {"network.tcp", 3, "ring"}};
  // Run a computes for 3/4 of its time, run b for 1/4. The errors of this difference, 1/2 of the time, do not cancel.
  const double above = std::hypot(0.5 * std::log(1.5), 0.5 * std::log(0.9));
  EXPECT_NEAR(std::log(ratio_band(a, b, two).high), above, 1e-12);
  EXPECT_NEAR(std::log(ratio_band(b, a, two).low), -above, 1e-12);
}

TEST(Band, AddedWorkHasAnErrorOfItsOwn) {
  const auto computing = [](double seconds, double rate) {
    return std::vector<TimePart>{{"compute.assumed", seconds, "device", {}, seconds * rate}};
  };
  // The longer run has 5 seconds of work and shares 4 of them with the shorter run. The shared error therefore has the
  // weight 4/5 − 1.
  const Band longer = ratio_band(computing(5, 2), computing(4, 2), two);
  EXPECT_NEAR(std::log(longer.high), std::hypot(std::log(1 + 0.2 * 0.5), 0.2 * std::log(0.8)), 1e-12);
  EXPECT_NEAR(std::log(longer.low), -std::hypot(std::log(1 - 0.2 * 0.2), 0.2 * std::log(1.5)), 1e-12);
  const Band shorter = ratio_band(computing(4, 2), computing(5, 2), two);
  EXPECT_NEAR(shorter.low, 1 / longer.high, 1e-12);
  EXPECT_NEAR(shorter.high, 1 / longer.low, 1e-12);
  EXPECT_NEAR(ratio_band(computing(5, 2), computing(2.5, 4), two).high, 1, 1e-12) << "the same work, a quicker device";
}

TEST(Band, AnIntervalOfStepsAndABandAddInSquares) {
  const Estimate both = with_band({100, 80, 120}, {0.9, 1.3});
  EXPECT_NEAR(std::log(*both.high / 100), std::hypot(std::log(1.2), std::log(1.3)), 1e-12);
  EXPECT_NEAR(std::log(*both.low / 100), -std::hypot(std::log(0.8), std::log(0.9)), 1e-12);
  EXPECT_NEAR(*with_band({100, {}, {}}, {0.9, 1.3}).high, 130, 1e-9);
}

}  // namespace
}  // namespace dadsim::estimate
