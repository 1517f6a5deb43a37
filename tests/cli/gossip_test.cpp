// Tests eight sites in a ring: what compression costs, and methods without parameters to tune.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/chosen_runs.hpp"
#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

using GossipJson = nlohmann::ordered_json;

TEST(Gossip, CompressionCostsLittleAndMoreOfItMore) {
  // Runs half of the scenario's epochs, after which the expectations below already hold.
  const test::QuickKernels quick;
  const test::TemporaryFolder folder;
  const std::string scenario = folder.write(
      "gossip.xml", test::with_runs("gossip", {"gradient-sharing", "D-PSGD", "CHOCO, 8 bit", "CHOCO, 4 bit",
                                               "CHOCO, sign", "CHOCO, top 50 %", "CHOCO, top 10 %", "CHOCO, top 1 %",
                                               "CHOCO, random 10 %", "PowerGossip", "PowerGossip, 2 iterations",
                                               "Sparse-Push, not merged", "Sparse-Push"}));
  const std::vector<std::string> arguments{
      scenario, "--quiet", "--json", "-", "--set", test::kSanitized ? "training.epochs=1" : "training.epochs=20"};
  const test::Outcome outcome = test::run_dadsim(arguments, DADSIM_SOURCE_DIR);
  ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  if (test::kSanitized) GTEST_SKIP() << "accuracies are for builds without sanitizers";
  const GossipJson result = GossipJson::parse(outcome.out);
  std::map<std::string, double> accuracy, bytes, apart;
  for (const GossipJson& run : result["runs"]) {
    const std::string label = run["label"];
    const GossipJson& last = run["curve"].back();
    accuracy[label] = run["final_accuracy"];
    bytes[label] = run["bytes_up_per_worker"];
    EXPECT_EQ(last.contains("sites"), label != "gradient-sharing") << label;
    if (!last.contains("sites")) continue;
    EXPECT_EQ(last["sites"]["accuracies"].size(), 8U);
    apart[label] = last["sites"]["consensus_distance"];
    EXPECT_EQ(run["curve"][0]["sites"]["consensus_distance"], 0.0) << "all start from the same";
  }

  // The order of accuracies is that of table 1 of arXiv 1907.09356.
  const double exact = accuracy.at("D-PSGD");
  EXPECT_GT(exact, accuracy.at("gradient-sharing") - 0.03);
  EXPECT_GT(accuracy.at("CHOCO, 8 bit"), exact - 0.01);
  EXPECT_GT(accuracy.at("CHOCO, 4 bit"), exact - 0.02);
  EXPECT_GT(accuracy.at("CHOCO, sign"), exact - 0.04);
  EXPECT_GT(accuracy.at("CHOCO, top 50 %"), exact - 0.02);
  EXPECT_GT(accuracy.at("CHOCO, top 50 %"), accuracy.at("CHOCO, top 10 %"));
  EXPECT_GT(accuracy.at("CHOCO, top 10 %"), accuracy.at("CHOCO, top 1 %"));
  EXPECT_GT(accuracy.at("CHOCO, top 10 %"), accuracy.at("CHOCO, random 10 %"));

  // PowerGossip has no parameter to tune, and sends no more bytes than top 1 % with a tuned gamma.
  EXPECT_LT(bytes.at("PowerGossip"), bytes.at("CHOCO, top 1 %"));
  EXPECT_GT(accuracy.at("PowerGossip"), accuracy.at("CHOCO, top 1 %") - 0.02);
  EXPECT_GT(accuracy.at("PowerGossip, 2 iterations"), accuracy.at("PowerGossip"));

  // After the final average, all sites have the same model.
  EXPECT_GT(accuracy.at("Sparse-Push"), accuracy.at("Sparse-Push, not merged"));
  EXPECT_EQ(apart.at("Sparse-Push"), 0.0);
  EXPECT_GT(apart.at("Sparse-Push, not merged"), 0.0);
}

std::string four_in(const std::string& runs) {
  return R"(<scenario name="Four" seed="3">
  <platform><federation><sites name="site" count="4" up="10Mbps" down="10Mbps" latency="5ms"/></federation></platform>
  <workers><worker hosts="site-[1-4]" device="rtx-3090"/></workers>
  <data><digits train="160" test="40"/></data>
  <model><dense units="10"/></model>
  <training batch="10" epochs="1" target-accuracy="0.5"><sgd learning-rate="0.1"/></training>
  )" + runs +
         "\n</scenario>\n";
}

TEST(Gossip, TheEdgesOfAFileArePartOfWhatAScenarioDependsOn) {
  const test::TemporaryFolder folder;
  const std::string scenario =
      folder.write("four.xml", four_in(R"(<run algorithm="sgp" graph="file" edges="e.txt"/>)"));
  std::vector<std::string> hashes;
  for (const char* edges : {"0 1\n1 2\n2 3\n", "0 1\n1 2\n2 > 3\n3 > 0\n"}) {
    folder.write("e.txt", edges);
    const test::Outcome outcome = test::run_dadsim({scenario, "--quiet", "--json", "-"});
    ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
    hashes.push_back(GossipJson::parse(outcome.out)["scenario"]["hash"]);
  }
  EXPECT_NE(hashes[0], hashes[1]);
  folder.write("e.txt", "0 1\n1 4\n");
  const test::Outcome wrong = test::run_dadsim({scenario, "--check"});
  EXPECT_EQ(wrong.exit_code, kWrongInput);
  EXPECT_NE(wrong.err.find("e.txt:2: there is no site 4; use sites 0 to 3"), std::string::npos) << wrong.err;
}

TEST(Gossip, AGraphThatAnAlgorithmCannotDoWithIsRefusedBeforeLearning) {
  const test::TemporaryFolder folder;
  folder.write("e.txt", "0 > 1\n1 > 2\n2 > 3\n3 > 0\n0 > 2\n");
  for (const char* run :
       {R"(<run algorithm="choco-sgd" graph="file" edges="e.txt"/>)",
        R"(<run algorithm="d-psgd" graph="file" edges="e.txt"/>)",
        R"(<run algorithm="power-gossip" graph="directed"/>)", R"(<run algorithm="sparse-push" graph="matchings"/>)",
        R"(<run algorithm="sgp" graph="ring" edges="e.txt"/>)", R"(<run algorithm="sgp" graph="file"/>)",
        R"(<run algorithm="d-psgd"><compress method="int8" memory="true"/></run>)",
        R"(<run algorithm="d-psgd" all-reduce="ring"/>)", R"(<run algorithm="sgp" all-gather="ring"/>)",
        R"(<run algorithm="gradient-tracking" bucket="1MB"/>)", R"(<run algorithm="choco-sgd" reduce-scatter="best"/>)",
        R"(<run algorithm="sparse-push" merge="never" all-reduce="ring"/>)",
        R"(<run algorithm="power-gossip"><compress method="sidco"/></run>)",
        R"(<run algorithm="choco-sgd" absent="without"><compress method="sidco"/></run>)"}) {
    const test::Outcome outcome = test::run_dadsim({folder.write("four.xml", four_in(run)), "--check"});
    EXPECT_EQ(outcome.exit_code, kWrongInput) << run;
    EXPECT_NE(outcome.err.find("four.xml:"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("; "), std::string::npos) << outcome.err;
  }
  // The final average is an all-reduce, so it accepts the attribute `all-reduce`.
  const std::string accepted = folder.write("four.xml", four_in(R"(<run algorithm="sparse-push" all-reduce="ring"/>)"));
  EXPECT_EQ(test::run_dadsim({accepted, "--check"}).exit_code, kSuccess);
}

}  // namespace
}  // namespace dadsim::cli
