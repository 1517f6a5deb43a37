#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "report/run/answer.hpp"
#include "report/run/table.hpp"
#include "scenario/document/load.hpp"
#include "sim/simulator.hpp"
#include "study/explain/compare.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/timed_as.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kShipped = DADSIM_SOURCE_DIR "/scenarios/gpt2-medium.xml";

scenario::Scenario shipped(const std::vector<std::string>& overrides = {}) {
  return load_scenario(kShipped, overrides, make_catalog());
}

TEST(TimingOnly, AnswersAQuestionThatAsksForNoAccuracy) {
  const report::Result result = run_experiment(shipped(), false);
  EXPECT_TRUE(result.timing_only);
  ASSERT_EQ(result.runs.size(), 2U);
  const report::RunResult& plain = result.runs[0];
  EXPECT_TRUE(std::isnan(plain.final_accuracy));
  EXPECT_GT(plain.step_seconds, plain.compute_seconds);
  ASSERT_TRUE(plain.throughput);
  EXPECT_DOUBLE_EQ(plain.throughput->samples, 64 * 8 / plain.step_seconds);
  EXPECT_DOUBLE_EQ(plain.throughput->tokens.value(), 1024 * plain.throughput->samples);
  // One worker alone would have neither what it exposes of its communication, nor what it computes slower beside that.
  const double computing = (plain.step_seconds - plain.exposed_seconds) / plain.step_seconds;
  EXPECT_LT(plain.throughput->scaling_efficiency.value(), computing);
  EXPECT_GT(plain.throughput->scaling_efficiency.value(), computing / 1.189);
  EXPECT_GT(plain.throughput->model_flops_utilisation.value(), 0.05);
  EXPECT_LT(plain.throughput->model_flops_utilisation.value(), 0.7);
  EXPECT_EQ(plain.at_scale.value().relative.ratio.value().value, 1) << "by definition";
  EXPECT_FALSE(result.runs[1].at_scale.value().relative.ratio) << "nobody has learned with it";
  const std::string table = to_table(result);
  EXPECT_EQ(table.find("nan"), std::string::npos) << table;
  EXPECT_NE(table.find("tokens/s"), std::string::npos) << table;
}

/// What is exposed of one sum of all gradients behind the backward pass is what that all-reduce takes alone.
TEST(TimingOnly, AgreesWithTheCollectiveAlone) {
  const scenario::Scenario scenario =
      shipped({"run[gradient-sharing].bucket=100GB", "run[gradient-sharing].first-bucket=100GB"});
  const report::Result result = run_experiment(scenario, false);
  sim::Cluster cluster = cluster_of(scenario);
  sim::CollectiveJob job;
  job.request.kind = step::CollectiveKind::all_reduce;
  const auto parameters = static_cast<double>(shape_of_workload(*scenario.timed_as).parameters());
  job.request.bytes = {2 * parameters};  // bf16
  const sim::TimedCollectives alone = time_collectives(cluster, std::vector<sim::CollectiveJob>{job}, nullptr);
  EXPECT_NEAR(result.runs[0].exposed_seconds / alone.timings[0].seconds, 1, 0.01);
}

TEST(TimingOnly, ComparedWithAWiderAdapterSaysAFactorAndItsReason) {
  const report::Comparison comparison =
      compare_scenarios(shipped(), shipped({"platform.gpu-cluster.nic=roce-400"}), "nic=roce-400", false);
  const std::vector<report::Compared> runs = compared_runs(comparison);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].metric, report::Metric::time_per_step);
  EXPECT_GT(*runs[0].before.seconds / *runs[0].after.seconds, 1.1);
  EXPECT_LE(*runs[0].before.seconds / *runs[0].after.seconds, 4.0 + 1e-9)
      << "four times the bandwidth is four times at most";
  EXPECT_NE(report::in_words(statement_on(runs[0], comparison.name)).find(") faster: a step"), std::string::npos);
  EXPECT_NE(runs[0].before.causes.find("bandwidth"), std::string::npos);
  ASSERT_EQ(comparison.differences.size(), 1U);
  EXPECT_EQ(comparison.differences[0].path, "platform.gpu-cluster.nic");
  EXPECT_EQ(comparison.differences[0].before, "roce-100");
  EXPECT_EQ(comparison.differences[0].after, "roce-400");
}

/// Where its factors have found less, a run with a cap sends no more than with its ranks at the cap.
TEST(TimingOnly, TakesRanksToBeAtTheirCap) {
  const std::vector<std::string> two_nodes{"platform.gpu-cluster.nodes=2", "workers.worker.hosts=gpu-[0-15]",
                                           "run[2].algorithm=rank-dad", "run[2].rank=", "run[2].label=rank-dad"};
  std::vector<double> bytes;
  for (const char* cap : {"2", "4", "6"}) {
    std::vector<std::string> overrides = two_nodes;
    overrides.push_back(std::string("run[2].cap=") + cap);
    const report::Result result = run_experiment(shipped(overrides), false);
    bytes.push_back(result.runs[1].bytes_up_per_worker);
    const auto& notes = result.runs[1].notes;
    EXPECT_TRUE(std::ranges::any_of(notes, [&](const report::Statement& note) {
      return report::in_words(note).find("at their cap, " + std::string(cap)) != std::string::npos;
    }));
  }
  // What is no matrix, tables first of all, is the same in all three; were ranks those of the small network, all would
  // be.
  EXPECT_GT(bytes[1] - bytes[0], 1e6);
  EXPECT_NEAR((bytes[2] - bytes[1]) / (bytes[1] - bytes[0]), 1, 0.01);
}

TEST(TimingOnly, RefusesSizesThatComeOutOfNumbers) {
  try {
    shipped({"platform.gpu-cluster.nodes=1", "workers.worker.hosts=gpu-[0-7]",
             "run[gradient-sharing].compress.method=sidco"});
    FAIL() << "it was let in";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("decided by the numbers"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dadsim::study
