#include "estimate/bands.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace dadsim::estimate {
namespace {

const std::vector<ErrorCategory> two{{"compute.assumed", {0.8, 1.5, 30}}, {"network.tcp", {0.9, 1.1, 30}}};

TEST(Band, EndsOfASpreadAreOrderStatistics) {
  std::vector<Residual> rows;
  for (int i = -20; i <= 18; ++i) rows.push_back({"network.rdma", 0.01 * i});
  // 39 values: the second and the thirty-eighth.
  const Spread spread = spread_of("network.rdma", rows);
  EXPECT_EQ(spread.rows, 39U);
  EXPECT_NEAR(std::log(spread.low), -0.19, 1e-12);
  EXPECT_NEAR(std::log(spread.high), 0.17, 1e-12);
  // 20 values: the first and the twentieth.
  const Spread of_twenty = spread_of("network.rdma", {rows.begin(), rows.begin() + 20});
  EXPECT_NEAR(std::log(of_twenty.low), -0.20, 1e-12);
  EXPECT_NEAR(std::log(spread_of("network.rdma", {rows.end() - 20, rows.end()}).high), 0.18, 1e-12);
  // Too few of its own: those of the wider category as well, which has those of all below it.
  EXPECT_EQ(spread_of("network.nvlink", rows).rows, 39U);
  EXPECT_EQ(spread_of("network.assumed", rows).rows, 39U);
  EXPECT_EQ(spread_of("compute.assumed", rows).rows, 0U);
  EXPECT_THROW((void)spread_of("network.unheard", rows), std::logic_error);
}

TEST(Band, ThePredictionIsAlwaysInside) {
  const std::vector<Residual> rows(20, {"network.tcp", 0.5});
  const Spread spread = spread_of("network.tcp", rows);
  EXPECT_EQ(spread.low, 1);
  EXPECT_NEAR(spread.high, std::exp(0.5), 1e-12);
}

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
  // a has half of its time more in computing, b in sending.
  const double above = std::hypot(0.5 * std::log(1.5), 0.5 * std::log(0.9));
  EXPECT_NEAR(std::log(ratio_band(a, b, two).high), above, 1e-12);
  EXPECT_NEAR(std::log(ratio_band(b, a, two).low), -above, 1e-12);
}

TEST(Band, AnIntervalOfStepsAndABandAddInSquares) {
  const Estimate both = with_band({100, 80, 120}, {0.9, 1.3});
  EXPECT_NEAR(std::log(*both.high / 100), std::hypot(std::log(1.2), std::log(1.3)), 1e-12);
  EXPECT_NEAR(std::log(*both.low / 100), -std::hypot(std::log(0.8), std::log(0.9)), 1e-12);
  EXPECT_NEAR(*with_band({100, {}, {}}, {0.9, 1.3}).high, 130, 1e-9);
}

}  // namespace
}  // namespace dadsim::estimate
