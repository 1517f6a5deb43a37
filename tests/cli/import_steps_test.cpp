// Tests imports of recorded steps and rounds: exported steps keep their times, and federations take the rounds of their
// logs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/chakra_bytes.hpp"
#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;

class ImportSteps : public testing::Test {
 protected:
  Outcome dadsim(const std::vector<std::string>& arguments) const {
    return test::run_dadsim(arguments, folder_.path());
  }
  double step_seconds(const std::string& scenario, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{scenario, "--quiet", "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome run = dadsim(arguments);
    EXPECT_EQ(run.exit_code, kSuccess) << run.err;
    return run.exit_code == kSuccess ? nlohmann::json::parse(run.out).at("runs").at(0).at("step_seconds").get<double>()
                                     : 0;
  }
  /// Returns a job on two nodes of four GPUs, two of which are slower.
  std::string job(const std::string& timed_as, const std::string& workers) const {
    return "<scenario name=\"job\"><platform><gpu-cluster nodes=\"2\" gpus=\"4\" inside=\"nvlink-4\" rails=\"4\" "
           "nic=\"ib-ndr\"/></platform><workers memory=\"ignore\">" +
           workers + "</workers><timing-only/>" + timed_as +
           "<run algorithm=\"gradient-sharing\" exchange=\"peer\"/></scenario>";
  }
  void expect_round_trip(const std::string& timed_as, const std::string& workers, const std::string& imported) const {
    folder_.write("job.xml", job(timed_as, workers));
    const double before = step_seconds("job.xml");
    const Outcome written = dadsim({"export", "job.xml", "--step", "2", "--chakra", "k"});
    ASSERT_EQ(written.exit_code, kSuccess) << written.err;
    std::vector<std::string> arguments{"import",      "k.0.et", "--step", "step.xml",
                                       "--precision", "bf16",   "--out",  "element.xml"};
    if (std::filesystem::exists(folder_.path() / "k.groups.json"))
      arguments.insert(arguments.end(), {"--groups", "k.groups.json"});
    const Outcome read = dadsim(arguments);
    ASSERT_EQ(read.exit_code, kSuccess) << read.err;
    EXPECT_NE(read.out.find(imported), std::string::npos) << read.out;
    folder_.write("again.xml",
                  job("<timed-as file=\"step.xml\" batch=\"1\"/>", "<worker hosts=\"gpu-*\" device=\"h100-sxm5\"/>"));
    EXPECT_NEAR(step_seconds("again.xml") / before, 1, 0.01) << timed_as;
  }
  test::TemporaryFolder folder_;
};

TEST_F(ImportSteps, DataParallelStepsComeBackWithTheirTime) {
  expect_round_trip(
      "<timed-as workload=\"gpt-2-medium\" sequence=\"512\" batch=\"2\" precision=\"bf16\"/>",
      "<worker hosts=\"gpu-[0-5]\" device=\"h100-sxm5\"/><worker hosts=\"gpu-[6-7]\" device=\"h100-sxm5\" "
      "speed=\"0.6\"/>",
      "k: a step of 8 ranks");
}

TEST_F(ImportSteps, DividedStepsComeBackWithTheirTime) {
  expect_round_trip(
      "<timed-as workload=\"gpt-2-medium\" sequence=\"512\" batch=\"4\" precision=\"bf16\" tensor=\"2\" pipeline=\"2\" "
      "micro-batch=\"1\"/>",
      "<worker hosts=\"gpu-*\" device=\"h100-sxm5\"/>", "Ranks: 2 per layer × 2 replicas × 2 stages.");
}

// Users often have the trace of rank 0 only.
TEST_F(ImportSteps, OfTheTraceOfOneRankTheNumberOfRanksIsAskedFor) {
  folder_.write("job.xml", job("<timed-as workload=\"gpt-2-medium\" sequence=\"512\" batch=\"2\" precision=\"bf16\"/>",
                               "<worker hosts=\"gpu-*\" device=\"h100-sxm5\"/>"));
  const double before = step_seconds("job.xml");
  ASSERT_EQ(dadsim({"export", "job.xml", "--step", "2", "--chakra", "k"}).exit_code, kSuccess);
  std::filesystem::rename(folder_.path() / "k.0.et", folder_.path() / "one.0.et");
  std::vector<std::string> import{"import",      "one.0.et", "--step", "step.xml",
                                  "--precision", "bf16",     "--out",  "element.xml"};
  const Outcome asked = dadsim(import);
  EXPECT_EQ(asked.exit_code, kWrongInput);
  EXPECT_NE(asked.err.find("has only one rank's trace"), std::string::npos) << asked.err;
  EXPECT_NE(asked.err.find("--ranks N"), std::string::npos) << asked.err;
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "step.xml"));
  import.insert(import.end(), {"--ranks", "8"});
  const Outcome read = dadsim(import);
  ASSERT_EQ(read.exit_code, kSuccess) << read.err;
  EXPECT_NE(read.out.find("one: a step of 8 ranks"), std::string::npos) << read.out;
  folder_.write("again.xml",
                job("<timed-as file=\"step.xml\" batch=\"1\"/>", "<worker hosts=\"gpu-*\" device=\"h100-sxm5\"/>"));
  EXPECT_NEAR(step_seconds("again.xml") / before, 1, 0.01);
}

