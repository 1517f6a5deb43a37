// Compares jobs measured before and after one change on the same machines (changes.csv): how much the step time
// changes, measured and predicted (docs/validation/changes.md).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "estimate/bands.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "validation/measured.hpp"

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
         <workers memory="ignore"><worker hosts="gpu-[0-{}]" device="h100-sxm5"/></workers><network fidelity="flow"/>
         <timing-only/><training><adamw/></training><timed-as{}{}/>
         <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
      attributes_of(row.at("platform")), std::stoll(row.at("gpus")) - 1, attributes_of(row.at("timed_as")),
      attributes_of(settings));
  const scenario::Scenario scenario = scenario::ScenarioSource("change.xml", text).load({}, study::make_catalog());
  return study::run_experiment(scenario, false).runs.front();
}

TEST(ChangesValidation, SignsAndSizesAreAsDocumented) {
  constexpr double kPoints = 0.05;
  test::DocumentedTable table("changes",
                              {"change", "predicted", "90 % band of the change", "measured", "inside", "difference"});
  std::size_t close = 0;
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
  }
  table.expect_in_document();
  EXPECT_GE(5 * close, 4 * rows.size());
}

}  // namespace
}  // namespace dadsim
