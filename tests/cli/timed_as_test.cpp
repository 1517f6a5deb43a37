// Tests runs that learn on a small network and are timed as a large one.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "quick_kernels.hpp"
#include "spec/workload.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::cli {
namespace {

nlohmann::json result_of(const std::vector<std::string>& more) {
  const test::QuickKernels quick;
  std::vector<std::string> arguments =
      test::small({"scenarios/hospitals.xml", "--json", "-", "--set", "data.split.alpha=1000"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const test::Outcome outcome = test::run_dadsim(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

TEST(TimedAs, LearnsTheSameAndTimesTheOther) {
  const nlohmann::json plain = result_of({});
  // Tests one workload of each family; memory is tested elsewhere.
  for (const char* name : {"vgg-16", "vit-b-16", "bert-base", "llama-3.2-1b", "lstm-wikitext-2"}) {
    SCOPED_TRACE(name);
    const nlohmann::json timed =
        result_of({"--set", std::string("timed-as.workload=") + name, "--set", "workers.memory=ignore"});
    EXPECT_NE(timed["timed_as"].get<std::string>().find(name), std::string::npos);
    EXPECT_EQ(timed["learned_on"], plain["learned_on"]);
    for (std::size_t run = 0; run < plain["runs"].size(); ++run) {
      EXPECT_EQ(timed["runs"][run]["final_accuracy"], plain["runs"][run]["final_accuracy"]);
      EXPECT_GT(timed["runs"][run]["step_seconds"], plain["runs"][run]["step_seconds"]);
    }
    // In every step, gradient sharing sends all parameters of the workload up.
    const auto parameters = static_cast<double>(spec::workload_registry().find(name)->shape().parameters());
    EXPECT_NEAR(timed["runs"][2]["bytes_up_per_worker"].get<double>(), 4 * parameters, 1);
    EXPECT_NEAR(timed["runs"][2]["bytes_down_per_worker"].get<double>(), 4 * parameters, 1);
  }
}

// Tests the three factors of the time to accuracy, and their product.
TEST(TimedAs, MultipliesKnownStepsRelativeStepsAndTimePerStep) {
  const nlohmann::json result =
      result_of({"--set", "timed-as.workload=resnet-18-cifar10", "--set", "timed-as.steps=1000", "--set",
                 "timed-as.evaluation-every=300", "--set", "timed-as.evaluation-seconds=2", "--set",
                 "timed-as.start-up=10s", "--set", "training.seeds=3", "--set", "training.target-accuracy=0.2"});
  EXPECT_EQ(result["at_scale"]["workload"], "resnet-18-cifar10");
  EXPECT_EQ(result["at_scale"]["seeds"], 3);
  EXPECT_EQ(result["at_scale"]["known_steps"]["value"], 1000);
  int told = 0;
  for (const nlohmann::json& run : result["runs"]) {
    const nlohmann::json& scale = run["at_scale"];
    SCOPED_TRACE(run["label"].dump() + scale.dump());
    ASSERT_EQ(scale["steps_to_target"].size(), 3U);
    EXPECT_EQ(scale["steps_to_target"][0], run["target_step"]) << "the first seed is the scenario's";
    if (run["relative_steps"].is_null()) {
      EXPECT_FALSE(scale["why_not"].is_null());
      continue;
    }
    const double steps = 1000 * run["relative_steps"].get<double>();
    EXPECT_NEAR(run["scale_seconds"].get<double>(),
                steps * run["step_seconds"].get<double>() + std::ceil(steps / 300) * 2 + 10, 1e-6 * steps);
    if (run["algorithm"] == "gradient-sharing") {
      EXPECT_EQ(run["relative_steps"], 1);
    }
    ++told;
  }
  EXPECT_GE(told, 2);
}

TEST(TimedAs, WithoutKnownStepsGivesNoTime) {
  const nlohmann::json result = result_of({"--set", "timed-as.workload=vgg-16", "--set", "workers.memory=ignore"});
  EXPECT_EQ(result["at_scale"]["why_not"]["words"], "no published results for vgg-16 are known here");
  for (const nlohmann::json& run : result["runs"]) EXPECT_TRUE(run["scale_seconds"].is_null());
}

TEST(TimedAs, TakesAWorkloadOfOnesOwn) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("mine.csv",
                                        "layer,kind,in,out,rows_per_sample,parameters,forward_macs_per_sample\n"
                                        "words,embedding,50,1000,7,50000,0\nfc,dense,50,2000,7,102000,700000\n");
  const nlohmann::json result = result_of({"--set", "timed-as.file=" + file, "--set", "timed-as.batch=4"});
  EXPECT_EQ(result["timed_as"].get<std::string>().substr(0, 31), "mine (152,000 parameters), batc");
  EXPECT_NEAR(result["runs"][2]["bytes_up_per_worker"].get<double>(), 4 * 152'000, 1e-6);
  EXPECT_EQ(result["at_scale"]["why_not"]["words"], "your own workload has no published results");
}

}  // namespace
}  // namespace dadsim::cli
