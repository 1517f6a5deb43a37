#include "study/retiming/fit_retiming.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "report/html/report.hpp"
#include "report/page_parts.hpp"
#include "report/run/shares_at.hpp"
#include "scenario/document/load.hpp"
#include "study/one_line.hpp"
#include "study/retiming/spline.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

TEST(Spline, GoesThroughItsPointsAndPlanesAreExact) {
  const std::vector<std::vector<double>> points{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0.3, 0.6}, {-1, 0.5}};
  const std::vector<std::vector<double>> metric{{1, 0}, {0, 0.5}};
  report::Retiming retiming;
  retiming.points = points;
  const auto fit = [&](auto&& value) {
    std::vector<double> values;
    for (const auto& point : points) values.push_back(value(point));
    const Spline spline(points, metric);
    const std::vector<double> weights = spline.weights(values);
    retiming.runs = {{0, metric, weights, {}, 0, 0}};
    return spline.error_left_out(weights);
  };
  const auto bent = [](const std::vector<double>& x) { return std::sin(x[0]) + x[1] * x[1]; };
  fit(bent);
  for (const auto& point : points) EXPECT_NEAR(std::log(report::factor_at(retiming, 0, point)), bent(point), 1e-12);
  const auto flat = [](const std::vector<double>& x) { return 2 + x[0] - 3 * x[1]; };
  EXPECT_NEAR(fit(flat), 0, 1e-12);
  EXPECT_NEAR(std::log(report::factor_at(retiming, 0, {0.4, -2})), flat({0.4, -2}), 1e-12);
}

class Surrogate : public ::testing::Test {
 protected:
  Surrogate() {
    const std::string path = folder_.path("scenario.xml");
    std::ofstream(path) << test::one_line::scenario();
    scenario_ = load_scenario(path, {}, make_catalog());
    learned_ = learn_scenario(scenario_, nullptr, false);
    result_ = time_scenario(scenario_, learned_, cluster_of(scenario_), false);
  }
  test::TemporaryFolder folder_;
  scenario::Scenario scenario_;
  Learned learned_;
  report::Result result_;
};

TEST_F(Surrogate, AgreesWithFreshTimings) {
  const report::Retiming fit = fit_retiming(scenario_, learned_, result_, false);
  ASSERT_FALSE(fit.why_not);
  ASSERT_EQ(fit.runs.size(), result_.runs.size());
  const std::size_t knobs = fit.knobs.size();
  EXPECT_EQ(fit.points.front(), std::vector<double>(knobs, 0.0));
  EXPECT_NEAR(report::factor_at(fit, 0, fit.points.front()), 1, 1e-9);
  EXPECT_LE(fit.runs[0].worst_error, 0.03);
  // Compares at points that were used neither for the fit nor for its own check.
  for (const std::vector<double>& shape :
       std::vector<std::vector<double>>{{0.77, -0.31, 0.53, -0.9}, {-0.6, -0.85, 0.2, 0.7}, {0.45, 0.9, -0.95, 0.1}}) {
    std::vector<double> at(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(knobs));
    for (double& one : at) one *= fit.reach;
    sim::Cluster cluster = cluster_of(scenario_);
    turn(fit, at, cluster);
    const report::Result fresh = time_scenario(scenario_, learned_, cluster, false);
    for (std::size_t r = 0; r < fit.runs.size(); ++r) {
      const double truth = fresh.runs[r].step_seconds / result_.runs[r].step_seconds;
      EXPECT_NEAR(report::factor_at(fit, r, at) / truth, 1, 0.03) << fit.runs[r].run;
      double sum = 0;
      for (const double share : report::shares_at(fit, r, at)) sum += share;
      EXPECT_NEAR(sum, 1, 0.03);
    }
  }
}

TEST_F(Surrogate, WhatVariesOverTimeHasNone) {
  scenario_.platform.background.emplace_back();
  const report::Retiming fit = fit_retiming(scenario_, learned_, result_, false);
  EXPECT_TRUE(fit.runs.empty());
  EXPECT_EQ(fit.why_not, report::Statement{"network-changes"});
  EXPECT_EQ(report::embedded(report::to_html(result_, "", fit), "retiming")["runs"].size(), 0U);
}

// If the changed cluster cannot be simulated, the page lacks only its sliders and says why.
TEST_F(Surrogate, AFitThatFailsLeavesThePageItsReason) {
  scenario_.platform.changes.push_back({.link = "of no platform", .bandwidth_factor = 2});
  const report::Retiming fit = fit_retiming(scenario_, learned_, result_, false);
  EXPECT_TRUE(fit.runs.empty());
  ASSERT_TRUE(fit.why_not);
  const std::string& fault = fit.why_not->text("fault");
  EXPECT_NE(fault.find("there is no link and no class of links 'of no platform'"), std::string::npos) << fault;
  EXPECT_NE(report::in_words(*fit.why_not).find(fault), std::string::npos) << report::in_words(*fit.why_not);
  const std::string page = report::to_html(result_, "", fit, {});
  EXPECT_NE(page.find("the times of other clusters could not be fitted"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::study
