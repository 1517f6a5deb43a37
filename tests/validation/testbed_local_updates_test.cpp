// Compares predictions with steps of DDP and rounds of DiLoCo, measured with real messages between network namespaces
// (docs/validation/local-updates.md). scripts/testbed --local-updates measures them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "validation/measured.hpp"

namespace dadsim {
namespace {

using LocalRow = std::map<std::string, std::string>;

/// Returns the hosts of a network of platforms/testbed/. With `served`, leaves out the first host, which is the server.
std::string workers_of(const std::string& topology, bool served) {
  if (topology.starts_with("star4")) return served ? "host-[2-4]" : "host-[1-4]";
  return served ? "host-1 host-2 host-3 host-4" : "host-0 host-1 host-2 host-3 host-4";
}

/// Returns the seconds of a step or round on warm connections. Expects that predicted and measured bytes are equal.
double predict_warm(const LocalRow& row) {
  const std::string& topology = row.at("topology");
  const bool served = row.at("run").ends_with("aggregator");
  std::vector<std::string> settings{"platform.file=../../platforms/testbed/" + topology + ".xml",
                                    "device.step-time=" + row.at("step_s") + "s",
                                    "timed-as.vocabulary=" + row.at("vocabulary"),
                                    "run[2].period=" + row.at("period"),
                                    "run[3].period=" + row.at("period"),
                                    "workers.worker.hosts=" + workers_of(topology, served)};
  if (served)
    settings.push_back(std::string("workers.aggregator.host=") + (topology.starts_with("star4") ? "host-1" : "host-0"));
  const scenario::Scenario scenario = scenario::load_scenario(
      std::string(DADSIM_SOURCE_DIR) + "/tests/validation/testbed-local-updates.xml", settings, study::make_catalog());
  const report::Result result = study::run_experiment(scenario, false);
  EXPECT_EQ(result.runs.back().bytes_up_per_worker, std::stod(row.at("bytes"))) << topology << ' ' << row.at("run");
  for (const report::RunResult& run : result.runs) {
    if (run.spec.label != row.at("run")) continue;
    const auto steps = static_cast<double>(run.steps);
    return (run.step_seconds * steps - run.first_step_seconds) / (steps - 1);
  }
  throw std::runtime_error("no run " + row.at("run"));
}

TEST(TestbedLocalUpdates, RowsAreAsDocumented) {
  test::DocumentedTable table("testbed-local-updates",
                              {"network", "run", "H", "MB", "predicted s", "measured s", "least", "greatest", "error",
                               "computing predicted %", "measured %"});
  std::vector<test::Compared> rows;
  for (const LocalRow& row : test::measured("testbed-local-updates")) {
    const test::Compared seconds{predict_warm(row), std::stod(row.at("median_s"))};
    const double computing = std::stod(row.at("period")) * std::stod(row.at("step_s"));
    EXPECT_LE(std::abs(seconds.error()), 0.1) << row.at("topology") << ' ' << row.at("run");
    table.add({row.at("topology"), row.at("run"), row.at("period"),
               fmt::format("{:.2f}", 1e-6 * std::stod(row.at("bytes"))), fmt::format("{:.3f}", seconds.predicted),
               fmt::format("{:.3f}", seconds.measured), fmt::format("{:.3f}", std::stod(row.at("least_s"))),
               fmt::format("{:.3f}", std::stod(row.at("greatest_s"))), test::percent(seconds.error()),
               fmt::format("{:.1f}", 100 * computing / seconds.predicted),
               fmt::format("{:.1f}", 100 * computing / seconds.measured)});
    rows.push_back(seconds);
  }
  EXPECT_EQ(rows.size(), 12U);
  table.expect_in_document();
}

}  // namespace
}  // namespace dadsim
