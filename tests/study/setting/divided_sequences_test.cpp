// Tests messages of devices that divide sequences, or shard states in groups.
#include <gtest/gtest.h>

#include <string>

#include "study/run/experiment.hpp"
#include "study/setting/division_cases.hpp"

namespace dadsim::study {
namespace {

using namespace test_division;
using enum schedule::Among;
using enum step::CollectiveKind;

constexpr double kKeys = 2 * 2 * 64;  // numbers in the keys and values of one position

TEST(DividedSequences, GatherKeysAndScatterTheirGradients) {
  for (const int parts : {2, 4}) {
    for (const char* how : {"ring", "all-gather"}) {
      const auto sums =
          collectives_of(with("context=\"" + std::to_string(parts) + "\" context-exchange=\"" + how + "\""));
      // Each of two blocks gathers keys and values in both passes, and scatters their gradients in the backward pass.
      EXPECT_EQ(sums.at({context, all_gather}).count, 4);
      EXPECT_DOUBLE_EQ(sums.at({context, all_gather}).bytes, 4 * kElement * kTokens / parts * kKeys);
      EXPECT_EQ(sums.at({context, reduce_scatter}).count, 2);
      EXPECT_DOUBLE_EQ(sums.at({context, reduce_scatter}).bytes, 2 * kElement * kTokens * kKeys);
    }
  }
  EXPECT_DOUBLE_EQ(collectives_of(with(R"(context="2" tensor="2")")).at({context, all_gather}).bytes,
                   4 * kElement * kTokens / 2 * kKeys / 2)
      << "of half of the heads";
}

TEST(DividedSequences, SumAllGradientsAmongPartsAndWorkers) {
  const double whole = collectives_of(with("")).at({replicas, all_reduce}).bytes;
  EXPECT_DOUBLE_EQ(collectives_of(with(R"(context="4")")).at({replicas, all_reduce}).bytes, whole);
}

TEST(DividedSequences, KeepAPartOfTheActivations) {
  const auto memory = [](const std::string& how) {
    const scenario::Scenario scenario = with(how);
    const TimedAs timed = timed_as_of(scenario, {});
    double kept = 0;
    for (const spec::LayerShape& layer : timed.shape.layers) kept += layer.outputs_kept();
    return kept;
  };
  EXPECT_NEAR(memory(R"(context="4")"), memory("") / 4, 1);
}

TEST(DividedSequences, ABesideExchangeIsNeverSlower) {
  const auto seconds = [](const char* how) {
    scenario::Scenario scenario = with(std::string(R"(context="8" context-exchange=")") + how + "\"");
    return run_experiment(scenario, false).runs[0].step_seconds;
  };
  EXPECT_LE(seconds("ring"), seconds("all-gather"));
}

TEST(ShardingGroups, GatherWithinAndSumAcross) {
  const double parameters = collectives_of(with("")).at({replicas, all_reduce}).bytes;
  const auto sums = collectives_of(with(R"(sharding="parameters" sharding-group="4")"));
  EXPECT_FALSE(sums.contains({replicas, all_reduce}));
  EXPECT_FALSE(sums.contains({replicas, all_gather}));
  EXPECT_DOUBLE_EQ(sums.at({shard_group, reduce_scatter}).bytes, parameters);
  EXPECT_DOUBLE_EQ(sums.at({shard_copies, all_reduce}).bytes, parameters / 4);
  EXPECT_EQ(sums.at({shard_copies, all_reduce}).count, sums.at({shard_group, reduce_scatter}).count);
  const auto all = collectives_of(with(R"(sharding="optimizer" sharding-group="16")"));
  EXPECT_FALSE(all.contains({shard_copies, all_reduce})) << "there is one group";
  EXPECT_DOUBLE_EQ(all.at({shard_group, all_gather}).bytes, parameters / 16);
}

TEST(Divisions, TakeTheSameByFlowAndByMessage) {
  for (const char* how :
       {R"(context="2")", R"(context="4" tensor="2" sequence-parallel="true" context-exchange="all-gather")",
        R"(context="2" pipeline="2" micro-batch="1" expert-parallel="4")",
        R"(sharding="parameters" sharding-group="8")", R"(sharding="gradients" sharding-group="4" micro-batch="2")"}) {
    SCOPED_TRACE(how);
    EXPECT_NEAR(flow_by_message(with(how)), 1, 5e-3);
  }
}

TEST(Divisions, NeedWholeGroups) {
  EXPECT_NE(fault_of(R"(context="3")").find("rows per sample, which 3 devices cannot share"), std::string::npos);
  EXPECT_NE(fault_of(R"(sharding="optimizer" sharding-group="3")").find("does not divide the 16 workers"),
            std::string::npos);
  EXPECT_NE(fault_of(R"(sharding-group="4")").find("needs sharding"), std::string::npos);
  EXPECT_NE(fault_of(R"(context-exchange="ring")").find("needs context parallelism"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::study
