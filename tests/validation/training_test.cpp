// Measured steps of PyTorch over gloo against the shipped scenarios testbed-train-*.xml (docs/validation.md).
#include <gtest/gtest.h>

#include "scenario/load.hpp"
#include "study/catalog.hpp"
#include "study/experiment.hpp"
#include "validation/measured.hpp"

namespace dadsim {
namespace {

struct TrainingRow {
  std::string network, step;
  test::Compared by_step_time;  ///< computing as measured without communication
  test::Compared by_roofline;   ///< computing by the roofline of the scenario's device
};

/// Seconds of a step on warm connections.
double warm_step(const report::RunResult& run) {
  const auto steps = static_cast<double>(run.steps);
  return (run.step_seconds * steps - run.first_step_seconds) / (steps - 1);
}

std::vector<TrainingRow> predict(const std::string& delay) {
  const std::string network = "star4_50M_" + delay;
  std::map<std::string, double> measured;
  for (auto& cells : test::measured("testbed")) {
    if (cells["topology"] == network && cells["operation"].starts_with("train_")) {
      measured[cells["operation"].substr(6)] = std::stod(cells["median_s"]);
    }
  }
  scenario::Scenario scenario = scenario::load_scenario(
      std::string(DADSIM_SOURCE_DIR) + "/scenarios/testbed-train-" + delay + ".xml", {}, study::make_catalog());
  EXPECT_NEAR(scenario.devices.front().step_seconds, measured["none"], 1e-9);
  std::vector<TrainingRow> rows;
  for (const bool roofline : {false, true}) {
    if (roofline) scenario.devices.front().step_seconds = 0;
    const report::Result result = study::run_experiment(scenario, false);
    for (std::size_t i = 0; i < result.runs.size(); ++i) {
      const std::string& name = result.runs[i].spec.label;
      if (!roofline) rows.push_back({network, name, {}, {}});
      (roofline ? rows[i].by_roofline : rows[i].by_step_time) = {warm_step(result.runs[i]), measured.at(name)};
    }
  }
  return rows;
}

TEST(TrainingValidation, MeasuredStepsAreAsDocumented) {
  test::DocumentedTable table("training", {"network", "step", "measured ms", "predicted ms, measured computing",
                                           "error", "predicted ms, computing by roofline", "error"});
  std::vector<test::Compared> by_step_time;
  std::vector<test::Compared> by_roofline;
  for (const char* delay : {"0ms", "5ms", "25ms"}) {
    for (const TrainingRow& row : predict(delay)) {
      by_step_time.push_back(row.by_step_time);
      by_roofline.push_back(row.by_roofline);
      table.add({row.network, row.step, fmt::format("{:.1f}", 1e3 * row.by_step_time.measured),
                 fmt::format("{:.1f}", 1e3 * row.by_step_time.predicted), test::percent(row.by_step_time.error()),
                 fmt::format("{:.1f}", 1e3 * row.by_roofline.predicted), test::percent(row.by_roofline.error())});
    }
  }
  EXPECT_LE(test::mean_absolute_error(by_step_time), 0.10);
  EXPECT_LE(test::mean_absolute_error(by_roofline), 0.10);
  table.add({"mean", "", "", "", fmt::format("{:.1f} %", 100 * test::mean_absolute_error(by_step_time)), "",
             fmt::format("{:.1f} %", 100 * test::mean_absolute_error(by_roofline))});
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
