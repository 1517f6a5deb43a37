// Compares how much one change alters the step time on the same machines, measured (changes.csv) and predicted
// (docs/validation/changes.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "estimate/bands.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "validation/residuals.hpp"

namespace dadsim {
namespace {

using ChangeRow = std::map<std::string, std::string>;

std::string attributes_of(const std::string& settings) {
  std::string text;
  for (const std::string& setting : test::split(settings, ' ')) {
    const std::size_t equals = setting.find('=');
    text += fmt::format(" {}=\"{}\"", setting.substr(0, equals), setting.substr(equals + 1));
  }
  return text;
}

report::RunResult run_with(const ChangeRow& row, const std::string& settings) {
  const std::string text = fmt::format(
      R"(<scenario name="change" seed="1"><platform><gpu-cluster{}/></platform>
         <workers memory="ignore"><worker hosts="gpu-[0-{}]" device="{}"/></workers><network fidelity="flow"/>
         <timing-only/><training><adamw/></training><timed-as{}{}/>
         <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
      attributes_of(row.at("platform")), std::stoll(row.at("gpus")) - 1, row.at("device"),
      attributes_of(row.at("timed_as")), attributes_of(settings));
  const scenario::Scenario scenario = scenario::ScenarioSource("change.xml", text).load({}, study::make_catalog());
  return study::run_experiment(scenario, false).runs.front();
}

TEST(ChangesValidation, SignsAndSizesAreAsDocumented) {
  constexpr double kPoints = 0.05;
  test::DocumentedTable table("changes",
                              {"change", "predicted", "90 % band of the change", "measured", "inside", "difference"});
  test::DocumentedTable memory("changes-memory", {"change", "counted", "measured", "difference"});
  std::size_t close = 0;
  std::vector<double> apart;
  const std::vector<ChangeRow> rows = test::measured("changes");
  for (const ChangeRow& row : rows) {
    const report::RunResult before = run_with(row, row.at("before"));
    const report::RunResult after = run_with(row, row.at("after"));
    const double ratio = after.step_seconds / before.step_seconds;
    const double measured = std::stod(row.at("ratio"));
    const estimate::Band band = estimate::ratio_band(after.step_band.value().parts, before.step_band.value().parts);
    EXPECT_GT((ratio - 1) * (measured - 1), 0) << row.at("change");
    const bool held = measured >= ratio * band.low && measured <= ratio * band.high;
    close += std::abs(ratio - measured) <= kPoints ? 1U : 0U;
    table.add({row.at("change"), test::percent(ratio - 1),
               test::percent(ratio * band.low - 1) + " to " + test::percent(ratio * band.high - 1),
               test::percent(measured - 1), held ? "yes" : "no",
               fmt::format("{:+.1f} points", 100 * (ratio - measured))});
    if (row.at("memory_before") == "-") continue;
    const double counted = after.memory.total() / before.memory.total() - 1;
    const double peaks = std::stod(row.at("memory_after")) / std::stod(row.at("memory_before")) - 1;
    EXPECT_LE(counted, 0) << row.at("change");
    apart.push_back(std::abs(counted - peaks));
    memory.add({row.at("change"), test::percent(counted), test::percent(peaks),
                fmt::format("{:+.1f} points", 100 * (counted - peaks))});
  }
  table.expect_in_document();
  memory.expect_in_document();
  EXPECT_GE(5 * close, 4 * rows.size());
  EXPECT_GE(5 * std::ranges::count_if(apart, [](double off) { return off <= kPoints; }), 4 * std::ssize(apart));
}

using Settings = std::map<std::string, std::string>;

Settings settings_of(const std::string& text) {
  Settings settings;
  for (const std::string& setting : test::split(text, ' '))
    settings[setting.substr(0, setting.find('='))] = setting.substr(setting.find('=') + 1);
  return settings;
}

/// Returns the only setting in which two jobs differ; empty if there is none or more than one.
std::string only_change(const ChangeRow& a, const ChangeRow& b) {
  for (const char* same : {"table", "platform", "gpus", "device", "batch"}) {
    if (a.at(same) != b.at(same)) return "";
  }
  // A job of Megatron-Bridge ends with the name of its container.
  const auto container = [](const ChangeRow& row) { return row.at("case").substr(row.at("case").rfind(' ')); };
  if (a.at("table") == "megatron-bridge" && container(a) != container(b)) return "";
  Settings first = settings_of(a.at("timed_as"));
  Settings second = settings_of(b.at("timed_as"));
  std::vector<std::string> changed;
  for (const auto& [name, value] : first) {
    if (second[name] != value) changed.push_back(name);
  }
  for (const auto& [name, value] : second) {
    if (!first.contains(name)) changed.push_back(name);
  }
  return changed.size() == 1 ? changed.front() : "";
}

/// Counts of pairs of jobs that differ in one setting, by how well their difference is predicted.
struct PairsOfJobs {
  std::size_t pairs = 0, beyond = 0, right = 0, close = 0;
  double difference = 0;  ///< sum of the absolute differences
};

/// Compares all pairs of jobs of 2025 and 2026 that differ in one setting, using the predictions of jobs_2026_test.
/// Jobs with different networks form no pair.
TEST(ChangesValidation, JobsThatDifferInOneSetting) {
  constexpr double kPoints = 0.05;
  constexpr double kMeasurable = 0.02;  // below this relative change, the measured sign may be due to scatter
  std::map<std::pair<std::string, std::string>, test::Compared> seconds;
  for (const test::ResidualRow& row : test::residual_rows()) seconds[{row.table, row.what}] = row.seconds;
  const auto seconds_of = [&](const ChangeRow& row) {
    return seconds.at({"jobs-2026-" + row.at("table"), fmt::format("{} gpus {}", row.at("case"), row.at("gpus"))});
  };
  std::map<std::pair<std::string, std::string>, PairsOfJobs> all;
  const std::vector<ChangeRow> jobs = test::measured("jobs-2026");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (std::size_t j = i + 1; j < jobs.size(); ++j) {
      const std::string setting = only_change(jobs[i], jobs[j]);
      if (setting.empty() || setting == "workload" || jobs[i].at("table") == "mlperf-v5") continue;
      const test::Compared before = seconds_of(jobs[i]);
      const test::Compared after = seconds_of(jobs[j]);
      const double predicted = after.predicted / before.predicted - 1;
      const double measured = after.measured / before.measured - 1;
      PairsOfJobs& pairs = all[{setting, jobs[i].at("table")}];
      ++pairs.pairs;
      if (std::abs(measured) > kMeasurable) {
        ++pairs.beyond;
        pairs.right += predicted * measured > 0 ? 1U : 0U;
      }
      pairs.close += std::abs(predicted - measured) <= kPoints ? 1U : 0U;
      pairs.difference += std::abs(predicted - measured);
    }
  }
  test::DocumentedTable table("changes-of-jobs", {"setting", "jobs", "pairs", "sign right, of changes beyond 2 %",
                                                  "within 5 points", "mean difference"});
  for (const auto& [of, pairs] : all)
    table.add({of.first, of.second, fmt::format("{}", pairs.pairs), fmt::format("{} of {}", pairs.right, pairs.beyond),
               fmt::format("{}", pairs.close),
               fmt::format("{:.1f} points", 100 * pairs.difference / static_cast<double>(pairs.pairs))});
  table.expect_in_document();
  const PairsOfJobs& precision = all.at({"precision", "megatron-bridge"});
  EXPECT_EQ(precision.right, precision.beyond);
}

}  // namespace
}  // namespace dadsim
