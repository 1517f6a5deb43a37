#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "report/html/page.hpp"
#include "report/plan/plan_report.hpp"

namespace dadsim::report {
namespace {

using PlanJson = nlohmann::ordered_json;

Trial plan_trial(double seconds) {
  Trial trial{.reached = true, .accuracy = 0.96, .seconds = seconds, .costs = {.money = seconds / 1000}};
  trial.seeds = 5;
  trial.band = estimate::Band{0.9, 1.1};
  trial.lines_per_month = 20;
  return trial;
}

PlanReport plan_sample() {
  PlanReport report;
  report.version = "0.1.0";
  report.build = "abc123";
  report.simgrid = "3.32";
  report.scenario_name = "lines";
  report.description = "Which line is enough?";
  report.learned_on = report.timed_as = "MLP 4-3-2";
  report.assumptions = {{"barrier"}};
  report.target_accuracy = 0.95;
  report.currency = "EUR";
  report.goal.seconds = 60;
  GoalAnswer met;
  met.run = "rank-dad";
  met.met = true;
  met.answer = Change{"sites.up", "8.5Mbps"};
  met.trial = plan_trial(59.8);
  met.neighbour = Change{"sites.up", "8.49Mbps"};
  met.neighbour_trial = plan_trial(60.1);
  met.may = "8.3Mbps";
  met.safe = "8.9Mbps";
  met.misses_again = {{"21Mbps", "39Mbps", false}};
  for (const double number : {1.0, 8.3, 8.49, 8.5, 8.9, 21.0, 1000.0})
    met.tried.push_back({number, std::to_string(number) + "Mbps", plan_trial(510 / number)});
  GoalAnswer missed;
  missed.run = "dad";
  missed.answer = Change{"sites.up", "1000Mbps"};
  missed.trial = {.reached = false, .accuracy = 0.91, .timed = false};
  report.answers = {met, missed};
  report.timing_runs = 30;
  report.learned_runs = 10;
  return report;
}

PlanJson data_of(const std::string& html) {
  const std::string before = R"(<script type="application/json" id="result">)";
  const std::size_t start = html.find(before) + before.size();
  return PlanJson::parse(html.substr(start, html.find("</script", start) - start));
}

TEST(PlanText, SaysWhatIsEnoughBetweenWhatAndWhereItIsNot) {
  EXPECT_EQ(verdict(document_of(plan_sample())),
            "rank-dad needs about 8.5Mbps (uplink of the sites): 8.3Mbps to 8.9Mbps (over 5 seeds). In the simulation "
            "8.5Mbps is "
            "the smallest "
            "that is enough: 59.8 s (53.8 s … 1 min 6 s), 0.0598 EUR, lines at 20.00 EUR a month. Beyond 8.5Mbps, the "
            "goal is missed again from 21Mbps to 39Mbps.");
}

TEST(PlanText, ATargetThatSomeSeedMissesIsSaidSo) {
  PlanReport report = plan_sample();
  report.answers.erase(report.answers.begin());
  report.timing_runs = 0;
  report.answers[0].trial.seeds = 5;
  report.answers[0].trial.seeds_missed = 2;
  EXPECT_TRUE(verdict(document_of(report))
                  .starts_with("The target is never reached: dad came nearest with 91.0 % (2 of 5 seeds miss it). "
                               "Learning decides that"))
      << verdict(document_of(report));
}

TEST(PlanPage, HoldsTheReportAsJsonAndTheAnswerWithoutAScript) {
  const PlanReport report = plan_sample();
  const std::string html = to_html(document_of(report));
  const PlanJson json = data_of(html);
  EXPECT_EQ(json, PlanJson::parse(to_json(document_of(report))));
  std::string answer;
  for (const PlanJson& one : json["answer"]["statements"])
    answer += (answer.empty() ? "" : " ") + one["words"].get<std::string>();
  EXPECT_EQ(answer, verdict(document_of(report)));
  const PlanJson& first = json["answer"]["statements"][0];
  EXPECT_EQ(first["kind"], "needs-about");
  EXPECT_EQ(first["subjects"], PlanJson::parse(R"(["rank-dad"])"));
  EXPECT_EQ(first["values"]["value"], "8.5Mbps");
  EXPECT_EQ(first["parts"][0]["values"], PlanJson::parse(R"({"may": "8.3Mbps", "safe": "8.9Mbps", "seeds": 5.0})"));
  EXPECT_EQ(first["parts"][1]["values"]["seconds"], 59.8);
  EXPECT_EQ(json["asked"]["words"], "reach 95 % within 1 min 0 s");
  EXPECT_EQ(json["answers"][0]["remarks"][1]["kind"], "missed-again");
  EXPECT_EQ(json["answers"][1]["remarks"][1]["kind"], "not-timed");
  EXPECT_EQ(json["assumptions"][0]["kind"], "barrier");
  EXPECT_EQ(json["answers"][0]["tried"].size(), 7U);
  EXPECT_EQ(json["answers"][0]["trial"]["standing"], "likely met") << "65.8 s are more than 60";
  EXPECT_EQ(json["answers"][1]["trial"]["standing"], "missed");
  EXPECT_EQ(json["answers"][0]["tried"][6]["trial"]["standing"], "met");
  EXPECT_NE(to_table(document_of(report)).find("\n~ rank-dad"), std::string::npos) << to_table(document_of(report));
  EXPECT_NE(to_table(document_of(report)).find("\n✗ dad"), std::string::npos) << to_table(document_of(report));
  EXPECT_EQ(json["answers"][0]["band"], (PlanJson{{"may", "8.3Mbps"}, {"safe", "8.9Mbps"}, {"assumed", false}}));
  EXPECT_EQ(json["answers"][0]["misses_again"][0]["to"], "39Mbps");
  EXPECT_NEAR(json["answers"][0]["trial"]["high"].get<double>(), 59.8 * 1.1, 1e-9);
  EXPECT_EQ(json["dadsim"]["build"], "abc123");
  EXPECT_NE(html.find("<p class=\"verdict\">" + verdict(document_of(report)) + "</p>"), std::string::npos);
  EXPECT_NE(html.find("<p class=\"kind\">dadsim plan</p>"), std::string::npos);
  EXPECT_EQ(html.find("src="), std::string::npos);
}

// The chart has time against money for every choice. One choice meets the limits, one likely meets them, and two miss
// them.
TEST(PlanCharts, HaveChoicesByTheirStandingWithTheLimits) {
  PlanReport report = plan_sample();
  report.goal.money = 0.2;
  report.answers.resize(1);
  report.answers[0].trial = plan_trial(20);
  for (const double seconds : {58.0, 500.0, 3000.0}) {
    report.answers.push_back(report.answers[0]);
    report.answers.back().trial = plan_trial(seconds);
    report.answers.back().choices = {{"platform.gpu-cluster.nodes", std::to_string(static_cast<int>(seconds))}};
  }
  report.answers[3].trial.band->high = std::numeric_limits<double>::infinity();
  const std::vector<Chart> charts = charts_of(report);
  const Chart& choices = charts.back();
  ASSERT_EQ(choices.name, "choices");
  ASSERT_EQ(choices.series.size(), 3U);
  EXPECT_EQ(choices.series[0].label, "met");
  EXPECT_EQ(choices.series[1].label, "likely met");
  EXPECT_EQ(choices.series[1].points[0].x, 58);
  EXPECT_DOUBLE_EQ(*choices.series[1].points[0].high, 1.1 * 0.058);
  EXPECT_EQ(choices.series[2].label, "missed");
  ASSERT_EQ(choices.series[2].points.size(), 2U);
  EXPECT_NE(choices.series[2].points[0].words.find("500"), std::string::npos);
  EXPECT_FALSE(choices.series[2].points[1].high) << "open";
  ASSERT_EQ(choices.limits.size(), 2U);
  EXPECT_TRUE(choices.limits[0].of_x);
  EXPECT_EQ(choices.limits[0].at, 60);
  EXPECT_EQ(choices.limits[1].at, 0.2);
  EXPECT_EQ(choices.limits[1].words, "at most 0.2 EUR");
  EXPECT_TRUE(choices.x.logarithmic);
  EXPECT_EQ(data_of(to_html(document_of(report))).contains("charts"), false);
}

TEST(PlanCharts, HaveWhatEachNumberTakes) {
  PlanReport report = plan_sample();
  report.answers[0].tried[3].value = report.answers[0].answer->value;
  const std::vector<Chart> charts = charts_of(report);
  ASSERT_EQ(charts.size(), 2U) << "of time and of money; a single answer is no choice";
  EXPECT_EQ(charts[0].name, "curve-time to the target") << "what is limited comes first";
  EXPECT_EQ(charts[0].x.suffix, "Mbps");
  ASSERT_EQ(charts[0].series.size(), 2U) << "dad was not tried";
  EXPECT_EQ(charts[0].series[0].points.size(), 7U);
  EXPECT_EQ(charts[0].series[0].points[1].x, 8.3);
  EXPECT_DOUBLE_EQ(charts[0].series[0].points[1].y, 510 / 8.3);
  ASSERT_EQ(charts[0].series[1].points.size(), 1U);
  EXPECT_EQ(charts[0].series[1].points[0].words, "8.5Mbps is enough");
  EXPECT_EQ(charts[0].series[0].points[1].words, "8.300000Mbps, goal: cannot be said");
}

TEST(PlanPage, AnEndThatIsOpenIsNull) {
  PlanReport report = plan_sample();
  report.answers[0].trial.band->high = std::numeric_limits<double>::infinity();
  report.answers[0].safe.reset();
  const PlanJson json = data_of(to_html(document_of(report)));
  EXPECT_TRUE(json["answers"][0]["trial"]["high"].is_null());
  EXPECT_TRUE(json["answers"][0]["band"]["safe"].is_null());
}

TEST(PlanPage, KeepsHostileNamesAsText) {
  const std::string hostile = R"(</script><script>alert(1)</script><!-- <script> {{script}} {{ & "quoted" \ é)";
  PlanReport report = plan_sample();
  report.scenario_name = report.currency = report.answers[0].run = hostile;
  report.description = hostile;
  report.answers[0].tried[0].value = hostile;
  const std::string html = to_html(document_of(report));
  EXPECT_EQ(data_of(html), PlanJson::parse(to_json(document_of(report))));
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::report
