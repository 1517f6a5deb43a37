#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "report/explanation_sample.hpp"
#include "report/html/page.hpp"
#include "report/html/report.hpp"
#include "report/page_parts.hpp"

namespace dadsim::report {
namespace {

using Json = nlohmann::ordered_json;

std::size_t scripts_in(const std::string& html) {
  std::size_t count = 0;
  for (std::size_t at = html.find("<script"); at != std::string::npos; at = html.find("<script", at + 1)) ++count;
  return count;
}

TEST(ExplainPage, HoldsTheExplanationAsJson) {
  const Explanation explanation = sample_explanation();
  const std::string html = to_html(document_of(explanation));
  EXPECT_EQ(embedded(html, "result"), Json::parse(to_json(document_of(explanation))));
  const Json facts = embedded(html, "facts");
  ASSERT_EQ(facts.size(), explanation.result.runs.size());
  EXPECT_EQ(facts[0]["about"], explanation.result.runs[0].spec.label);
  EXPECT_NE(facts[0]["words"].get<std::string>().find("of the step was"), std::string::npos) << facts;
}

TEST(ExplainPage, ShowsCausesAndChangesOfEachRunAsTables) {
  const Explanation explanation = sample_explanation();
  const std::string html = to_html(document_of(explanation));
  const Json parts = embedded(html, "document")["parts"];
  const auto table = [&](const std::string& heading) {
    const auto found = std::ranges::find_if(parts, [&](const Json& part) {
      return part.contains("heading") && part["heading"].get<std::string>().starts_with(heading);
    });
    EXPECT_NE(found, parts.end()) << heading;
    return found == parts.end() ? Json::array() : (*found)["rows"];
  };
  const std::string& label = explanation.result.runs[0].spec.label;
  EXPECT_EQ(table("The changes that save most")[0][2], "time to the target 6.50 s → 3.90 s");
  EXPECT_EQ(table("The changes that save most")[0][3], "saves 40.0 %");
  const Json causes = table("On the critical path of " + label);
  EXPECT_GT(causes.size(), 2U);
  EXPECT_EQ(causes[1][0].get<std::string>().rfind("– ", 0), 0U) << causes;
  const Json changes = table("All changes tried for " + label);
  ASSERT_EQ(changes.size(), explanation.what_ifs.size());
  EXPECT_EQ(changes[0][1], "saves 80.0 %");
  EXPECT_EQ(changes[0][4], "limit: no change can save more");
  EXPECT_EQ(changes[4][1], "takes 90.0 % longer");
  // Changes without effect are rows of the table but have no bars.
  const Json bars = embedded(html, "charts")["left-" + label];
  EXPECT_EQ(bars["names"].size(), 3U);
  EXPECT_NEAR(bars["series"][0]["points"][0][1].get<double>(), 0.2, 1e-9);
}

TEST(ExplainPage, SaysTheSameAsDataAndInWords) {
  const Explanation explanation = sample_explanation();
  const Json json = Json::parse(to_json(document_of(explanation)));
  EXPECT_EQ(json["headline"][0]["kind"], "first");
  EXPECT_EQ(json["headline"].back()["kind"], "most-helpful");
  EXPECT_EQ(json["headline"].back()["parts"][0], json["runs"][0]["what_if"][0]["change"]);
  EXPECT_NEAR(json["headline"].back()["values"]["saving"].get<double>(), 0.4, 1e-12);
  EXPECT_EQ(json["runs"][0]["most_useful"], Json::parse("[0]"));
  EXPECT_EQ(json["runs"][0]["what_if"][3]["assumption"]["words"],
            "if it needs twice the steps, which smaller batches do at worst");
  EXPECT_TRUE(json["runs"][0]["what_if"][0]["assumption"].is_null());
  EXPECT_EQ(json["notes"][0]["values"]["links"], 3);
  std::string headline;
  for (const Json& one : json["headline"]) headline += (headline.empty() ? "" : " ") + one["words"].get<std::string>();
  EXPECT_EQ(headline, verdict(document_of(explanation)));
}

TEST(ExplainPage, SaysBetweenWhichSavingsAChangeLies) {
  Explanation explanation = sample_explanation();
  explanation.what_ifs[0].effects[0].band = {0.9, 1.2};
  const Json what_if = Json::parse(to_json(document_of(explanation)))["runs"][0]["what_if"][0];
  const double ratio = 1 - what_if["saving"].get<double>();
  EXPECT_NEAR(what_if["saving_low"].get<double>(), 1 - 1.2 * ratio, 1e-12);
  EXPECT_NEAR(what_if["saving_high"].get<double>(), 1 - 0.9 * ratio, 1e-12);
}

TEST(ExplainPage, SaysInASentenceWhatHoldsTheFirstBackAndWhatHelps) {
  const std::string html = to_html(document_of(sample_explanation()));
  const std::string answer = between(html, R"(<p class="verdict">)", "</p>");
  EXPECT_NE(answer.find("Of its step "), std::string::npos) << answer;
  EXPECT_NE(
      answer.find(
          "What helps most is twice the bandwidth of up (10 Mbit/s, 5.00 ms): 40 % of the time to the target saved; "),
      std::string::npos)
      << answer;
}

TEST(ExplainPage, SaysThatNothingHelpsWhereNothingDoes) {
  Explanation explanation = sample_explanation();
  for (WhatIf& what_if : explanation.what_ifs) what_if.effects = {{10, explanation.result.runs[0].target_seconds}};
  EXPECT_NE(verdict(document_of(explanation)).find("No tried change saves 1 % of its time."), std::string::npos);
}

TEST(ExplainPage, KeepsHostileNamesAsText) {
  Explanation explanation = sample_explanation();
  explanation.result.scenario_name = explanation.result.learned_on = kHostile;
  explanation.result.runs[0].spec.label = kHostile;
  explanation.result.runs[0].bounds[0].resource = kHostile;
  explanation.what_ifs[0].change.subjects = {kHostile};
  explanation.what_ifs[0].assumption = Statement{"remark"}.with("text", std::string(kHostile));
  explanation.notes = {
      Statement{"untried-change"}.with("fault", std::string(kHostile)).with(explanation.what_ifs[0].change)};
  const About about{.description = kHostile, .scenario = kHostile, .set = {kHostile}, .build = kHostile, .classes = {}};
  const std::string html = to_html(document_of(explanation), about);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_EQ(scripts_in(html), scripts_in(to_html(document_of(sample_explanation()))));
  EXPECT_EQ(embedded(html, "result"), Json::parse(to_json(document_of(explanation))));
  EXPECT_EQ(embedded(html, "about")["scenario"], kHostile);
  EXPECT_EQ(embedded(html, "about")["build"], kHostile);
}

TEST(ExplainPage, HasTheGlossaryAsEveryPageHas) {
  for (const std::string& html : {to_html(document_of(sample_explanation())), to_html(sample_result())}) {
    EXPECT_NE(html.find(R"(<td id="word-critical-path"><strong>critical path</strong>)"), std::string::npos);
    EXPECT_EQ(html.find(".md\">"), std::string::npos) << "a link to a file that is not beside the page";
  }
}

TEST(ExplainPage, LoadsNothing) {
  const std::string html = to_html(document_of(sample_explanation()));
  for (const char* loads : {"<link", " src=", "@import", "url(http"})
    EXPECT_EQ(html.substr(0, html.find("id=\"result\"")).find(loads), std::string::npos) << loads;
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::report
