#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "report/html/page.hpp"
#include "report/html/report.hpp"
#include "report/page_parts.hpp"
#include "report/sample.hpp"
#include "report/sweep_sample.hpp"

namespace dadsim::report {
namespace {

using Json = nlohmann::ordered_json;

SweepReport three_axes() {
  return SampleSweep(3).rates(4).texts("collective", {"ring", "tree"}).numbers("batch", 3).grid().report();
}

SweepReport hostile() {
  SweepReport report = SampleSweep().texts(kHostile, {kHostile, "plain"}).numbers("batch", 2).grid().report();
  report.scenario_name = report.scenario_file = report.version = report.currency = kHostile;
  report.axes[0].path = report.axes[0].unit = kHostile;
  report.axes[0].linked = {kHostile};
  report.runs[0] = {kHostile, kHostile, true};
  report.failures = {{1, 0, kHostile}};
  return report;
}

TEST(SweepPage, SaysWhatWasLearnedTimedAndAssumed) {
  SweepReport report = three_axes();
  report.learned_on = {"a small network"};
  report.timed_as = {"resnet-50", kHostile};
  report.assumptions = {{"memory-unknown"}};
  report.build = "abc";
  report.scenario = kHostile;
  const std::string html = to_html(document_of(report));
  const Json json = embedded(html);
  EXPECT_EQ(json["setting"]["learned_on"], Json{"a small network"});
  EXPECT_EQ(json["setting"]["timed_as"], (Json{"resnet-50", kHostile}));
  ASSERT_EQ(json["assumptions"].size(), 1U);
  EXPECT_EQ(json["assumptions"][0]["words"], in_words(report.assumptions[0]));
  EXPECT_EQ(json["dadsim"]["build"], "abc");
  EXPECT_EQ(embedded(html, "about")["scenario"], kHostile);
}

TEST(SweepPage, HoldsTheReportAsJson) {
  const SweepReport report = three_axes();
  const Json json = embedded(to_html(document_of(report)));
  EXPECT_EQ(json, Json::parse(to_json(document_of(report))));
  EXPECT_EQ(json["scenario"]["hash"], "0000000000000abc");
  EXPECT_EQ(json["sweep"]["points"], 24);
  EXPECT_EQ(json["axes"][0]["values"][1], (Json{{"text", "10Mbps"}, {"number", 1e7}}));
  EXPECT_TRUE(json["axes"][1]["values"][0]["number"].is_null());
  ASSERT_EQ(json["points"].size(), 24U);
  EXPECT_EQ(json["points"][23]["at"], (Json{3, 1, 2}));
  ASSERT_EQ(json["figures"]["rows"].size(), 24U * 4 * 3);
  const Json& fields = json["figures"]["fields"];
  ASSERT_EQ(fields.size(), page_figures().size() + 3);
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const SweepReport::Row& figures = report.rows[i];
    const Json& row = json["figures"]["rows"][i];
    ASSERT_EQ(row.size(), fields.size());
    EXPECT_EQ(row[0], figures.point);
    EXPECT_EQ(row[1], figures.seed);
    EXPECT_EQ(row[2], figures.run);
    for (std::size_t at = 3; at < fields.size(); ++at) {
      const double value = figures[fields[at].get<std::string>()];
      if (std::isfinite(value)) {
        EXPECT_EQ(row[at].get<double>(), value) << fields[at] << ", to the last bit";
      } else {
        EXPECT_TRUE(row[at].is_null()) << fields[at] << " is not known";
      }
    }
  }
}

// Textbooks have these values of Student's t at 97.5 % for 1 and 2 degrees of freedom.
TEST(SweepPage, HoldsStudentsNumbers) {
  const Json json = Json::parse(to_json(document_of(three_axes())));
  ASSERT_EQ(json["student_t"].size(), 2U);
  EXPECT_NEAR(json["student_t"][0].get<double>(), 12.706, 5e-4);
  EXPECT_NEAR(json["student_t"][1].get<double>(), 4.303, 5e-4);
}

TEST(SweepPage, KeepsHostileNamesAsText) {
  const SweepReport report = hostile();
  const std::string html = to_html(document_of(report));
  EXPECT_EQ(embedded(html), Json::parse(to_json(document_of(report))));
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  const std::string escaped =
      R"(&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &lt;script&gt; {{script}} {{ &amp; &quot;quoted&quot; \ é)";
  EXPECT_EQ(between(html, "<h1>", "</h1>"), escaped);
}

TEST(SweepPage, LoadsNothing) {
  const std::string html = to_html(document_of(hostile()));
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  // A fill may refer to a pattern in the same page.
  const std::regex loads(
      R"(\b(src|srcset|poster|data)\s*=\s*["']|\bhref\s*=\s*["']?(?!["']?#)|@import|\burl\s*\((?!#))");
  for (const std::string& part : {html.substr(0, html.find(R"(<script type="application/json")")),
                                  html.substr(html.rfind("<script>") + std::string_view("<script>").size())}) {
    std::smatch found;
    EXPECT_FALSE(std::regex_search(part, found, loads)) << found.str() << " in …" << found.suffix().str().substr(0, 60);
  }
  for (const char* word : {"fetch(", "XMLHttpRequest", "innerHTML", "insertAdjacentHTML", "document.write", "eval("})
    EXPECT_EQ(html.substr(html.rfind("<script>")).find(word), std::string::npos) << word;
}

TEST(SweepPage, SharesThePartsOfTheReport) {
  const std::string run = to_html(sample_result());
  const std::string sweep = to_html(document_of(three_axes()));
  EXPECT_EQ(between(run, "<style>", "</style>"), between(sweep, "<style>", "</style>"));
  EXPECT_EQ(between(run, "\"use strict\";", "// The report of a run").find("function addMap"), std::string::npos);
  const std::string shared = between(sweep, "\"use strict\";", "// Data of a sweep for the page's sections");
  EXPECT_NE(shared.find("function startPage"), std::string::npos);
  EXPECT_NE(run.find(shared), std::string::npos);
}

TEST(SweepPage, AThousandPointsAreLessThanTwoMegabytes) {
  const SweepReport report = SampleSweep().rates(10).numbers("a", 10).numbers("b", 10).grid().report();
  ASSERT_EQ(report.points.size(), 1000U);
  ASSERT_EQ(report.runs.size(), 4U);
  SweepReport changed = report;
  // Figures get seventeen digits, as real results have.
  for (SweepReport::Row& one : changed.rows) {
    for (const char* figure : {"target_seconds", "target_step", "scale_seconds", "final_accuracy", "step_seconds",
                               "total_bytes", "money_to_target", "joules_to_target"}) {
      SampleSweep::set(one, figure, (std::isfinite(one[figure]) ? one[figure] : 1.0) / 3.0);
    }
  }
  EXPECT_LT(to_html(document_of(changed)).size(), 2'000'000U);
  EXPECT_GT(to_html(document_of(changed)).size(), to_html(document_of(report)).size());
}

TEST(SweepReport, AGridHasEveryCombinationOnce) {
  SweepReport report = three_axes();
  EXPECT_TRUE(report.grid());
  report.points.pop_back();  // leaves a point unfinished; the sweep still counts as a grid
  EXPECT_TRUE(report.grid());
  report.points.back().at = report.points.front().at;
  EXPECT_FALSE(report.grid());
  EXPECT_FALSE(SampleSweep().rates(5).numbers("batch", 5).drawn(5).report().grid());
}

TEST(SweepReport, TheVerdictSaysWhoIsFirstWhere) {
  // "small" takes (10 s, 1 s, 0.1 s, 0.01 s) + (3, 5, 7) s, and "fast" takes (400 s, 40 s, 4 s, 0.4 s) + 1 s. So
  // "small" wins up to 10 Mbit/s, and at 100 Mbit/s with the smallest batch.
  const SweepReport report = SampleSweep().rates(4).numbers("batch", 3).grid().report();
  EXPECT_EQ(verdict(document_of(report)),
            "small reaches the target first at 7 of 12 points (all 6 with sites.up at most 10 Mbit/s); fast at 5 "
            "(5 of the 6 with sites.up at least 100 Mbit/s); slow nowhere.");
}

TEST(SweepReport, TheVerdictOfTextsNamesOne) {
  SampleSweep sample;
  sample.texts("collective", {"ring", "tree"}).numbers("batch", 1).grid();
  std::swap(sample.change().points[1].ranked[0], sample.change().points[1].ranked[1]);
  const SweepReport report = sample.report();
  const std::string first = report.runs[report.points[0].ranked[0].run].label;
  const std::string second = report.runs[report.points[1].ranked[0].run].label;
  ASSERT_NE(first, second);
  const std::string text = verdict(document_of(report));
  EXPECT_NE(text.find("1 of 2 points (the one with collective "), std::string::npos) << text;
}

TEST(SweepReport, TheVerdictWhereNobodyReachesTheTarget) {
  SampleSweep sample;
  sample.rates(2).grid();
  EXPECT_EQ(verdict(document_of(SweepReport())), "No point has a result yet.");
  sample.nobody(0);
  EXPECT_TRUE(verdict(document_of(sample.report())).ends_with(" At 1 point, no run reaches the target."))
      << verdict(document_of(sample.report()));
  sample.nobody(1);
  EXPECT_EQ(verdict(document_of(sample.report())), "No run reaches the target at any of 2 points.");
}

TEST(SweepReport, WhatIsNotANumberIsNull) {
  SweepReport report = SampleSweep().rates(1).grid().report();
  SampleSweep::set(report.rows[0], "step_seconds", std::numeric_limits<double>::infinity());
  const std::size_t column = 3 + page_figure("step_seconds");
  EXPECT_TRUE(Json::parse(to_json(document_of(report)))["figures"]["rows"][0][column].is_null());
}

}  // namespace
}  // namespace dadsim::report
