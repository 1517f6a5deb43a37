// Tests the commands `dadsim sweep` and `dadsim merge`.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "study/sweep/tiny_sweep.hpp"

namespace dadsim::study {
namespace {

using test::Outcome;

constexpr const char* kSweep = R"(<sweep><vary path="platform.federation.sites.up" values="1Mbps 100Mbps"/></sweep>)";

class SweepCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("tiny.xml", test::tiny_scenario(kSweep));
    folder_.write("plain.xml", test::tiny_scenario(""));
    folder_.write("wrong.xml", test::tiny_scenario(R"(<sweep><vary path="training.batch" values="16 no"/></sweep>)"));
  }
  Outcome run(const std::vector<std::string>& arguments) const { return test::run_dadsim(arguments, folder_.path()); }
  void expect_refused(const std::vector<std::string>& arguments, int code, const std::string& words) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << words << " in " << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(folder_.files(), 3U) << "nothing is written";
  }

  test::TemporaryFolder folder_;
};

TEST_F(SweepCommand, RefusesWhatMakesNoSense) {
  expect_refused({"sweep"}, cli::kUsage, "no scenario is named");
  expect_refused({"sweep", "tiny.xml", "plain.xml"}, cli::kUsage, "one argument too many");
  expect_refused({"sweep", "tiny.xml", "--shards", "1/2"}, cli::kUsage,
                 "unknown option '--shards'; did you mean '--shard'?");
  for (const char* shard : {"1", "1/2/3"})
    expect_refused({"sweep", "tiny.xml", "--shard", shard}, cli::kUsage,
                   "is wrong; use I/N with I from 1 to N, e.g. 3/20");
  for (const char* shard : {"0/2", "3/2"})
    expect_refused({"sweep", "tiny.xml", "--shard", shard}, cli::kUsage, "is out of range; a whole number from 1 to 2");
  for (const char* shard : {"1/", "a/b", "1/2x", "1/0"})
    expect_refused({"sweep", "tiny.xml", "--shard", shard}, cli::kUsage, "; a whole number from 1 to 100000");
  expect_refused({"sweep", "tiny.xml", "--out", "-"}, cli::kUsage, "--out cannot be standard output");
  expect_refused({"sweep", "tiny.xml", "--out", "x", "--csv", "x"}, cli::kUsage, "--out and --csv both name 'x'");
  expect_refused({"sweep", "tiny.xml", "--learn-only", "--csv", "x"}, cli::kUsage, "--csv needs a result");
  expect_refused({"sweep", "tiny.xml", "--threads", "0"}, cli::kUsage,
                 "--threads '0' is out of range; a whole number from 1 to");
  expect_refused({"sweep", "plain.xml"}, cli::kWrongInput, "plain.xml: <scenario> lacks <sweep>; add an axis");
  expect_refused({"sweep", "none.xml"}, cli::kWrongInput, "none.xml: no such file");
  expect_refused({"sweep", "wrong.xml"}, cli::kWrongInput, "wrong.xml:24: training.batch=no: ");
  expect_refused({"sweep", "wrong.xml", "--check"}, cli::kWrongInput, "wrong.xml:24: training.batch=no: ");
  expect_refused({"sweep", "tiny.xml", "--csv", "no/such/folder.csv"}, cli::kOutputFailed, "cannot write");
  expect_refused({"merge"}, cli::kUsage, "a merge needs a new file and the files to merge");
  expect_refused({"merge", "a.sqlite"}, cli::kUsage, "a merge needs a new file and the files to merge");
  expect_refused({"merge", "a.sqlite", "tiny.xml"}, cli::kWrongInput, "tiny.xml: is not a file of a sweep");
}

TEST_F(SweepCommand, CheckRunsNothing) {
  const Outcome outcome = run({"sweep", "tiny.xml", "--check"});
  EXPECT_EQ(outcome.exit_code, cli::kSuccess);
  EXPECT_EQ(outcome.out, "tiny.xml: no errors in its 2 points; 3 runs to learn\n");
  EXPECT_EQ(folder_.files(), 3U);
}

TEST_F(SweepCommand, NamesItsFileAfterTheScenario) {
  const Outcome outcome = run({"sweep", "tiny.xml"});
  EXPECT_EQ(outcome.exit_code, cli::kSuccess) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("\ntiny.sweep.sqlite: 2 points new, 0 there before; 3 runs learned.\n"), std::string::npos)
      << outcome.out;
  EXPECT_EQ(folder_.files(), 4U);
  const Outcome again = run({"sweep", "tiny.xml", "--quiet"});
  EXPECT_EQ(again.exit_code, cli::kSuccess);
  EXPECT_EQ(again.out, "");
}

TEST_F(SweepCommand, LearnsFirstThenTimesShardsThenMerges) {
  ASSERT_EQ(run({"sweep", "tiny.xml", "--out", "whole.sqlite", "--csv", "whole.csv"}).exit_code, cli::kSuccess);
  const Outcome learned = run({"sweep", "tiny.xml", "--learn-only", "--out", "learned.sqlite"});
  EXPECT_EQ(learned.out, "learned.sqlite: 3 runs learned; continue with dadsim sweep, or reuse them with --learned\n");
  for (const char* shard : {"1/2", "2/2"}) {
    const Outcome part = run({"sweep", "tiny.xml", "--learned", "learned.sqlite", "--shard", shard});
    EXPECT_EQ(part.exit_code, cli::kSuccess) << part.err;
    EXPECT_NE(part.out.find("1 point new, 0 there before; 0 runs learned."), std::string::npos) << part.out;
  }
  const Outcome missing = run({"merge", "half.sqlite", "tiny.sweep-2-of-2.sqlite"});
  EXPECT_EQ(missing.exit_code, cli::kSuccess) << missing.err;
  EXPECT_NE(missing.out.find("half.sqlite: 1 of 2 points complete; missing: 1.\n"
                             "dadsim sweep --out half.sqlite tiny.xml continues with them.\n"),
            std::string::npos)
      << missing.out;
  const Outcome merged = run({"merge", "merged.sqlite", "tiny.sweep-1-of-2.sqlite", "tiny.sweep-2-of-2.sqlite",
                              "learned.sqlite", "--csv", "merged.csv"});
  EXPECT_EQ(merged.exit_code, cli::kSuccess) << merged.err;
  EXPECT_NE(merged.out.find("merged.sqlite: 2 of 2 points complete.\n"), std::string::npos) << merged.out;
  EXPECT_EQ(test::read_file(folder_.path("merged.csv")), test::read_file(folder_.path("whole.csv")));
}

TEST_F(SweepCommand, ChangesTheScenarioBeforeItsPoints) {
  const Outcome outcome = run({"sweep", "tiny.xml", "--set", "training.epochs=1", "--set",
                               "sweep.vary.values=2Mbps 3Mbps 4Mbps", "--seed", "5", "--csv", "-"});
  EXPECT_EQ(outcome.exit_code, cli::kSuccess) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 1 + 3 * 3);
  EXPECT_NE(outcome.out.find("\n3,0,4Mbps,"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace dadsim::study
