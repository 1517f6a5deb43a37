// Tests the paper's experiment on real digits: two sites with disjoint classes (arXiv 2102.09631).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/chosen_runs.hpp"
#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "support/data_folder.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

TEST(Paper, DisjointClassesAtTwoSites) {
  const std::filesystem::path data = test::folder_with("t10k-images-idx3-ubyte.gz");
  if (data.empty())
    GTEST_SKIP() << "set DADSIM_DATA to a folder with t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz";
  // Two of the 15 epochs suffice for all figures below. Only runs with such figures are kept.
  const test::QuickKernels quick;
  const test::TemporaryFolder folder;
  const std::string scenario =
      folder.write("paper.xml", test::with_runs("paper-mnist-small", {"pooled", "no-sharing", "gradient-sharing", "dad",
                                                                      "edad", "rank-dAD, cap 8", "rank-dAD, cap 32"}));
  const std::vector<std::string> arguments{scenario, "--json", "-", "--set",
                                           test::kSanitized ? "training.epochs=1" : "training.epochs=2"};
  const test::Outcome outcome = test::run_dadsim(arguments, DADSIM_SOURCE_DIR, {}, {{"DADSIM_DATA", data.string()}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  if (test::kSanitized) GTEST_SKIP() << "ran one epoch without a finding; accuracies are for builds without sanitizers";
  const nlohmann::json result = nlohmann::json::parse(outcome.out);
  std::map<std::string, double> accuracy;
  const nlohmann::json* cap_32 = nullptr;
  for (const auto& run : result["runs"]) {
    std::string name = run["algorithm"];
    if (name == "rank-dad") name += " " + run["parameters"]["cap"].dump();
    accuracy[name] = run["final_accuracy"];
    if (name == "rank-dad 32") cap_32 = &run;
  }

  double lowest = 1;
  double highest = 0;
  for (const char* exact : {"pooled", "gradient-sharing", "dad", "edad"}) {
    lowest = std::min(lowest, accuracy.at(exact));
    highest = std::max(highest, accuracy.at(exact));
  }
  EXPECT_GT(lowest, 0.955);
  EXPECT_LT(highest - lowest, 0.007);
  EXPECT_LT(accuracy.at("no-sharing"), 0.55);
  EXPECT_GT(accuracy.at("rank-dad 8"), accuracy.at("gradient-sharing") - 0.015);

  ASSERT_NE(cap_32, nullptr);
  const auto& ranks = (*cap_32)["effective_rank"];
  ASSERT_EQ(ranks.size(), 2U);
  for (std::size_t layer = 0; layer < 3; ++layer) {
    EXPECT_LT(ranks.back()["layers"][layer]["site"].get<double>(),
              ranks.front()["layers"][layer]["site"].get<double>());
  }

  const auto up = [&](std::size_t run) { return result["runs"][run]["bytes_up_per_worker"].get<double>(); };
  EXPECT_EQ(up(2), 4.0 * 535040);
  EXPECT_EQ(up(3), 4.0 * 74560);
  EXPECT_EQ(up(4), 4.0 * 49984);
}

}  // namespace
}  // namespace dadsim::cli