TEST_F(ImportSteps, ARecordedStepIsTimedOnOtherPlatformsAndSaysWhatItIs) {
  folder_.write(
      "step.xml",
      "<recorded-step name=\"ours\" workers=\"8\"><compute name=\"a\" seconds=\"0.2\"/><collective bytes=\"2e9\"/>"
      "<compute seconds=\"0.1\"/><wait for=\"1\"/><compute seconds=\"0.05\"/></recorded-step>");
  folder_.write("job.xml",
                job("<timed-as file=\"step.xml\" batch=\"4\"/>", "<worker hosts=\"gpu-*\" device=\"h100-sxm5\"/>"));
  const double fast = step_seconds("job.xml");
  const double slow = step_seconds("job.xml", {"--set", "platform.gpu-cluster.nic=ethernet-10g"});
  EXPECT_GE(fast, 0.35 - 1e-9);
  // Two nodes exchange 2 GB over four adapters of 10 Gbit/s, of which 0.1 s is hidden by computing.
  EXPECT_GT(slow, 0.25 + 2e9 / (4 * 1.25e9));
  EXPECT_GT(slow, fast);
  const double quicker = step_seconds("job.xml", {"--set", "workers.worker[1].speed=2"});
  EXPECT_LT(quicker, fast - 0.1);
  const Outcome said = dadsim({"job.xml", "--verbose"});
  EXPECT_NE(said.out.find("every step is the recorded step 'ours'"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("the recorded step 'ours', 4 samples per worker"), std::string::npos) << said.out;
  const Outcome why = dadsim({"explain", "job.xml"});
  EXPECT_EQ(why.exit_code, kSuccess) << why.err;
  EXPECT_NE(why.out.find("h100-sxm5"), std::string::npos) << why.out;
}

TEST_F(ImportSteps, WhatGoesBesideARecordedStepIsSaid) {
  folder_.write("step.xml", "<recorded-step name=\"ours\" workers=\"8\"><compute seconds=\"1\"/></recorded-step>");
  const auto refused = [&](const std::string& timed_as, const std::string& run) {
    folder_.write(
        "job.xml",
        "<scenario name=\"job\"><platform><gpu-cluster nodes=\"1\" gpus=\"4\" inside=\"nvlink-4\"/></platform>"
        "<workers><worker hosts=\"gpu-*\" device=\"h100-sxm5\"/></workers><timing-only/>" +
            timed_as + run + "</scenario>");
    const Outcome outcome = dadsim({"--check", "job.xml"});
    EXPECT_EQ(outcome.exit_code, kWrongInput);
    return outcome.err;
  };
  const std::string plain = "<run algorithm=\"gradient-sharing\"/>";
  EXPECT_NE(refused("<timed-as file=\"step.xml\" batch=\"1\"/>", plain).find("was recorded on 8 devices"),
            std::string::npos);
  EXPECT_NE(refused("<timed-as file=\"step.xml\" batch=\"1\" tensor=\"2\"/>", plain).find("needs layers"),
            std::string::npos);
  EXPECT_NE(refused("<timed-as file=\"step.xml\" batch=\"1\"/>", "<run algorithm=\"gradient-sharing\" bucket=\"1MB\"/>")
                .find("defines what a run sends"),
            std::string::npos);
}

TEST_F(ImportSteps, RefusesWhatIsNoTrace) {
  folder_.write("k.0.et", "nothing");
  EXPECT_EQ(dadsim({"import", "k.0.et"}).exit_code, kUsage);  // no output file is given
  const Outcome wrong = dadsim({"import", "k.0.et", "--step", "step.xml"});
  EXPECT_EQ(wrong.exit_code, kWrongInput);
  EXPECT_NE(wrong.err.find("k.0.et: "), std::string::npos) << wrong.err;
  EXPECT_EQ(dadsim({"import", "k.et", "--step", "step.xml"}).exit_code, kWrongInput);
  EXPECT_EQ(dadsim({"import", "k.0.et", "--step", "step.xml", "--sequence", "32"}).exit_code, kUsage);
}

// Paths, names and amounts of an import once made dadsim refuse the file that it had written.
TEST_F(ImportSteps, WhatIsImportedPassesTheCheckOrIsRefused) {
  const auto write = [&](const std::string& name, const test::ChakraBytes& trace) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << trace.bytes();
  };
  const std::vector<std::pair<std::string, std::string>> names{{"step.xml", "job.xml"},
                                                               {"a&b.xml", "job.xml"},
                                                               {"a'\"<b>.xml", "c&d.xml"},
                                                               {"job/step.xml", "job/job.xml"},
                                                               {"step.xml", "job/job.xml"},
                                                               {"job/../job/x.xml", "./job.xml"},
                                                               {"deep/er/step.xml", "job/a b.xml"}};
  for (const char* folder : {"job", "deep/er"}) std::filesystem::create_directories(folder_.path() / folder);
  for (const char* node : {"gemm", "", "a\nb\x01\x1b[31m", "\xff\xfe", "\xe2\x80\xae", "<&\"'>"}) {
    for (const char* rank : {"t.0.et", "t.1.et"})
      write(rank, test::ChakraBytes().compute(1, node, 0.1).sum(2, node, 4096).compute(3, node, 0.1));
    for (const auto& [step, out] : names) {
      const Outcome read = dadsim({"import", "t.0.et", "--step", step, "--scenario", "--out", out});
      ASSERT_EQ(read.exit_code, kSuccess) << step << read.err;
      const Outcome check = dadsim({out, "--check"});
      EXPECT_EQ(check.exit_code, kSuccess) << step << " " << out << check.err;
      if (std::string(node) != "gemm") break;
    }
  }
  const Outcome name = dadsim({"import", "t.0.et", "--step", "a\nb.xml"});
  EXPECT_EQ(name.exit_code, kUsage) << name.err;

  const auto refused = [&](const test::ChakraBytes& first, const test::ChakraBytes& second, const std::string& says) {
    write("u.0.et", first);
    write("u.1.et", second);
    const Outcome outcome = dadsim({"import", "u.0.et", "--step", "u.xml"});
    EXPECT_EQ(outcome.exit_code, kWrongInput) << says << outcome.err;
    EXPECT_NE(outcome.err.find(says), std::string::npos) << says << ": " << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path() / "u.xml")) << says;
  };
  const test::ChakraBytes plain = test::ChakraBytes().compute(1, "a", 0.1).sum(2, "s", 4096);
  refused(plain, test::ChakraBytes().compute(1, "a", 1e308).compute(4, "b", 1e308).sum(5, "s", 4096),
          "node 1 ('a') at rank 1");
  refused(plain, test::ChakraBytes().compute(1, "a", 9e17).compute(4, "b", 9e17).sum(5, "s", 4096),
          "node 4 ('b') at rank 1");
  refused(plain, test::ChakraBytes().compute(1, "a", 0.1).sum(2, "s", 8192),
          "has node 2 ('s') that sums 8192 bytes at rank 1, but 4096 bytes at rank 0");
  refused(plain, test::ChakraBytes().compute(1, "a", 0.1).sum(2, "s", 8'000'000'000'000'000'000),
          "node 2 ('s') at rank 1");
  refused(plain, test::ChakraBytes().compute(1, "a", -1), "u.1.et: has node 1, whose time or size is negative");
}

