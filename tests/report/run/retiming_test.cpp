#include "report/run/retiming.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "report/run/shares_at.hpp"

namespace dadsim::report {
namespace {

/// Returns a retiming with two parameters and three timed clusters.
Retiming of_three_points() {
  Retiming retiming;
  retiming.points = {{0, 0}, {2, 0}, {0, 1}};
  retiming.kinds = {"bandwidth", "latency"};
  retiming.runs = {{.run = 0,
                    .metric = {{1, 0}, {0, 0.5}},
                    .weights = {0.1, -0.2, 0.1, 0.3, -1, 0.25},
                    .shares = {{80, 20}, {40, 60}, {10, 90}}}};
  return retiming;
}

// The kernel of the spline is the third power of the distance after the linear map M.
TEST(Retiming, AFactorIsTheSplineOfTheHeader) {
  const double far = std::pow(std::hypot(2 - 1, 0.5 * 3), 3);
  const double log = 0.1 * std::pow(std::hypot(1, 0.5 * 3), 3) - 0.2 * far + 0.1 * std::pow(std::hypot(1, 0.5 * 2), 3) +
                     0.3 - 1 * 1 + 0.25 * 3;
  EXPECT_NEAR(std::log(factor_at(of_three_points(), 0, {1, 3})), log, 1e-12);
}

TEST(Retiming, SharesAreThoseOfThePointsNearby) {
  const Retiming retiming = of_three_points();
  EXPECT_NEAR(shares_at(retiming, 0, {2, 0})[0], 0.4, 1e-9);
  // Squared distances of 1, 1 and 2 give weights of 1, 1 and 1/4.
  const std::vector<double> between = shares_at(retiming, 0, {1, 0});
  EXPECT_NEAR(between[0], (0.8 + 0.4 + 0.1 / 4) / 2.25, 1e-5);
  EXPECT_NEAR(between[1], (0.2 + 0.6 + 0.9 / 4) / 2.25, 1e-5);
}

}  // namespace
}  // namespace dadsim::report
