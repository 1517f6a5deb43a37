// Measured steps of PyTorch over gloo against the shipped scenarios testbed-train-*.xml (docs/validation.md).
#include <gtest/gtest.h>

#include "cli/catalog.hpp"
#include "cli/experiment.hpp"
#include "cli/measured.hpp"
#include "scenario/load.hpp"
#include "sim/simulator.hpp"

namespace dadsim {
namespace {

struct Row {
  std::string network, step;
  test::Compared by_step_time;  ///< computing as measured without communication
  test::Compared by_roofline;   ///< computing by the roofline of the scenario's device
};

constexpr double parameters = 1'863'690;  // of the network
/// Bytes per rank: inputs and deltas of the layers, the last one first.
const std::vector<double> in_order{131072, 1280, 131072, 131072, 100352, 131072};

/// Seconds of a step on warm connections.
double warm_step(const RunResult& run) {
  const auto steps = static_cast<double>(run.steps);
  return (run.step_seconds * steps - run.first_step_seconds) / (steps - 1);
}

PerWorker same(double value) { return PerWorker(std::vector<double>{value}); }

/// Seconds of a step that computes and then gathers these bytes in order, all at the end. That is how the measured
/// program does dad; a run gathers what a layer needs at once.
double step_in_order(const Scenario& scenario, const std::vector<double>& bytes) {
  Cluster cluster;
  cluster.platform = scenario.platform;
  for (const Placement& worker : scenario.workers) {
    cluster.hosts.push_back(worker.host);
    cluster.devices.push_back(scenario.devices.front());
  }
  const double rows = static_cast<double>(scenario.training.batch);
  Schedule schedule;
  schedule.workers = cluster.hosts.size();
  schedule.tasks.push_back(
      {"all", ComputeTask{Phase::forward, Role::workers, same(6 * rows * parameters), same(4 * parameters), same(10)}});
  for (const double each : bytes) {
    const auto index = static_cast<std::int32_t>(schedule.tasks.size());
    schedule.tasks.push_back({"all", CollectiveTask{CollectiveKind::all_gather, same(each), "gloo"}});
    schedule.tasks.push_back({"all", WaitTask{Role::workers, index}});
  }
  const std::vector<Schedule> schedules{schedule};
  return time_schedules(cluster, schedules).steps.front().seconds;
}

std::vector<Row> predict(const std::string& delay) {
  const std::string network = "star4_50M_" + delay;
  std::map<std::string, double> measured;
  for (auto& cells : test::measured("testbed")) {
    if (cells["topology"] == network && cells["operation"].starts_with("train_")) {
      measured[cells["operation"].substr(6)] = std::stod(cells["median_s"]);
    }
  }
  Scenario scenario =
      load_scenario(std::string(DADSIM_SOURCE_DIR) + "/scenarios/testbed-train-" + delay + ".xml", {}, make_catalog());
  EXPECT_NEAR(scenario.devices.front().step_seconds, measured["none"], 1e-9);
  std::vector<Row> rows;
  for (const bool roofline : {false, true}) {
    if (roofline) scenario.devices.front().step_seconds = 0;
    const Result result = run_experiment(scenario, false);
    std::vector<std::pair<std::string, double>> steps;
    for (const RunResult& run : result.runs) {
      steps.emplace_back(run.spec.label,
                         run.spec.algorithm == "dad" ? step_in_order(scenario, in_order) : warm_step(run));
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto& [name, seconds] = steps[i];
      if (!roofline) rows.push_back({network, name, {}, {}});
      (roofline ? rows[i].by_roofline : rows[i].by_step_time) = {seconds, measured.at(name)};
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
    for (const Row& row : predict(delay)) {
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
