#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>

#include "report/html/report.hpp"
#include "report/page_parts.hpp"
#include "report/run/answer.hpp"
#include "report/run/result_document.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

using Json = nlohmann::ordered_json;

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Result hostile_result() {
  Result result = sample_scale_result();
  result.scenario_name = kHostile;
  result.learned_on = result.network_model = kHostile;
  result.assumptions = {Statement{"roofline", {"gpu"}}.with("rates", kHostile)};
  result.layer_names = {kHostile, "dense2"};
  RunResult& run = result.runs[0];
  run.spec.label = kHostile;
  run.spec.parameters = {{kHostile, kHostile}};
  run.notes = {Statement{"remark"}.with("text", kHostile)};
  run.bounds[0].resource = kHostile;
  run.network.links = {{kHostile, kHostile, kHostile, 1e9, 0.9, 2}};
  return result;
}

TEST(Html, HoldsTheResultAsJson) {
  const Result result = sample_scale_result();
  EXPECT_EQ(embedded(to_html(result)), Json::parse(to_json(document_of(result))));
}

TEST(Html, HoldsNumbersThatAreNone) {
  Result result = sample_result();
  result.runs[0].step_seconds = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(embedded(to_html(result))["runs"][0]["step_seconds"].is_null());
}

TEST(Html, SaysTheAnswerWithoutAScript) {
  const Result result = sample_result();
  EXPECT_EQ(between(to_html(result), R"(<p class="verdict">)", "</p>"), as_paragraph(answer_to(result).statements));
}

TEST(Html, KeepsHostileNamesAsText) {
  const Result result = hostile_result();
  const std::string html = to_html(result);
  EXPECT_EQ(embedded(html), Json::parse(to_json(document_of(result))));
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(count_of(html, "<script"), count_of(to_html(sample_result()), "<script"));
  EXPECT_EQ(count_of(html, "</script"), count_of(to_html(sample_result()), "</script"));
  const std::string escaped =
      R"(&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &lt;script&gt; {{script}} {{ &amp; &quot;quoted&quot; \ é)";
  EXPECT_EQ(between(html, "<h1>", "</h1>"), escaped);
  EXPECT_EQ(between(html, "<title>", " – dadsim</title>"), escaped);
}

TEST(Html, FillsEveryPlaceOfTheTemplateOnce) {
  const std::string html = to_html(sample_result());
  EXPECT_EQ(html.find("{{"), std::string::npos);
  EXPECT_EQ(count_of(html, "</script"), 6U)
      << "data, charts, tables, what is said of the scenario, Chart.js, and the page's own script; none ends early";
  EXPECT_EQ(count_of(html, "Chart.js v3"), 1U) << "its licence asks for the notice";
}

TEST(Html, HasTheTablesOfTheRunsAndOfTheTimeAtScale) {
  const Result result = sample_scale_result();
  const Json parts = embedded(to_html(result), "document")["parts"];
  std::vector<Json> tables;
  for (const Json& part : parts)
    if (part.contains("rows")) tables.push_back(part);
  ASSERT_GE(tables.size(), 3U);
  EXPECT_TRUE(tables[0]["heading"].get<std::string>().starts_with("Every run"));
  ASSERT_EQ(tables[0]["rows"].size(), result.runs.size());
  for (std::size_t i = 0; i < result.runs.size(); ++i) EXPECT_EQ(tables[0]["rows"][i][0], result.runs[i].spec.label);
  EXPECT_TRUE(tables[1]["heading"].get<std::string>().starts_with("Time to accuracy as")) << tables[1];
  EXPECT_EQ(tables[1]["rows"][0][1], "1,000");
  EXPECT_EQ(tables[2]["columns"][1], "steps by seed");
}

TEST(Html, HoldsTheScenarioAndTheClassesOfItsSites) {
  const About about{.description = "two of them",
                    .scenario = kHostile,
                    .set = {"seed=5"},
                    .build = "abc",
                    .classes = {false, {"a", "b"}, {{3, 0}, {1, 2}}}};
  const Json json = embedded(to_html(sample_result(), "", {}, about), "about");
  EXPECT_EQ(json["scenario"], kHostile);
  EXPECT_EQ(json["set"], Json{"seed=5"});
  EXPECT_EQ(json["classes"]["sites"], (Json{"a", "b"}));
  EXPECT_EQ(json["classes"]["samples"], (Json{{3, 0}, {1, 2}}));
  EXPECT_FALSE(embedded(to_html(sample_result()), "about").contains("classes"));
}

TEST(Html, LoadsNothing) {
  const std::string html = to_html(hostile_result());
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
  const std::regex loads(
      R"(\b(src|srcset|poster|data)\s*=\s*["']|\bhref\s*=\s*["']?(?!["']?#)|@import|\burl\s*\((?!#))");
  // Checks the parts of the page before and after Chart.js, which contains no markup.
  for (const std::string& part : {html.substr(0, html.find(R"(<script type="application/json")")),
                                  html.substr(html.rfind("<script>") + std::string_view("<script>").size())}) {
    std::smatch found;
    EXPECT_FALSE(std::regex_search(part, found, loads)) << found.str() << " in …" << found.suffix().str().substr(0, 60);
  }
  for (const char* word : {"fetch(", "XMLHttpRequest", "innerHTML", "insertAdjacentHTML", "document.write", "eval("}) {
    EXPECT_EQ(html.substr(html.rfind("<script>")).find(word), std::string::npos) << word;
  }
}

TEST(Html, TakesThePictureFromItsSvgOn) {
  const std::string picture = "<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<svg><text>hub {{script}}</text></svg>\n";
  const std::string html = to_html(sample_result(), picture);
  EXPECT_NE(html.find("<svg><text>hub {{script}}</text></svg>"), std::string::npos);
  EXPECT_EQ(html.find("<?xml"), std::string::npos);
  EXPECT_EQ(to_html(sample_result()).find("<svg"), std::string::npos);
}

TEST(Html, IsSmall) {
  EXPECT_LT(to_html(sample_result()).size(), 400'000U) << "an empty page: the rest of 1.5 MB is for results";
}

}  // namespace
}  // namespace dadsim::report
