// Compares measurements that their authors found normal or slow with the results of `dadsim diagnose`
// (docs/diagnose.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "scenario/document/load.hpp"
#include "study/diagnose/diagnose_scenario.hpp"
#include "study/setting/catalog.hpp"
#include "validation/measured.hpp"

namespace dadsim {
namespace {

using DiagnosedRow = std::map<std::string, std::string>;

std::string attributes(const std::string& settings) {
  std::string text;
  for (const std::string& setting : test::split(settings, ' ')) {
    const std::size_t equals = setting.find('=');
    text += fmt::format(" {}=\"{}\"", setting.substr(0, equals), setting.substr(equals + 1));
  }
  return text;
}

std::int64_t number_of(const std::string& settings, const std::string& name) {
  for (const std::string& setting : test::split(settings, ' ')) {
    if (setting.starts_with(name + "=")) return std::stoll(setting.substr(name.size() + 1));
  }
  return 1;
}

scenario::Scenario scenario_of(const DiagnosedRow& row) {
  const std::string& platform = row.at("platform");
  const std::int64_t gpus = number_of(platform, "nodes") * number_of(platform, "gpus");
  const std::string timed = row.at("timed_as").empty() ? "workload=gpt-2-small batch=1" : row.at("timed_as");
  const std::string text = fmt::format(
      R"(<scenario name="{}" seed="1"><platform><gpu-cluster{}><one-switch/></gpu-cluster></platform>
         <workers memory="ignore"><worker hosts="gpu-[0-{}]" device="{}"/></workers><timing-only/>
         <training><adam learning-rate="1e-4"/></training><timed-as{}/>
         <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
      row.at("case"), attributes(platform), gpus - 1, row.at("device"), attributes(timed));
  return scenario::ScenarioSource("row.xml", text).load({}, study::make_catalog_without_learning());
}

report::Diagnosis diagnose(const DiagnosedRow& row) {
  study::Measurement measured{.source = row.at("case")};
  const double value = std::stod(row.at("value"));
  if (row.at("measure") == "bus") {
    measured.collectives.push_back({.bytes = std::stod(row.at("bytes")), .bus_bandwidth = 1e9 * value});
  } else {
    measured.steps.push_back({.tokens_per_second_per_device = value});
  }
  return study::diagnose_scenario(scenario_of(row), measured, false);
}

/// Counts of known causes, causes found, normal measurements, and false alarms.
struct Found {
  int causes = 0, found = 0, normal = 0, alarms = 0;
};

/// Compares rows of one measure with the documented table of that name.
Found hold_to_table(const std::string& measure, const std::string& name) {
  test::DocumentedTable table(
      name, {"case", "measured", "÷ expected", "band", "verdict", "cause that was found", "its place", "first named"},
      "docs/diagnose.md");
  Found sum;
  for (const DiagnosedRow& row : test::measured("diagnosed")) {
    if (row.at("measure") != measure) continue;
    const report::Diagnosis diagnosis = diagnose(row);
    const std::string& cause = row.at("cause");
    const auto named = std::ranges::find_if(
        diagnosis.suspicions, [&](const report::Suspicion& one) { return one.cause.text("cause") == cause; });
    const bool slower = diagnosis.verdict == report::Diagnosis::SpeedVerdict::slower;
    const auto place = named == diagnosis.suspicions.end() ? 0 : named - diagnosis.suspicions.begin() + 1;
    if (cause.empty()) {
      ++sum.normal;
      sum.alarms += slower ? 1 : 0;
    } else {
      ++sum.causes;
      sum.found += slower && place >= 1 && place <= 2 ? 1 : 0;
    }
    const double expected = diagnosis.expected();
    table.add({row.at("case"), row.at("value") + (measure == "bus" ? " GB/s" : " tokens/s"),
               fmt::format("{:.2f}", diagnosis.measured() / expected),
               fmt::format("{:.2f} … {:.2f}", diagnosis.low() / expected, diagnosis.high() / expected),
               to_string(diagnosis.verdict), cause.empty() ? "–" : cause,
               cause.empty() || !slower || place == 0 ? "–" : std::to_string(place),
               slower && !diagnosis.suspicions.empty() ? diagnosis.suspicions.front().cause.text("cause") : "–"});
  }
  table.expect_in_document();
  return sum;
}

/// Expects that in seven of ten cases the true cause is first or second, and that at most one in ten normal rows is
/// called slow.
TEST(DiagnosedValidation, CollectivesAreDiagnosed) {
  const Found sum = hold_to_table("bus", "diagnosed-collectives");
  EXPECT_GE(10 * sum.found, 7 * sum.causes);
  EXPECT_LE(10 * sum.alarms, sum.normal);
}

/// Diagnoses steps, which takes longer than collectives; runs with DADSIM_ALL_DRAWN=1.
TEST(DiagnosedValidation, StepsAreDiagnosed) {
  if (std::getenv("DADSIM_ALL_DRAWN") == nullptr)
    GTEST_SKIP() << "set DADSIM_ALL_DRAWN to 1: it takes a quarter of a minute";
  const Found sum = hold_to_table("tokens", "diagnosed-steps");
  EXPECT_GE(sum.found, 1);
  EXPECT_EQ(sum.alarms, 0);
}

}  // namespace
}  // namespace dadsim
