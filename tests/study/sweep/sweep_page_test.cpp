#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "study/sweep/sweep_document.hpp"

namespace dadsim::study {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

SweepRun run_of(std::int64_t point, std::int64_t seed, const std::string& label, double seconds) {
  SweepRun run{{point, seed}, 0, {}, {}};
  run.figures.set("label", label)
      .set("algorithm", label)
      .set("communicates", 1)
      .set("target_reached", double{std::isfinite(seconds) ? 1.0 : 0.0})
      .set("target_seconds", seconds)
      .set("target_after_seconds", 0.99 * seconds)  // close evaluations, so that their interval is small
      .set("target_step", std::isfinite(seconds) ? 10 : kNoNumber)
      .set("final_accuracy", 0.9)
      .set("step_seconds", seconds / 10)
      .set("total_bytes", 1e6)
      .set("money_to_target", 2.5)
      .set("joules_to_target", 700);
  return run;
}

/// Returns results of one axis with these values, and one run per point.
SweepResults results_of(const std::vector<std::string>& texts) {
  SweepResults results;
  results.columns = {{1, "platform.sites.up"}};
  results.identity.points = static_cast<std::int64_t>(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto id = static_cast<std::int64_t>(i) + 1;
    results.points.push_back({id, "", {texts[i]}});
    results.runs.push_back(run_of(id, 0, "dad", 1));
  }
  return results;
}

report::SweepReport::Axis axis_of(const std::vector<std::string>& texts) {
  const SweepResults results = results_of(texts);
  return sweep_report_of(results, outcomes(results)).axes.at(0);
}

std::vector<double> numbers(const report::SweepReport::Axis& axis) {
  std::vector<double> all;
  for (const report::SweepReport::Value& value : axis.values) all.push_back(value.number.value_or(kNoNumber));
  return all;
}

TEST(SweepPageOfResults, ValuesAreNumbersWithACommonUnit) {
  const report::SweepReport::Axis rates = axis_of({"1Gbps", "100Mbps", "1MBps"});
  EXPECT_EQ(rates.unit, "bit/s");
  EXPECT_EQ(numbers(rates), (std::vector<double>{8e6, 1e8, 1e9})) << "ascending";
  EXPECT_EQ(rates.values[1].text, "100Mbps");

  const report::SweepReport::Axis times = axis_of({"5ms", "1s"});
  EXPECT_EQ(times.unit, "s");
  EXPECT_EQ(numbers(times), (std::vector<double>{0.005, 1}));

  const report::SweepReport::Axis sizes = axis_of({"1MB", "300kB"});
  EXPECT_EQ(sizes.unit, "B");
  EXPECT_EQ(numbers(sizes), (std::vector<double>{3e5, 1e6}));

  const report::SweepReport::Axis plain = axis_of({"64", "16", "1e2"});
  EXPECT_EQ(plain.unit, "");
  EXPECT_EQ(numbers(plain), (std::vector<double>{16, 64, 100}));

  const report::SweepReport::Axis other = axis_of({"2xGPU", "1xGPU"});
  EXPECT_EQ(other.unit, "xGPU");
  EXPECT_EQ(numbers(other), (std::vector<double>{1, 2}));
}

TEST(SweepPageOfResults, TextsStayInTheirOrder) {
  for (const auto& texts : {std::vector<std::string>{"tree", "ring"}, std::vector<std::string>{"2", "auto"},
                            std::vector<std::string>{"1ms", "2Mbps"}}) {
    const report::SweepReport::Axis axis = axis_of(texts);
    EXPECT_FALSE(axis.numeric());
    EXPECT_EQ(axis.unit, "");
    EXPECT_EQ(axis.values[0].text, texts[0]);
    EXPECT_EQ(axis.values[1].text, texts[1]);
  }
}

// Two axes (the first of two linked paths) and two seeds. dad is fastest at points 1 and 3, rank-dad at 2; point 4
// failed.
TEST(SweepPageOfResults, HoldsWhatTheFileHolds) {
  SweepResults results;
  results.identity.scenario_name = "name";
  results.identity.version = "1.2.3";
  results.identity.hash = 7;
  results.identity.points = 4;
  results.identity.seeds = 2;
  results.identity.currency = "EUR";
  results.columns = {{1, "platform.sites.up"}, {1, "platform.sites.down"}, {2, "training.batch"}};
  results.points = {{1, "", {"10Mbps", "20Mbps", "8"}},
                    {2, "", {"10Mbps", "20Mbps", "16"}},
                    {3, "", {"1Mbps", "1Mbps", "8"}},
                    {4, "", {"1Mbps", "1Mbps", "16"}}};
  for (std::int64_t point = 1; point <= 3; ++point) {
    for (std::int64_t seed = 0; seed < 2; ++seed) {
      SweepRun alone = run_of(point, seed, "pooled", 0.5);
      alone.figures.set("communicates", 0);
      results.runs.push_back(alone);
      results.runs.push_back(run_of(point, seed, "rank-dad", point == 2 ? 1 : 9));
      // At point 2, one of the seeds misses the target.
      results.runs.push_back(run_of(point, seed, "dad", point == 2 && seed == 1 ? kNoNumber : 3));
    }
  }
  results.failed = {{{4, 0}, "no route"}};

  const report::SweepReport report = sweep_report_of(results, outcomes(results));
  EXPECT_EQ(report.version, "1.2.3");
  EXPECT_EQ(report.hash, 7U);
  EXPECT_EQ(report.currency, "EUR");
  EXPECT_TRUE(report.grid());
  ASSERT_EQ(report.axes.size(), 2U);
  EXPECT_EQ(report.axes[0].name, "uplink of the sites");
  EXPECT_EQ(report.axes[0].path, "platform.sites.up");
  EXPECT_EQ(report.axes[0].linked, std::vector<std::string>{"platform.sites.down"});
  EXPECT_EQ(report.axes[0].values[0].text, "1Mbps");
  EXPECT_EQ(report.axes[0].values[1].text, "10Mbps / 20Mbps");
  EXPECT_EQ(report.axes[1].name, "batch of a worker");
  EXPECT_EQ(report.points[0].at, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(report.points[3].at, (std::vector<std::size_t>{0, 1}));

  ASSERT_EQ(report.runs.size(), 3U);
  EXPECT_EQ(report.runs[0].label, "dad");
  EXPECT_EQ(report.runs[1].label, "rank-dad");
  EXPECT_EQ(report.runs[2].label, "pooled");
  EXPECT_FALSE(report.runs[2].communicates);
  EXPECT_EQ(report.points[0].ranked.front().run, 0U);
  EXPECT_EQ(report.points[0].ranked.size(), 2U) << "pooled takes no part";
  EXPECT_EQ(report.points[1].ranked.front().run, 1U);
  EXPECT_FALSE(report.points[1].ranked.back().seconds.has_value());
  EXPECT_TRUE(report.points[3].ranked.empty());

  ASSERT_EQ(report.rows.size(), 18U);
  const report::SweepReport::Row& missed = report.rows[11];
  EXPECT_EQ(missed.point, 1U);
  EXPECT_EQ(missed.seed, 1);
  EXPECT_EQ(missed.run, 0U);
  EXPECT_TRUE(std::isnan(missed["target_seconds"]));
  EXPECT_EQ(report.rows[0].run, 2U);
  EXPECT_EQ(report.rows[0]["target_seconds"], 0.5);
  EXPECT_EQ(report.rows[0]["total_bytes"], 1e6);
  EXPECT_EQ(report.rows[0]["money_to_target"], 2.5);
  EXPECT_EQ(report.rows[0]["joules_to_target"], 700);
  ASSERT_EQ(report.failures.size(), 1U);
  EXPECT_EQ(report.failures[0].point, 4);
  EXPECT_EQ(report.failures[0].message, "no route");
}

TEST(SweepPageOfResults, PathsWithTheSameEndAreTold) {
  SweepResults results = results_of({"1Mbps", "2Mbps"});
  results.columns = {{1, "platform.a.sites.up"}, {2, "platform.b.sites.up"}};
  for (SweepResults::Point& point : results.points) point.values.emplace_back("1Mbps");
  const report::SweepReport report = sweep_report_of(results, outcomes(results));
  EXPECT_EQ(report.axes[0].name, "platform.a.sites.up");
  EXPECT_EQ(report.axes[1].name, "platform.b.sites.up");
}

}  // namespace
}  // namespace dadsim::study