// The slowest client takes 62 s per round: 40 MB down in 4 s, 50 s of training, and 40 MB up in 8 s.
TEST_F(ImportSteps, LogsOfNvflareBecomeAFederationWithTheirRounds) {
  const auto log = [](const char* site, double down, int training, double up) {
    std::string text =
        fmt::format("2024-05-23 09:00:00,000 - ClientRunner - INFO - [identity={}, run=1]: got task\n", site);
    for (int round = 0; round < 3; ++round) {
      text += fmt::format(
          "2024-05-23 09:{:02}:00,000 - Communicator - INFO - Received from server. getTask: train size: 40MB "
          "(40000000 "
          "Bytes) time: {:.6f} seconds\n",
          10 * round, down);
      const int end = training + static_cast<int>(up);
      text += fmt::format(
          "2024-05-23 09:{:02}:{:02},000 - Communicator - INFO - SubmitUpdate to: server. size: 40MB (40000000 Bytes). "
          "time: {:.6f} seconds\n",
          10 * round + end / 60, end % 60, up);
    }
    return text;
  };
  folder_.write("site-1.txt", log("site-1", 2, 25, 2));
  folder_.write("site-2.txt", log("site-2", 4, 50, 8));
  const Outcome read = dadsim({"import", "site-1.txt", "site-2.txt", "--out", "federation.xml"});
  ASSERT_EQ(read.exit_code, kSuccess) << read.err;
  EXPECT_EQ(read.out, "2 clients, a model of 40.0 MB; a round takes 1 min 2 s in the log.\n");
  EXPECT_NEAR(step_seconds("federation.xml"), 62, 0.02 * 62);
}

