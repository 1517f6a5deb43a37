// Runs scenarios/rank-memory.xml, and tests the claims of docs/effective-ranks.md on ranks that are too small.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "support/sanitized.hpp"

namespace dadsim::cli {
namespace {

TEST(RankMemory, BringsTheTargetThatTwoComponentsAloneDoNotReach) {
  if (test::kSanitized) GTEST_SKIP() << "accuracies are for builds without sanitizers";
  const test::QuickKernels quick;
  const test::Outcome outcome = test::run_dadsim(
      {"scenarios/rank-memory.xml", "--quiet", "--json", "-", "--set", "training.seeds=1"}, DADSIM_SOURCE_DIR);
  ASSERT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  std::map<std::string, nlohmann::json> runs;
  const nlohmann::json result = nlohmann::json::parse(outcome.out);
  for (const nlohmann::json& run : result["runs"]) runs[run["label"].get<std::string>()] = run;
  const nlohmann::json& with = runs.at("rank-dad, memory");
  const nlohmann::json& power = runs.at("power-sgd");
  EXPECT_FALSE(runs.at("rank-dad")["target_reached"].get<bool>());
  EXPECT_LT(runs.at("rank-dad")["final_accuracy"].get<double>(), with["final_accuracy"].get<double>() - 0.1);
  ASSERT_TRUE(with["target_reached"].get<bool>());
  ASSERT_TRUE(power["target_reached"].get<bool>());
  EXPECT_NEAR(with["target_step"].get<double>(), power["target_step"].get<double>(), 40);
  EXPECT_LT(with["target_seconds"].get<double>(), power["target_seconds"].get<double>()) << "one exchange, not two";
  EXPECT_LE(with["bytes_up_per_worker"].get<double>(), power["bytes_up_per_worker"].get<double>());
}

TEST(RankMemory, OfACompressorIsRefusedWhereSitesSendRowsOrFactors) {
  for (const char* algorithm : {"dad", "edad", "rank-dad", "top-k"}) {
    SCOPED_TRACE(algorithm);
    const test::TemporaryFolder folder;
    std::string text = test::read_file(DADSIM_SOURCE_DIR "/scenarios/rank-memory.xml");
    const std::string plain = R"(<run algorithm="gradient-sharing"/>)";
    text.replace(text.find(plain), plain.size(),
                 "<run algorithm=\"" + std::string(algorithm) + "\"><compress method=\"fp16\" memory=\"true\"/></run>");
    const std::string platform = "../platforms/";
    text.replace(text.find(platform), platform.size(), DADSIM_SOURCE_DIR "/platforms/");
    const test::Outcome outcome = test::run_dadsim({folder.write("memory.xml", text), "--check"});
    EXPECT_EQ(outcome.exit_code, kWrongInput);
    EXPECT_NE(outcome.err.find("<compress memory=\"true\"> has no effect with '" + std::string(algorithm) + "'"),
              std::string::npos)
        << outcome.err;
  }
}

}  // namespace
}  // namespace dadsim::cli
