// Tests the charts of a run's result, which pages draw and --plots writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "report/html/report.hpp"
#include "report/page_parts.hpp"
#include "report/run/result_document.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

const Chart* chart_of(const std::vector<Chart>& charts, const std::string& name) {
  const auto found = std::ranges::find(charts, name, &Chart::name);
  return found == charts.end() ? nullptr : &*found;
}

TEST(RunCharts, DivideAStepByItsCauses) {
  Result result = sample_result();
  result.runs.push_back(sample_event_driven_run());
  const Chart step = step_parts(result, false);
  std::vector<double> sums(2);
  std::set<std::string> labels;
  for (const ChartSeries& series : step.series) {
    labels.insert(series.label);
    for (const ChartPoint& point : series.points) sums.at(static_cast<std::size_t>(point.x)) += point.y;
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(sums[i], result.runs[i].step_seconds, 1e-9 * sums[i]) << i;
  EXPECT_EQ(labels,
            (std::set<std::string>{"bandwidth", "latency", "computing", "waiting for the network or for others"}));
}

TEST(RunCharts, HaveMeanAndDeviationOverSeeds) {
  Result result = sample_result();
  RunResult& run = result.runs[0];
  const Chart one_seed = *chart_of(charts_of(result), "accuracy");
  EXPECT_EQ(one_seed.series[0].points.at(1).y, 0.96);
  EXPECT_FALSE(one_seed.series[0].points[1].deviation);
  run.accuracy_over_seeds = {{0.2, 0.05}, {0.9, 0.01}};
  const Chart seeds = *chart_of(charts_of(result), "accuracy");
  ASSERT_EQ(seeds.series[0].points.size(), 2U) << "the last point is of the first seed alone";
  const ChartPoint& point = seeds.series[0].points[1];
  EXPECT_EQ(point.x, run.curve[1].seconds);
  EXPECT_EQ(point.y, 0.9);
  EXPECT_DOUBLE_EQ(*point.low, 0.89);
  EXPECT_DOUBLE_EQ(*point.high, 0.91);
  EXPECT_EQ(point.deviation, 0.01);
  ASSERT_EQ(seeds.limits.size(), 1U);
  EXPECT_EQ(seeds.limits[0].at, 0.95);
}

TEST(RunCharts, LeaveOutWhatIsNotKnown) {
  Result result = sample_result();
  result.timing_only = true;
  result.runs[0].ranks.clear();
  const std::vector<Chart> charts = charts_of(result);
  EXPECT_EQ(chart_of(charts, "accuracy"), nullptr);
  EXPECT_EQ(chart_of(charts, "memory"), nullptr);
  EXPECT_NE(chart_of(charts, "bytes"), nullptr);
}

TEST(RunCharts, SayWhenWhoTookPart) {
  Result result = sample_result();
  EXPECT_EQ(chart_of(charts_of(result), "participation-simulated"), nullptr) << "its run takes steps together";
  result.runs.push_back(sample_event_driven_run());
  const Chart chart = *chart_of(charts_of(result), "participation-simulated");
  EXPECT_EQ(chart.names, (std::vector<std::string>{"worker 0 (a)", "worker 1 (b \"quoted\")"}));
  EXPECT_EQ(to_csv(chart),
            "series,name,simulated time (s),begin,point\n"
            "went into the model,worker 0 (a),6,0,round 1\n"
            "went into the model,\"worker 1 (b \"\"quoted\"\")\",6.5,0,round 1\n"
            "went into the model,worker 0 (a),13,7,round 2\n"
            "went into the model,worker 0 (a),29,15,round 3\n"
            "came too late,\"worker 1 (b \"\"quoted\"\")\",22,7,round 2\n"
            "never came,\"worker 1 (b \"\"quoted\"\")\",16,7,round 2\n"
            "was down,\"worker 1 (b \"\"quoted\"\")\",16,10,\n");
  EXPECT_FALSE(embedded(to_html(result), "charts").contains("participation-simulated")) << "its script draws the JSON";
}

TEST(RunCharts, AreOnThePageUnlessItsScriptHasControlsForThem) {
  Result result = sample_result();
  result.runs[0].memory = {4e6, 2e6, 8e6, 4e6, 3e7, 1e6};
  result.runs[0].spec.label = kHostile;
  const auto charts = embedded(to_html(result), "charts");
  EXPECT_FALSE(charts.contains("accuracy"));
  const auto& memory = charts["memory"];
  EXPECT_EQ(memory["kind"], "stacked");
  EXPECT_EQ(memory["names"][0], kHostile);
  double sum = 0;
  for (const auto& series : memory["series"]) sum += series["points"][0][1].get<double>();
  EXPECT_DOUBLE_EQ(sum, result.runs[0].memory.total());
}

TEST(RunCharts, ShowMemoryFromMomentToMoment) {
  Result result = sample_result();
  result.runs[0].memory = {.parameters = 4e6, .activations = 3e7};
  result.runs[0].memory_moments = {{"before", {.parameters = 4e6}}, {"loss", {.parameters = 4e6, .activations = 3e7}}};
  const std::vector<Chart> charts = charts_of(result);
  const auto found =
      std::ranges::find_if(charts, [](const Chart& chart) { return chart.name.starts_with("memory-over-step-"); });
  ASSERT_NE(found, charts.end());
  EXPECT_EQ(found->names, (std::vector<std::string>{"before", "loss"}));
  ASSERT_EQ(found->series.size(), 2U);
  EXPECT_EQ(found->series[1].label, "activations");
  EXPECT_EQ(found->series[1].points[1].y, 3e7);
}

}  // namespace
}  // namespace dadsim::report