TEST_F(ImportSteps, ALogOfFlowerLeavesLinesOrTrainingOpen) {
  folder_.write("flower.log",
                "INFO :          ├── ArrayRecord (100.00 MB)\n"
                "INFO :      configure_train: Sampled 3 nodes (out of 3)\n"
                "INFO :      aggregate_train: Received 3 results and 0 failures\n"
                "INFO :      Strategy execution finished in 120.00s\n");
  const Outcome open = dadsim({"import", "flower.log", "--out", "open.xml"});
  ASSERT_EQ(open.exit_code, kSuccess) << open.err;
  EXPECT_NE(open.out.find("1000 Mbit/s assumed"), std::string::npos) << open.out;
  EXPECT_NE(open.out.find("counts as training"), std::string::npos) << open.out;
  EXPECT_NEAR(step_seconds("open.xml"), 120, 0.02 * 120);
  // After 100 s of training, 20 s remain for 2 × 104.9 MB, so the line has 84 Mbit/s.
  const Outcome known = dadsim({"import", "flower.log", "--step-time", "100s", "--out", "known.xml"});
  ASSERT_EQ(known.exit_code, kSuccess) << known.err;
  EXPECT_EQ(known.out.find("Note"), std::string::npos) << known.out;
  EXPECT_NEAR(step_seconds("known.xml"), 120, 0.02 * 120);
  EXPECT_EQ(dadsim({"import", "flower.log", "--step-time", "3000s"}).exit_code, kWrongInput);
  EXPECT_EQ(dadsim({"import", "flower.log", "--batch", "4"}).exit_code, kUsage);
  folder_.write("notes.txt", "no log\n");
  const Outcome nothing = dadsim({"import", "notes.txt"});
  EXPECT_EQ(nothing.exit_code, kWrongInput);
  EXPECT_NE(nothing.err.find("cannot be imported"), std::string::npos) << nothing.err;
}

}  // namespace
}  // namespace dadsim::cli
