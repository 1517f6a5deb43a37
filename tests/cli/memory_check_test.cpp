// Tests runs that do not fit their devices' memory, and 16-bit training.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/process.hpp"

namespace dadsim::cli {
namespace {

/// Returns arguments for gradient sharing of ResNet-50 on two V100 of 16 GB.
std::vector<std::string> training(const std::string& batch, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"tests/validation/training.xml",
                                     "--set",
                                     "workers.worker.hosts=gpu-[0-1]",
                                     "--set",
                                     "timed-as.batch=" + batch,
                                     "--json",
                                     "-"};
  for (const std::string& one : more) {
    arguments.emplace_back("--set");
    arguments.push_back(one);
  }
  return arguments;
}

nlohmann::json run_of(const std::vector<std::string>& arguments) {
  const test::Outcome outcome = test::run_dadsim(arguments);
  EXPECT_EQ(outcome.exit_code, kSuccess) << outcome.err;
  return nlohmann::json::parse(outcome.out)["runs"][0];
}

TEST(MemoryCheck, ARunThatDoesNotFitIsRefusedWithItsBreakdown) {
  const test::Outcome outcome = test::run_dadsim(training("512"));
  EXPECT_EQ(outcome.exit_code, kWrongInput);
  for (const char* part : {"run 'gradient-sharing': needs 43", "'v100-sxm2' has 17.2 GB", "parameters 102 MB",
                           "optimizer 102 MB", "gradients 102 MB", "activations 4", "memory=\"ignore\""}) {
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " in " << outcome.err;
  }
  EXPECT_EQ(outcome.out, "");
}

// Published jobs rarely state everything that they recompute, so such a job is timed with a note.
TEST(MemoryCheck, ATransformerThatWouldFitComputedAgainIsTimedWithANote) {
  const std::vector<std::string> gpt{"timed-as.workload=gpt-2-medium"};
  const nlohmann::json run = run_of(training("8", gpt));
  EXPECT_GT(run["memory_bytes"], run["memory"]["device_bytes"]);
  const auto is_tight = [](const nlohmann::json& note) { return note["kind"] == "tight-memory"; };
  EXPECT_EQ(std::ranges::count_if(run["notes"], is_tight), 1) << run["notes"];
  const nlohmann::json again = run_of(training("8", {gpt[0], "timed-as.recompute=full"}));
  EXPECT_LT(again["memory_bytes"], again["memory"]["device_bytes"]);
  EXPECT_EQ(std::ranges::count_if(again["notes"], is_tight), 0) << again["notes"];
  EXPECT_EQ(test::run_dadsim(training("64", gpt)).exit_code, kWrongInput) << "not even then";
}

TEST(MemoryCheck, ItIsTimedAllTheSameWhereMemoryIsIgnored) {
  const nlohmann::json run = run_of(training("512", {"workers.memory=ignore"}));
  EXPECT_GT(run["memory_bytes"], run["memory"]["device_bytes"]);
  EXPECT_GT(run["step_seconds"], 1);
}

TEST(MemoryCheck, TheResultHasTheBreakdown) {
  const nlohmann::json run = run_of(training("128"));
  const nlohmann::json& memory = run["memory"];
  EXPECT_EQ(memory["device_bytes"], 16.0 * (1 << 30));
  EXPECT_EQ(memory["parameters"], 4 * 25'557'032.0);
  EXPECT_EQ(memory["master_copies"], 0);
  EXPECT_EQ(memory["algorithm"], 0);
  double sum = 0;
  for (const char* part :
       {"parameters", "master_copies", "optimizer", "gradients", "activations", "scores", "algorithm"})
    sum += memory[part].get<double>();
  EXPECT_EQ(sum, run["memory_bytes"].get<double>());
}

TEST(MemoryCheck, SixteenBitHalvesWhatIsSentAndKept) {
  const nlohmann::json full = run_of(training("128"));
  const nlohmann::json half = run_of(training("128", {"timed-as.precision=fp16"}));
  EXPECT_DOUBLE_EQ(2 * half["bytes_up_per_worker"].get<double>(), full["bytes_up_per_worker"].get<double>());
  EXPECT_DOUBLE_EQ(2 * half["memory"]["activations"].get<double>(), full["memory"]["activations"].get<double>());
  EXPECT_EQ(half["memory"]["master_copies"], 4 * 25'557'032.0);
  EXPECT_LT(half["step_seconds"], full["step_seconds"]);
  EXPECT_EQ(half["final_accuracy"], full["final_accuracy"]) << "learning is always in fp32";
}

}  // namespace
}  // namespace dadsim::cli
