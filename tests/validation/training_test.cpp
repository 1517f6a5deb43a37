// Compares measured steps of PyTorch over Gloo with the shipped scenarios testbed-train-*.xml (docs/validation.md).
#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

struct TrainingRow {
  std::string network, step;
  std::string parts;            ///< parts of the step time, by error category
  test::Compared by_step_time;  ///< with the computing time measured without communication
  test::Compared by_roofline;   ///< with the computing time from the roofline of the scenario's device
};

/// Returns the mean seconds of a step on warm connections.
double warm_step(const report::RunResult& run) {
  const auto steps = static_cast<double>(run.steps);
  return (run.step_seconds * steps - run.first_step_seconds) / (steps - 1);
}

/// The name of a network in the measured table, and that of its scenario.
struct MeasuredNetwork {
  std::string name, scenario;
  double bound;  ///< bound of the mean absolute error, with measured computing times
};

std::vector<TrainingRow> predict(const MeasuredNetwork& of) {
  const std::string& network = of.name;
  std::map<std::string, double> measured;
  for (auto& cells : test::measured("testbed")) {
    if (cells["topology"] == network && cells["operation"].starts_with("train_")) {
      measured[cells["operation"].substr(6)] = std::stod(cells["median_s"]);
    }
  }
  scenario::Scenario scenario = scenario::load_scenario(
      std::string(DADSIM_SOURCE_DIR) + "/scenarios/testbed-train-" + of.scenario + ".xml", {}, study::make_catalog());
  EXPECT_NEAR(scenario.devices.front().step_seconds, measured["none"], 1e-9);
  std::vector<TrainingRow> rows;
  for (const bool roofline : {false, true}) {
    if (roofline) scenario.devices.front().step_seconds = 0;
    const report::Result result = study::run_experiment(scenario, false);
    for (std::size_t i = 0; i < result.runs.size(); ++i) {
      const std::string& name = result.runs[i].spec.label;
      if (!roofline)
        rows.push_back({network, name, test::parts_in_words(result.runs[i].step_band.value().parts), {}, {}});
      (roofline ? rows[i].by_roofline : rows[i].by_step_time) = {warm_step(result.runs[i]), measured.at(name)};
    }
  }
  return rows;
}

TEST(TrainingValidation, MeasuredStepsAreAsDocumented) {
  test::DocumentedTable table("training", {"network", "step", "measured ms", "predicted ms, measured computing",
                                           "error", "predicted ms, computing by roofline", "error"});
  test::Residuals residuals("training");
  std::vector<test::Compared> by_step_time;
  std::vector<test::Compared> by_roofline;
  for (const MeasuredNetwork& network :
       {MeasuredNetwork{"star4_50M_0ms", "0ms", 0.10}, MeasuredNetwork{"star4_50M_5ms", "5ms", 0.08},
        MeasuredNetwork{"star4_50M_25ms", "25ms", 0.08}, MeasuredNetwork{"hetero5", "hetero5", 0.08},
        MeasuredNetwork{"dumbbell44_50M_20ms", "dumbbell44", 0.08}}) {
    std::vector<test::Compared> here;
    for (const TrainingRow& row : predict(network)) {
      here.push_back(row.by_step_time);
      by_step_time.push_back(row.by_step_time);
      residuals.add(row.network + " " + row.step, "predicted", row.parts, row.by_step_time);
      by_roofline.push_back(row.by_roofline);
      table.add({row.network, row.step, fmt::format("{:.1f}", 1e3 * row.by_step_time.measured),
                 fmt::format("{:.1f}", 1e3 * row.by_step_time.predicted), test::percent(row.by_step_time.error()),
                 fmt::format("{:.1f}", 1e3 * row.by_roofline.predicted), test::percent(row.by_roofline.error())});
    }
    EXPECT_LE(test::mean_absolute_error(here), network.bound) << network.name;
  }
  EXPECT_LE(test::mean_absolute_error(by_step_time), 0.06);
  EXPECT_LE(test::mean_absolute_error(by_roofline), 0.06);
  table.add({"mean", "", "", "", fmt::format("{:.1f} %", 100 * test::mean_absolute_error(by_step_time)), "",
             fmt::format("{:.1f} %", 100 * test::mean_absolute_error(by_roofline))});
  table.expect_in_document();
  residuals.expect_in_file();
}

}  // namespace
}  // namespace dadsim
