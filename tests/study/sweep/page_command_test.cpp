// Tests `--report` of the commands `dadsim sweep` and `dadsim merge`.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "report/sweep/sweep_report.hpp"
#include "study/sweep/tiny_sweep.hpp"

namespace dadsim::study {
namespace {

using Json = nlohmann::ordered_json;
using test::Outcome;

constexpr const char* kPageSweep = R"(<sweep seeds="2">
    <vary path="platform.federation.sites.up" values="100Mbps 1Mbps"/>
    <vary path="training.batch" values="16 32"/>
  </sweep>)";
constexpr const char* kCosts = R"(<costs currency="EUR" electricity="0.25">
    <price device="rtx-3090" per-hour="0.35" idle-power="30"/>
    <price device="xeon-8380" per-hour="1" idle-power="100"/>
  </costs>)";

Json embedded(const std::string& html) {
  const std::string before = R"(<script type="application/json" id="result">)";
  const std::size_t start = html.find(before);
  if (start == std::string::npos) return {};
  return Json::parse(html.substr(start + before.size(), html.find("</script", start) - start - before.size()));
}

class SweepPageCommand : public testing::Test {
 protected:
  void SetUp() override { folder_.write("tiny.xml", test::tiny_scenario(std::string(kCosts) + kPageSweep)); }
  Outcome run(const std::vector<std::string>& arguments) const { return test::run_dadsim(arguments, folder_.path()); }
  std::string text(const std::string& file) const {
    std::ifstream stream(folder_.path(file), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  test::TemporaryFolder folder_;
};

TEST_F(SweepPageCommand, WritesThePageOfASweepAndOfMergedShards) {
  Outcome outcome = run({"sweep", "tiny.xml", "--report", "all.html", "--quiet"});
  ASSERT_EQ(outcome.exit_code, cli::kSuccess) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const Json whole = embedded(text("all.html"));
  ASSERT_EQ(whole["points"].size(), 4U);
  EXPECT_EQ(whole["figures"]["rows"].size(), 4U * 2 * 3);
  EXPECT_EQ(whole["axes"][0]["unit"], "bit/s");
  EXPECT_EQ(whole["axes"][0]["values"][0], (Json{{"text", "1Mbps"}, {"number", 1e6}}));
  EXPECT_EQ(whole["sweep"]["currency"], "EUR");
  EXPECT_EQ(whole["student_t"].size(), 1U);
  std::size_t paid = 0;
  const auto column = [](const std::string& figure) { return 3 + report::page_figure(figure); };
  for (const Json& row : whole["figures"]["rows"]) {
    const Json& money = row[column("money_to_target")];
    const Json& joules = row[column("joules_to_target")];
    const bool reached = !row[column("target_seconds")].is_null();
    EXPECT_EQ(reached, !money.is_null()) << "money to the target where that is reached";
    EXPECT_EQ(reached, !joules.is_null());
    if (!reached) continue;
    ++paid;
    EXPECT_GT(money.get<double>(), 0);
    EXPECT_GT(joules.get<double>(), 0);
  }
  EXPECT_GT(paid, 0U);

  for (const char* shard : {"1/2", "2/2"}) {
    outcome = run({"sweep", "tiny.xml", "--shard", shard, "--quiet"});
    ASSERT_EQ(outcome.exit_code, cli::kSuccess) << outcome.err;
  }
  outcome = run({"merge", "merged.sqlite", "tiny.sweep-1-of-2.sqlite", "tiny.sweep-2-of-2.sqlite", "--report", "-"});
  ASSERT_EQ(outcome.exit_code, cli::kSuccess) << outcome.err;
  EXPECT_EQ(embedded(outcome.out), whole) << "as one process would have made it";
}

TEST_F(SweepPageCommand, RefusesWhatMakesNoSense) {
  const auto refused = [&](const std::vector<std::string>& arguments, int code, const std::string& words) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << words << " in " << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(folder_.files(), 1U) << "nothing is written";
  };
  refused({"sweep", "tiny.xml", "--learn-only", "--report", "x"}, cli::kUsage, "--report needs a result");
  refused({"sweep", "tiny.xml", "--csv", "x", "--report", "x"}, cli::kUsage, "--csv and --report both name 'x'");
  refused({"sweep", "tiny.xml", "--report", "no/such/folder.html"}, cli::kOutputFailed, "cannot write");
  refused({"merge", "a", "b", "c", "--csv", "x", "--report", "x"}, cli::kUsage, "--csv and --report both name 'x'");
}

}  // namespace
}  // namespace dadsim::study
