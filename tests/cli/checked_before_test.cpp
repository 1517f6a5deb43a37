// Expects that errors which are known before learning are reported before learning, and by --check too.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using test::Outcome;

/// Returns a scenario with the data on line 5, the model on line 6, and the runs from line 8 on.
std::string scenario_of(const std::string& hosts, const std::string& data, const std::string& layers,
                        const std::string& runs, const std::string& epochs = "1") {
  return "<scenario name=\"x\">\n  <platform><gpu-cluster nodes=\"3\" gpus=\"2\" inside=\"nvlink-1\" "
         "nic=\"ib-edr\"><one-switch/>"
         "</gpu-cluster></platform>\n"
         "  <workers memory=\"ignore\"><worker hosts=\"" +
         hosts + "\" device=\"a100-sxm4-40\"/></workers>\n\n  <data>" + data + "</data>\n  <model>" + layers +
         "</model>\n  <training epochs=\"" + epochs + "\" batch=\"8\"><sgd learning-rate=\"0.1\"/></training>\n" +
         runs + "</scenario>\n";
}

constexpr const char* kDigits = "<digits train=\"200\" test=\"50\"/>";
constexpr const char* kTwoLayers = "<dense units=\"10\"/>";

class CheckedBefore : public testing::Test {
 protected:
  Outcome run(const std::string& scenario, const std::vector<std::string>& more = {"--check"}) {
    folder_.write("x.xml", scenario);
    std::vector<std::string> arguments{"x.xml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_dadsim(arguments, folder_.path());
  }
  void expect_refused(const std::string& scenario, const std::string& says) {
    for (const std::vector<std::string>& more : {std::vector<std::string>{"--check"}, {}}) {
      const Outcome outcome = run(scenario, more);
      EXPECT_EQ(outcome.exit_code, kWrongInput) << outcome.err;
      EXPECT_NE(outcome.err.find(says), std::string::npos) << says << " in " << outcome.err;
    }
  }
  test::TemporaryFolder folder_;
};

// A run is refused before learning if its collective does not fit the nodes.
TEST_F(CheckedBefore, ACollectiveThatCannotBeLaidOut) {
  const std::string hierarchical = "<run algorithm=\"gradient-sharing\"\n all-reduce=\"hierarchical\"/>";
  expect_refused(scenario_of("gpu-[0-4]", kDigits, kTwoLayers, hierarchical),
                 "x.xml:9: all-reduce=\"hierarchical\" of <run> 'hierarchical' needs several nodes, each with the same "
                 "number of ranks");
  expect_refused(scenario_of("gpu-0 gpu-2 gpu-4", kDigits, kTwoLayers, hierarchical), "x.xml:9: ");
  expect_refused(scenario_of("gpu-[0-4]", kDigits, kTwoLayers, "<run algorithm=\"dad\" all-gather=\"hierarchical\"/>"),
                 "x.xml:8: all-gather=\"hierarchical\"");
  EXPECT_EQ(run(scenario_of("gpu-[0-5]", kDigits, kTwoLayers, hierarchical)).exit_code, kSuccess);
  EXPECT_EQ(
      run(scenario_of("gpu-[0-4]", kDigits, kTwoLayers, "<run algorithm=\"dad\" all-gather=\"ring\"/>")).exit_code,
      kSuccess);
}

TEST_F(CheckedBefore, ACollectiveThatNoStepCarriesOut) {
  const auto with = [](const std::string& run, const std::string& timed = "") {
    return scenario_of("gpu-[0-3]", kDigits, kTwoLayers, timed + "<run algorithm=" + run);
  };
  const auto refused = [](const std::string& named, const std::string& kind) {
    return "x.xml:8: run '" + named + "=\"ring\" needs steps with " + kind + "; remove it";
  };
  const std::string int8 = "><compress method=\"int8\"/></run>";
  const std::string sharded = "<timed-as workload=\"resnet-18\" sharding=\"gradients\"/>";
  expect_refused(with("\"gradient-sharing\" all-gather=\"ring\"/>"),
                 refused("gradient-sharing': all-gather", "all-gather"));
  expect_refused(with("\"gradient-sharing\" all-reduce=\"ring\"" + int8),
                 refused("gradient-sharing': all-reduce", "all-reduce"));
  expect_refused(with("\"dad\" reduce-scatter=\"ring\"/>"), refused("dad': reduce-scatter", "reduce-scatter"));
  for (const std::string& right :
       {with("\"gradient-sharing\" all-gather=\"ring\"" + int8),
        with("\"gradient-sharing\" reduce-scatter=\"ring\" all-gather=\"ring\"/>", sharded)}) {
    const Outcome outcome = run(right);
    EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  }
}

TEST_F(CheckedBefore, BestIsReadPrintedAndTakenOfSumsAndOfGathers) {
  const std::string scenario = scenario_of(
      "gpu-[0-4]", kDigits, kTwoLayers,
      "<run algorithm=\"gradient-sharing\" all-reduce=\"best\"/><run algorithm=\"dad\" all-gather=\"best\"/>");
  EXPECT_EQ(run(scenario).exit_code, kSuccess);
  const std::string printed = run(scenario, {"--print-scenario"}).out;
  EXPECT_NE(printed.find("all-reduce=\"best\""), std::string::npos) << printed;
  EXPECT_NE(printed.find("all-gather=\"best\""), std::string::npos) << printed;
  const Outcome outcome = run(scenario, {"--quiet", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  const nlohmann::json result = nlohmann::json::parse(outcome.out);
  for (const char* kind : {"all-reduce", "all-gather"}) {
    EXPECT_NE(outcome.out.find(std::string("\"") + kind + "\""), std::string::npos) << outcome.out;
  }
  EXPECT_EQ(result["runs"].dump().find("\"algorithm\":\"best\""), std::string::npos) << "it stands for another";
}

// A split that leaves a site without a sample is reported before anything is learned.
TEST_F(CheckedBefore, ASplitThatLeavesASiteWithoutASample) {
  folder_.write("lopsided.csv", "width,height,kind\n1,2,a\n2,1,a\n3,1,a\n1,1,a\n2,2,a\n3,3,a\n4,1,b\n");
  const std::string data = "<csv file=\"lopsided.csv\" target=\"kind\" train=\"3\" test=\"1\"/><split by=\"class\"/>";
  int refused = 0;
  for (const char* seed : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    const std::string scenario =
        scenario_of("gpu-[0-1]", data, "<dense units=\"2\"/>", "<run algorithm=\"gradient-sharing\"/>");
    const Outcome checked = run(scenario, {"--check", "--set", "training.batch=1", "--seed", seed});
    const Outcome ran = run(scenario, {"--set", "training.batch=1", "--seed", seed});
    EXPECT_EQ(checked.exit_code, ran.exit_code) << "what is checked is what is run: " << checked.err << ran.err;
    if (checked.exit_code == kSuccess) continue;
    ++refused;
    EXPECT_NE(checked.err.find("x.xml:5: "), std::string::npos) << checked.err;
    EXPECT_NE(checked.err.find("leaves site 2 without a sample"), std::string::npos) << checked.err;
  }
  EXPECT_GT(refused, 0);
}

// The run is refused before it allocates the memory.
TEST_F(CheckedBefore, MoreMemoryThanThisMachineHas) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers take terabytes of address space, and the test takes some away";
  // With 71.6 million parameters, weights and gradients at six sites take 3.4 GB.
  const std::string wide = "<dense units=\"90000\" activation=\"relu\"/>" + std::string(kTwoLayers);
  const auto with_three_gigabytes = [&](const std::string& algorithm) {
    folder_.write("x.xml", scenario_of("gpu-[0-5]", kDigits, wide, "<run algorithm=\"" + algorithm + "\"/>"));
    const std::string command =
        "ulimit -v 3000000; cd '" + folder_.path().string() + "' && exec " + DADSIM_BINARY + " x.xml --check 2>err";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  };
  EXPECT_EQ(with_three_gigabytes("no-sharing"), kWrongInput);
  const std::string words = test::read_file(folder_.path("err"));
  EXPECT_TRUE(words.starts_with("x.xml:6: <model>: training 'no-sharing' needs at least 3.4")) << words;
  EXPECT_NE(words.find(" of memory, but this machine has 3.07 GB; "), std::string::npos) << words;
  EXPECT_EQ(with_three_gigabytes("pooled"), kSuccess) << test::read_file(folder_.path("err"));
}

// The size of the file is checked before the file is read.
TEST_F(CheckedBefore, ALargeTableIsRefusedAtOnce) {
  folder_.write("large.csv", "a,b\n");
  std::filesystem::resize_file(folder_.path() / "large.csv", std::uintmax_t{3} << 30U);
  const double before = test::cpu_seconds_of_children();
  const Outcome outcome = run(scenario_of("gpu-[0-1]", "<csv file=\"large.csv\" target=\"b\"/>", "<dense units=\"2\"/>",
                                          "<run algorithm=\"gradient-sharing\"/>"));
  EXPECT_EQ(outcome.exit_code, kWrongInput);
  EXPECT_NE(outcome.err.find("large.csv: holds 3072 MiB; use a smaller file, at most 1024 MiB"), std::string::npos)
      << outcome.err;
  EXPECT_LT(test::cpu_seconds_of_children() - before, 3);
}

// Runs without an end are refused, as their simulation would never stop.
TEST_F(CheckedBefore, EndlessEvents) {
  const auto with = [](const std::string& more) {
    std::string scenario = scenario_of("gpu-[0-1]", kDigits, kTwoLayers, "<run algorithm=\"gradient-sharing\"/>");
    return scenario.replace(scenario.find("</platform>"), 0, more);
  };
  expect_refused(with("<profile link=\"*\" of=\"bandwidth\" times=\"0s 1ns\" factors=\"1 0.5\" period=\"2ns\"/>"),
                 "times per simulated second");
  expect_refused(with("<background from=\"gpu-0\" to=\"gpu-2\" bytes=\"1B\"/>"), "messages per simulated second");
  expect_refused(with("<background from=\"gpu-0\" to=\"gpu-2\" bytes=\"1B\" every=\"1ns\"/>"),
                 "messages per simulated second");
  EXPECT_EQ(run(with("<background from=\"gpu-0\" to=\"gpu-2\" bytes=\"1MB\" every=\"1ms\"/>")).exit_code, kSuccess);
}

TEST_F(CheckedBefore, LinksThatProfilesAndChangesName) {
  const auto with = [](const std::string& more) {
    std::string scenario = scenario_of("gpu-[0-1]", kDigits, kTwoLayers, "<run algorithm=\"gradient-sharing\"/>");
    return scenario.replace(scenario.find("</platform>"), 0, "\n" + more);
  };
  expect_refused(with("<profile link=\"gpu-0 nic dwn\" of=\"bandwidth\" times=\"0s 1s\" factors=\"1 0.5\"/>"),
                 "x.xml:3: link=\"gpu-0 nic dwn\" of <profile> matches no link of the platform");
  expect_refused(with("<change link=\"nvlik*\" bandwidth-factor=\"2\"/>"),
                 "x.xml:3: link=\"nvlik*\" of <change> matches no link of the platform");
}

TEST_F(CheckedBefore, ATableWithoutALineOfNames) {
  std::string table;
  for (int i = 0; i < 40; ++i)
    table += std::to_string(i) + ".5," + std::to_string(i % 7) + (i % 2 == 0 ? ",alba\n" : ",rubra\n");
  folder_.write("t.csv", table);
  const auto with = [](const std::string& attributes) {
    return scenario_of("gpu-[0-1]", "<csv file=\"t.csv\" " + attributes + "/>", "<dense units=\"2\"/>",
                       "<run algorithm=\"gradient-sharing\"/>");
  };
  const Outcome lost = run(with("target=\"alba\""));
  EXPECT_NE(lost.err.find("t.csv:1: the first line is read as column names, but looks like a sample; "
                          "set names=\"false\" if the first line is a sample"),
            std::string::npos)
      << lost.err;
  for (const char* target : {"last", "3"}) {
    const Outcome kept = run(with("names=\"false\" target=\"" + std::string(target) + "\""), {"--print-scenario"});
    EXPECT_EQ(kept.exit_code, kSuccess) << kept.err;
    EXPECT_EQ(kept.err, "");
    EXPECT_NE(kept.out.find("names=\"false\""), std::string::npos) << kept.out;
    EXPECT_NE(kept.out.find("train=\"32\" test=\"8\""), std::string::npos) << "all 40 rows: " << kept.out;
    const Outcome learned = run(with("names=\"false\" target=\"" + std::string(target) + "\""), {});
    EXPECT_EQ(learned.exit_code, kSuccess) << learned.err;
    EXPECT_NE(learned.out.find("accuracy, %"), std::string::npos) << learned.out;
  }
}

// A loss that grows but stays finite is reported as divergence.
TEST_F(CheckedBefore, DivergenceThatStaysFinite) {
  std::string scenario = scenario_of("gpu-[0-1]", kDigits, kTwoLayers, "<run algorithm=\"gradient-sharing\"/>", "2");
  scenario.replace(scenario.find("\"0.1\""), 5, "\"300\"");
  const Outcome outcome = run(scenario, {"--verbose"});
  EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  EXPECT_NE(outcome.out.find("gradient-sharing diverged: a smaller"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("diverged: the loss is"), std::string::npos) << outcome.out;
}

/// --check must report errors that only a run once reported: a device with too little memory, failures of links that do
/// not exist, an availability file that matches no worker.
TEST_F(CheckedBefore, WhatOnlyARunSaid) {
  const std::string hosts = R"(<scenario name="x">
  <platform><federation><sites name="site" count="2" up="10Mbps" down="10Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="site-[1-2]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
  <data><digits train="200" test="50"/></data><model><dense units="10"/></model>
)";
  expect_refused(hosts + R"(  <timed-as workload="llama-65b"/>
  <run algorithm="gradient-sharing"/></scenario>)",
                 "x.xml:6: run 'gradient-sharing': needs");
  expect_refused(hosts + R"(  <failures><fails links="typo" mtbf="60s" mttr="1s"/></failures>
  <run algorithm="fedavg"/></scenario>)",
                 "x.xml:5: links=\"typo\" of <fails> matches no link of the platform");
  expect_refused(hosts + R"(  <costs><egress per-gb="0.1" links="typo"/></costs>
  <run algorithm="fedavg"/></scenario>)",
                 "x.xml:5: links=\"typo\" of <egress> matches no link of the platform and no class of links");
  folder_.write("there.txt", "site-2 0 on\nsite-2 60 off\n");
  expect_refused(hosts + R"(  <availability hosts="site-1" by="file" file="there.txt"/>
  <run algorithm="fedavg"/></scenario>)",
                 "there.txt:1: no line names 'site-1'");
  expect_refused(hosts + R"(  <run algorithm="dp-sgd" epsilon="1e-8"/></scenario>)", "x.xml:5: run 'dp-sgd': epsilon=");
}

// A very slow link is neither a deadlock nor starvation.
TEST_F(CheckedBefore, ALinkOfAHundredthOfABitPerSecond) {
  std::string scenario = scenario_of("", kDigits, kTwoLayers, "<run algorithm=\"fedavg\"/>");
  const std::size_t begin = scenario.find("<platform>");
  const std::size_t end = scenario.find("</workers>");
  scenario.replace(
      begin, end - begin,
      "<platform><federation><sites name=\"site\" count=\"2\" up=\"0.01bps\" down=\"0.01bps\" latency=\"5ms\"/>"
      "<hub up=\"1Gbps\" down=\"1Gbps\" latency=\"1ms\"/></federation></platform>"
      "<workers><worker hosts=\"site-[1-2]\" device=\"xeon-8380\"/><aggregator host=\"hub\" device=\"xeon-8380\"/>");
  const Outcome outcome = run(scenario, {});
  EXPECT_EQ(outcome.exit_code, kSimulationFailed) << outcome.err;
  EXPECT_EQ(outcome.err.find("deadlock"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("starvation"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("on its links; use faster links, or fewer bytes"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace dadsim::cli
