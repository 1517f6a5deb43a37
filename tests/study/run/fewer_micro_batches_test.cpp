// Compares steps of many micro-batches that are extrapolated from two shorter steps with whole steps.
#include "study/run/fewer_micro_batches.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "report/layout/layout_report.hpp"
#include "scenario/document/load.hpp"
#include "study/layout/by_flow.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"

namespace dadsim::study {
namespace {

/// Returns four nodes of three GPUs with one slow adapter per node. The work of stages is unequal: a table, eight
/// blocks, and a loss.
scenario::Scenario scenario_of(const std::string& timed_as) {
  const scenario::ScenarioSource source(
      "twelve.xml",
      fmt::format(
          R"(<scenario name="twelve" seed="1"><platform><gpu-cluster nodes="4" gpus="3" inside="nvlink-2" rails="1"
             nic="ib-edr"><one-switch/></gpu-cluster></platform>
             <workers><worker hosts="gpu-[0-11]" device="v100-sxm2"/></workers>
             <network fidelity="flow"/><timing-only/><training><adam learning-rate="1e-3"/></training>
             <timed-as workload="gpt" layers="8" hidden="768" heads="6" vocabulary="50000" sequence="256"
                       precision="fp16" {}/>
             <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
          timed_as));
  return source.load_point({"workers.memory=ignore"}, make_catalog_without_learning());
}

constexpr double kAnyWork = std::numeric_limits<double>::infinity();

report::RunResult timed(const scenario::Scenario& scenario, bool shortens, double most = kAnyWork) {
  const Learned learned = learn_scenario(scenario, nullptr, false);
  SimulationWork work{.most = most};
  return time_scenario(scenario, learned, cluster_by_flow(scenario), false, {}, shortens ? &work : nullptr)
      .runs.front();
}

constexpr const char* kInDoubt =
    R"(batch="61" micro-batch="1" pipeline="3" tensor="2" sequence-parallel="true" recompute="full")";

class ShortenedSteps : public testing::TestWithParam<const char*> {};

TEST_P(ShortenedSteps, TakeTheTimeOfWholeOnes) {
  const scenario::Scenario scenario = scenario_of(GetParam());
  const TimedAs as = timed_as_of(scenario, {});
  const std::optional<FewerMicroBatches> numbers = fewer_micro_batches(as, cluster_of(scenario));
  ASSERT_TRUE(numbers);
  EXPECT_LT(numbers->few + numbers->more, numbers->all);
  const report::RunResult shortened = timed(scenario, true);
  const report::RunResult whole = timed(scenario, false);
  EXPECT_NE(shortened.step_seconds, whole.step_seconds) << "the whole step was timed";
  EXPECT_NEAR(shortened.step_seconds / whole.step_seconds, 1, 1e-3);
  EXPECT_NEAR(shortened.compute_seconds / whole.compute_seconds, 1, 1e-3);
  EXPECT_NEAR(shortened.bytes_up_per_worker / whole.bytes_up_per_worker, 1, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ShortenedSteps,
    testing::Values(R"(batch="96" micro-batch="2" pipeline="4" interleave="2" sharding="optimizer")",
                    R"(batch="56" micro-batch="1" pipeline="2" schedule="zb-h1")",
                    R"(batch="40" micro-batch="1" tensor="3" sharding="gradients")"));

/// Twelve devices are in nodes of three, so two devices that divide a layer may be in different nodes. Many of the 22
/// layouts are therefore uncertain. A step is extrapolated to within half a percent, or simulated whole.
TEST(ShortenedSteps, TakeTheTimeOfWholeOnesInDoubtToo) {
  constexpr double kMostOff = 5e-3;
  int shorter = 0, in_doubt = 0, both = 0;
  for (const auto& [tensor, pipeline] :
       {std::pair{2, 1}, {2, 2}, {2, 3}, {2, 6}, {3, 1}, {3, 2}, {3, 4}, {6, 1}, {6, 2}, {1, 2}, {1, 4}}) {
    for (const char* more : {R"(batch="160")", R"(batch="96" recompute="full" sharding="optimizer")"}) {
      const std::string layout = fmt::format(R"({} micro-batch="1" tensor="{}" pipeline="{}"{})", more, tensor,
                                             pipeline, tensor > 1 ? R"( sequence-parallel="true")" : "");
      SCOPED_TRACE(layout);
      const scenario::Scenario scenario = scenario_of(layout);
      const report::RunResult shortened = timed(scenario, true);
      const report::RunResult whole = timed(scenario, false);
      EXPECT_NEAR(shortened.step_seconds / whole.step_seconds, 1, kMostOff);
      const bool doubted = report::doubt_of(shortened) > 0;
      shorter += shortened.step_seconds != whole.step_seconds;
      in_doubt += doubted;
      both += doubted && shortened.step_seconds != whole.step_seconds;
    }
  }
  EXPECT_GE(shorter, 11);
  EXPECT_GE(both, 3) << in_doubt;
}

// Two of a node's devices divide layers, and the third divides them with a device of the next node, so collectives
// share adapters.
TEST(ShortenedSteps, KeepTheirDoubtsWhereTheWholeStepIsTooMuchWork) {
  const scenario::Scenario scenario = scenario_of(kInDoubt);
  ASSERT_TRUE(fewer_micro_batches(timed_as_of(scenario, {}), cluster_of(scenario)));
  const report::RunResult whole = timed(scenario, false);
  const report::RunResult shortened = timed(scenario, true, 1);
  EXPECT_NE(shortened.step_seconds, whole.step_seconds);
  EXPECT_GT(report::doubt_of(shortened), 0);
  EXPECT_NEAR(shortened.step_seconds / whole.step_seconds, 1, report::doubt_of(shortened) + report::doubt_of(whole));
}

// Two replicas enter their all-reduces at different times. All-reduces that share adapters take longer, but the lag
// between replicas must not grow. When the lag once grew with every all-reduce, twice the micro-batches took a million
// times as long.
TEST(ShortenedSteps, GrowWithMicroBatchesWhereReplicasAreApart) {
  const auto seconds = [](int batch) {
    return timed(scenario_of(fmt::format(
                     R"(batch="{}" micro-batch="1" pipeline="3" schedule="zb-h1" tensor="2" sequence-parallel="true")",
                     batch)),
                 false)
        .step_seconds;
  };
  EXPECT_NEAR(seconds(192) / seconds(96), 2, 0.05);
}

TEST(ShortenedSteps, CountTheirWork) {
  const scenario::Scenario scenario = scenario_of(R"(batch="200" micro-batch="1" pipeline="3")");
  const Learned learned = learn_scenario(scenario, nullptr, false);
  SimulationWork work;
  time_scenario(scenario, learned, cluster_by_flow(scenario), false, {}, &work);
  EXPECT_GT(work.done, 0);
  EXPECT_LT(work.done, work.whole / 5);
}

TEST(ShortenedSteps, AreNotTakenWhereTheyAreNotMuchShorter) {
  const scenario::Scenario scenario = scenario_of(R"(batch="12" micro-batch="1" pipeline="4")");
  EXPECT_FALSE(fewer_micro_batches(timed_as_of(scenario, {}), cluster_of(scenario)));
}

}  // namespace
}  // namespace dadsim::study
