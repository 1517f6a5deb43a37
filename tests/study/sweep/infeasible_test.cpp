// Tests that infeasible points are results of a sweep, and that points of unequal work are compared by throughput.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using test::Outcome;

/// Returns a scenario of sixteen GPUs that is timed without learning.
std::string layouts(const std::string& sweep, const std::string& timed = "batch=\"8\"",
                    const std::string& more = "<costs/>", const std::string& metric = "") {
  return R"(<scenario name="layouts" seed="1")" + metric + R"(>
  <platform><gpu-cluster nodes="2" gpus="8" inside="nvlink-3" nic="ib-edr"/></platform>
  <workers><worker hosts="gpu-[0-15]" device="a100-sxm4-40"/></workers>
  <timing-only/>
  <timed-as workload="gpt-2-medium" precision="bf16" )" +
         timed + R"(/>
  <run algorithm="gradient-sharing" exchange="peer"/>
  )" + more +
         "<sweep>" + sweep + "</sweep></scenario>";
}

class Infeasible : public testing::Test {
 protected:
  Outcome sweep(const std::string& text, const std::vector<std::string>& more = {}) {
    std::ofstream(folder_.path("x.xml")) << text;
    std::vector<std::string> arguments{"sweep", "x.xml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_dadsim(arguments, folder_.path());
  }
  test::TemporaryFolder folder_;
};

// One infeasible layout once made the whole sweep fail, and repeated values could not be linked.
TEST_F(Infeasible, ALayoutThatDoesNotGoIsARowWithWhy) {
  const std::string text = layouts(
      "<linked><vary path=\"timed-as.tensor\" values=\"1 1 2 2 3\"/><vary path=\"timed-as.pipeline\" values=\"1 2 1 2 "
      "1\"/><vary path=\"timed-as.batch\" values=\"8 16 16 32 16\"/></linked>");
  const Outcome outcome = sweep(text, {"--csv", "x.csv"});
  EXPECT_EQ(outcome.exit_code, cli::kSuccess) << outcome.err;
  EXPECT_NE(outcome.out.find("(infeasible)"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Infeasible: point 5: "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("The best of 5 points is "), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("; 1 is infeasible."), std::string::npos) << outcome.out;
  EXPECT_NE(test::read_file(folder_.path("x.csv")).find("infeasible: "), std::string::npos);
  const Outcome again = sweep(text);
  EXPECT_EQ(again.exit_code, cli::kSuccess);
  EXPECT_NE(again.out.find("x.sweep.sqlite: 0 points new, 5 there before"), std::string::npos) << again.out;
}

TEST_F(Infeasible, AMistakeStillIsOne) {
  const Outcome outcome = sweep(layouts("<vary path=\"timed-as.tensor\" values=\"1 two\"/>"));
  EXPECT_EQ(outcome.exit_code, cli::kWrongInput) << outcome.out;
  EXPECT_NE(outcome.err.find("x.xml:7: timed-as.tensor=two: "), std::string::npos) << outcome.err;
  const Outcome twice =
      sweep(layouts("<linked><vary path=\"timed-as.tensor\" values=\"1 1\"/><vary path=\"timed-as.batch\" values=\"8 "
                    "8\"/></linked>"));
  EXPECT_EQ(twice.exit_code, cli::kWrongInput);
  EXPECT_NE(twice.err.find("<linked> has '1, 8' twice; each combination once"), std::string::npos) << twice.err;
}

// Twice the GPUs were once reported as "1.17 times slower".
TEST_F(Infeasible, MoreGpusAreComparedByThroughput) {
  const std::string more =
      "<linked><vary path=\"platform.gpu-cluster.nodes\" values=\"1 2\"/><vary "
      "path=\"workers.worker.hosts\" values=\"gpu-[0-7] gpu-[0-15]\"/></linked>";
  for (const char* timed : {"batch=\"8\"", "batch=\"8\" steps=\"100000\""}) {
    const Outcome outcome = sweep(layouts(more, timed), {"--out", std::string(timed).size() > 12 ? "b" : "a"});
    EXPECT_NE(outcome.out.find(" the throughput: "), std::string::npos) << outcome.out;
  }
  const Outcome budget = sweep(layouts(more, "batch=\"8\" tokens=\"10B\""), {"--out", "c"});
  EXPECT_NE(budget.out.find(" faster: training gpt-2-medium takes "), std::string::npos) << budget.out;
  const Outcome money = sweep(layouts(more, "batch=\"8\"", "<costs/>", " metric=\"per-money\""), {"--out", "d"});
  EXPECT_NE(money.out.find(" the tokens for the money"), std::string::npos) << money.out;
}

// Break-even in days is the purchase price ÷ `saved`, the money that a day of equal work costs less.
TEST_F(Infeasible, WhatIsBoughtPaysInDaysOrNever) {
  const std::string slow = "<costs><spot price=\"0.3\" interruptions=\"0.01\" checkpoint-time=\"60s\"/></costs>";
  std::ofstream(folder_.path("x.xml")) << layouts("<vary path=\"timed-as.batch\" values=\"8\"/>", "batch=\"8\"", slow);
  const auto compare = [&](const std::string& nic, const std::string& purchase) {
    const Outcome outcome =
        test::run_dadsim({"compare", "x.xml", "--set", "platform.gpu-cluster.nic=" + nic, "--against",
                          "platform.gpu-cluster.nic=ib-hdr", "--against", "costs.purchase=" + purchase, "--json", "-"},
                         folder_.path());
    EXPECT_EQ(outcome.exit_code, cli::kSuccess) << outcome.err;
    return nlohmann::json::parse(outcome.out);
  };
  const nlohmann::json paid = compare("5Gbps", "10000");
  const auto find = [](const nlohmann::json& json, const char* kind) {
    for (const nlohmann::json& one : json.at("statements")) {
      if (one.at("kind") == kind) return one;
    }
    return nlohmann::json();
  };
  const nlohmann::json pays = find(paid, "pays-in");
  const nlohmann::json& before = paid.at("runs")[0].at("before");
  const nlohmann::json& after = paid.at("runs")[0].at("after");
  const double a_day = 86400 * before.at("tokens_per_second").get<double>();
  const double saved =
      a_day / before.at("tokens_per_money").get<double>() - a_day / after.at("tokens_per_money").get<double>();
  EXPECT_NEAR(pays.at("values").at("days"), 10000 / saved, 1e-6 * 10000 / saved);
  EXPECT_GT(saved, 0);
  EXPECT_FALSE(find(compare("ib-hdr", "10000"), "pays-in").at("values").contains("days")) << "nothing is saved";
  const nlohmann::json answer = paid.at("before").at("answer").at("statements");
  const auto spot = std::ranges::find(answer, "on-spot", [](const nlohmann::json& one) { return one.at("kind"); });
  ASSERT_NE(spot, answer.end());
  // Each of sixteen devices is interrupted every 100 hours on average, so the run is interrupted every 6.25 hours.
  EXPECT_GT(spot->at("values").at("slowdown"), 1.05);
  EXPECT_LT(spot->at("values").at("money"), 0.4 * spot->at("values").at("money_without").get<double>());
}

}  // namespace
}  // namespace dadsim::study
