// Tests on drawn scenarios that every output has each figure under the same name with the same value: JSON, CSV, the
// CSV of a one-point sweep, a comparison with itself, an explanation, and the library. All outputs reach the same
// verdict. tests/python/same_figures_test.py tests Python.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "api/dadsim.hpp"
#include "api/drawn_scenario.hpp"
#include "report/explain/comparison.hpp"
#include "report/explain/explanation.hpp"
#include "scenario/document/load.hpp"
#include "study/explain/explain.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::api {
namespace {

using nlohmann::json;

bool all_drawn() { return std::getenv("DADSIM_ALL_DRAWN") != nullptr; }

/// 60 scenarios suffice for every figure to occur.
unsigned scenarios() { return all_drawn() ? 200 : 60; }

/// An explanation takes as long as thirty runs. Every twelfth scenario is explained, or all if that is requested.
bool is_explained(unsigned seed) { return all_drawn() || seed % 12 == 1; }

/// Returns the rows of a CSV as maps from column name to cell.
std::vector<std::map<std::string, std::string>> lines_of(const std::string& csv) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char one = csv[i];
    if (one == '"') {
      if (quoted && i + 1 < csv.size() && csv[i + 1] == '"')
        rows.back().back() += csv[i++];
      else
        quoted = !quoted;
    } else if (one == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (one == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      rows.back().back() += one;
    }
  }
  rows.pop_back();
  std::vector<std::map<std::string, std::string>> lines;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].size(), rows[0].size());
    std::map<std::string, std::string>& line = lines.emplace_back();
    for (std::size_t at = 0; at < rows[i].size(); ++at) line[rows[0][at]] = rows[i][at];
  }
  return lines;
}

void expect_cell(const std::map<std::string, std::string>& line, const Figure& figure, const Run& run) {
  const auto cell = line.find(figure.name);
  if (cell == line.end()) {
    EXPECT_EQ(figure.name, "causes_in_words") << "is in no CSV";
  } else if (figure.kind == Figure::Kind::text) {
    EXPECT_EQ(cell->second, run.text(figure.name)) << figure.name;
  } else if (const double value = run.figure(figure.name); !std::isfinite(value)) {
    EXPECT_EQ(cell->second, "") << figure.name;
  } else if (figure.kind == Figure::Kind::truth) {
    EXPECT_EQ(cell->second, value == 1 ? "true" : "false") << figure.name;
  } else {
    ASSERT_NE(cell->second, "") << figure.name;
    EXPECT_EQ(std::stod(cell->second), value) << figure.name;
  }
}

void expect_json(const json& told, const Figure& figure, const Run& run) {
  ASSERT_TRUE(told.contains(figure.name)) << figure.name;
  const json& value = told[figure.name];
  if (figure.kind == Figure::Kind::text) {
    EXPECT_EQ(value.is_null() ? "" : value.get<std::string>(), run.text(figure.name)) << figure.name;
  } else if (const double number = run.figure(figure.name); !std::isfinite(number)) {
    EXPECT_TRUE(value.is_null()) << figure.name;
  } else if (figure.kind == Figure::Kind::truth) {
    EXPECT_EQ(value.get<bool>(), number == 1) << figure.name;
  } else {
    EXPECT_EQ(value.get<double>(), number) << figure.name;
  }
}

/// Returns the result that is embedded in a page.
json in_page(const std::string& html) {
  const std::string before = R"(<script type="application/json" id="result">)";
  const std::size_t start = html.find(before) + before.size();
  return json::parse(html.substr(start, html.find("</script", start) - start));
}

/// Expects that a result and its one-point sweep reach the same verdict on each run compared with the first run.
void expect_same_verdict(const json& result, const json& sweep) {
  const json& point = sweep["points"][0];
  const json& ranking = result["answer"]["ranking"];
  std::vector<std::string> ranked;
  for (const json& one : point["ranked"]) {
    if (one.size() > 1) ranked.push_back(sweep["runs"][one[0].get<std::size_t>()]["label"]);
  }
  ASSERT_EQ(ranked.size(), ranking.size()) << result["answer"] << point;
  if (!ranked.empty()) {
    EXPECT_EQ(sweep["sweep"]["metric"], result["answer"]["metric"]);
  }
  std::size_t beside = 0;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    EXPECT_EQ(ranked[i], ranking[i]["run"]);
    for (const auto& [place, name] : {std::pair{1, "seconds"}, {2, "low"}, {3, "high"}})
      EXPECT_EQ(point["ranked"][i][place], ranking[i][name]) << ranked[i] << " " << name;
    if (i == 0) continue;
    const json& ours = ranking[i]["of_first"];
    const json& theirs = point["of_first"][i - 1];
    EXPECT_EQ(ours["value"], theirs[0]) << ranked[i];
    EXPECT_EQ(ours["low"], theirs[1]) << ranked[i];
    EXPECT_EQ(ours["high"], theirs[2]) << ranked[i];
    const std::string verdict = ranking[i]["verdict"];
    if (beside == i - 1 && (verdict == "equal" || verdict == "undecided")) ++beside;
  }
  EXPECT_EQ(point["beside"].size(), beside) << result["answer"] << point;
}

/// Expects that the table of runs and the answer have the same times over several seeds.
void expect_same_times_in_table(const json& result) {
  if (result["answer"]["metric"] != "time-to-target") return;
  for (const json& place : result["answer"]["ranking"]) {
    const auto run =
        std::ranges::find_if(result["runs"], [&](const json& one) { return one["label"] == place["run"]; });
    const json& over = (*run)["over_seeds"];
    if (over.is_null() || (*run)["exact"] == true) continue;  // exact runs have the steps of the first exact run
    EXPECT_EQ(over["target_seconds"]["mean"], place["seconds"]);
    EXPECT_EQ(over["target_seconds"]["low"], place["low"]);
    EXPECT_EQ(over["target_seconds"]["high"], place["high"]);
  }
}

/// Expects that a scenario compared with itself has its own figures and answer on both sides, and no speed-up.
void expect_same_in_comparison(const json& result, const scenario::Scenario& scenario) {
  const json compared =
      json::parse(to_json(document_of(study::compare_scenarios(scenario, scenario, "itself", false))));
  ASSERT_EQ(compared["runs"].size(), result["runs"].size());
  for (const char* side : {"before", "after"}) {
    EXPECT_EQ(compared[side]["answer"], result["answer"]) << side;
    for (std::size_t i = 0; i < result["runs"].size(); ++i) {
      for (const Figure& figure : figures()) {
        EXPECT_EQ(compared["runs"][i][side][figure.name], result["runs"][i][figure.name]) << side << figure.name;
      }
    }
  }
  for (const json& run : compared["runs"]) {
    if (!run["verdict"].is_null()) {
      EXPECT_EQ(run["verdict"]["standing"], "equal") << run;
    }
  }
}

/// Compares a result with its explanation, which learns with one seed until the target, and has one exact run for all
/// exact runs. Times to the target must be equal. If nothing is learned, all figures must be equal.
void expect_same_in_explanation(const json& result, const scenario::Scenario& asked) {
  const scenario::Scenario scenario = study::as_explained(asked);
  const json explained = json::parse(
      to_json(document_of(study::explain_scenario(scenario, study::learn_scenario(scenario, nullptr, false), false))));
  ASSERT_EQ(explained["runs"].size(), result["runs"].size());
  bool exact = false;  // the first exact run was found, which is the one that learned
  for (std::size_t i = 0; i < result["runs"].size(); ++i) {
    const json& theirs = explained["runs"][i];
    const json& ours = result["runs"][i];
    if (ours["exact"] == true && std::exchange(exact, true)) continue;
    for (const Figure& figure : figures()) {
      const std::string_view name = figure.name;
      if (!scenario.timing_only && !name.starts_with("target_")) continue;
      EXPECT_EQ(theirs[figure.name], ours[figure.name]) << figure.name << " of " << ours["label"];
    }
  }
  if (scenario.timing_only) {
    EXPECT_EQ(explained["answer"], result["answer"]);
  }
}

TEST(SameFigures, InEveryOutput) {
  const test::TemporaryFolder folder;
  std::map<std::string, int> known;  // number of runs that have a value of the figure
  const Options options{.threads = 1, .progress = {}};
  for (unsigned seed = 1; seed <= scenarios(); ++seed) {
    const std::string xml = test::DrawnScenario(seed).with("");
    SCOPED_TRACE(xml);
    const std::string path = folder.write("drawn.xml", xml);
    const Result result = run(Scenario::load(path), options);
    const scenario::Scenario inside = scenario::load_scenario(path, {}, study::make_catalog());
    const json whole = json::parse(result.json());
    expect_same_times_in_table(whole);
    expect_same_in_comparison(whole, inside);
    if (is_explained(seed)) expect_same_in_explanation(whole, inside);
    const std::string swept = folder.write("swept.xml", test::DrawnScenario(seed).with_itself_as_sweep());
    const std::string file = folder.path(fmt::format("{}.sqlite", seed));
    const Sweep of_one_point = sweep(swept, file, {}, options);
    const auto points = lines_of(of_one_point.csv());
    expect_same_verdict(whole, in_page(of_one_point.html()));
    const auto curve = lines_of(result.csv());
    const json& told = whole["runs"];
    ASSERT_EQ(points.size(), result.runs().size());
    ASSERT_EQ(told.size(), result.runs().size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      const api::Run& one = result.runs()[i];
      const auto of_run = [&](const auto& line) { return line.at("label") == one.label(); };
      const auto last = std::find_if(curve.rbegin(), curve.rend(), of_run);
      ASSERT_NE(last, curve.rend());
      for (const Figure& figure : figures()) {
        expect_json(told[i], figure, one);
        expect_cell(*last, figure, one);
        expect_cell(points[i], figure, one);
        known[figure.name] +=
            figure.kind == Figure::Kind::text ? !one.text(figure.name).empty() : std::isfinite(one.figure(figure.name));
      }
    }
    if (HasFailure()) return;
  }
  for (const Figure& figure : figures()) {
    // No drawn run is private, and none masks attention on a device with a known peak.
    if (std::string_view(figure.name) == "epsilon" || std::string_view(figure.name) == "masked_flops_utilisation")
      continue;
    EXPECT_GT(known[figure.name], 0) << figure.name << " was never known";
  }
}

TEST(SameFigures, NamesThatAreNoneAreToldSo) {
  const test::TemporaryFolder folder;
  const Result result = run(Scenario::load(folder.write("drawn.xml", test::DrawnScenario(1).with(""))));
  EXPECT_THROW(result.runs()[0].figure("bytes"), std::out_of_range);
  EXPECT_THROW(result.runs()[0].figure("label"), std::out_of_range);
  EXPECT_THROW(static_cast<void>(result.runs()[0].text("steps")), std::out_of_range);
}

}  // namespace
}  // namespace dadsim::api
