// Compares scenarios with values computed by hand: delayed weight gradients, exchanges that overlap products, experts
// divided by expert tensor parallelism or with full capacity, and an optimizer on the host.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/division_cases.hpp"
#include "study/setting/memory_check.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

using namespace test_division;
using enum schedule::Among;
using enum step::CollectiveKind;

double seconds_of(const std::string& how, int experts = 8) {
  return run_experiment(with(how, experts), false).runs[0].step_seconds;
}

schedule::Schedule schedule_of(const scenario::Scenario& scenario) {
  const Learned learned = learn_scenario(scenario, nullptr, false);
  const LearnedRun& run = *learned.runs.front();
  return schedule_of(scenario.runs.front(), run.trajectory, run.trajectory.distinct_steps.front(), run.shape,
                     timed_as_of(scenario, run.shape));
}

schedule::Schedule schedule_of(const std::string& how) { return schedule_of(with(how)); }

/// Returns the bytes that a device copies to or from its host per step.
double copied(const scenario::Scenario& scenario, schedule::HostCopy copy) {
  double bytes = 0;
  for (const schedule::Task& task : schedule_of(scenario).tasks) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    if (compute != nullptr && compute->copy == copy) bytes += compute->copied;
  }
  return bytes;
}
double copied(const std::string& how, schedule::HostCopy copy) { return copied(with(how), copy); }

/// Returns the flops of all devices in a step.
double flops_of(const std::string& how) {
  double flops = 0;
  for (const schedule::Task& task : schedule_of(how).tasks) {
    if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) flops += compute->flops[0];
  }
  return flops;
}

TEST(WaitingGradients, ComputeTheSameInLessTime) {
  const std::string pipeline = R"(pipeline="2" micro-batch="1" )";
  EXPECT_DOUBLE_EQ(flops_of(pipeline + R"(schedule="zb-h1")"), flops_of(pipeline));
  EXPECT_LT(seconds_of(pipeline + R"(schedule="zb-h1")"), seconds_of(pipeline));
  const auto sent = [&](const std::string& how) {
    return collectives_of(with(pipeline + how)).at({stages, stage_send});
  };
  EXPECT_EQ(sent(R"(schedule="zb-h1")").count, sent("").count);
}

/// The model has four pieces: two blocks, the layers before them and the layers after them. In a V-shaped schedule, one
/// stage holds the first and the last piece.
TEST(WaitingGradients, GoThereAndBack) {
  const std::string pipeline = R"(pipeline="2" micro-batch="1" interleave="2" )";
  EXPECT_DOUBLE_EQ(flops_of(pipeline + R"(schedule="dualpipe-v")"), flops_of(pipeline));
  const auto turned = collectives_of(with(pipeline + R"(schedule="dualpipe-v")")).at({stages, stage_send});
  const auto round = collectives_of(with(pipeline)).at({stages, stage_send});
  EXPECT_EQ(round.count, 4 * 2 * 3);
  EXPECT_EQ(turned.count, 4 * 2 * 2) << "the second and the third piece are on one stage";
  EXPECT_NE(fault_of(R"(pipeline="2" micro-batch="1" interleave="3")").find("too few for 6 stages"), std::string::npos);
}

TEST(WaitingGradients, AreRefusedWhereTheyCannotWait) {
  EXPECT_NE(fault_of(R"(pipeline="2" micro-batch="1" interleave="2" schedule="zb-h1")")
                .find("cannot be combined with schedule=\"zb-h1\""),
            std::string::npos);
  EXPECT_NE(fault_of(R"(pipeline="2" micro-batch="2" interleave="2" schedule="dualpipe-v")").find("2 micro-batches"),
            std::string::npos);
}

// With four micro-batches, all-reduces between groups are sent once instead of four times. With "all", so are
// reduce-scatters.
TEST(DeferredSums, GoWithTheLastMicroBatch) {
  const std::string groups = R"(sharding="parameters" sharding-group="8" micro-batch="1" )";
  const auto each = collectives_of(with(groups, 0));
  const auto replicas = collectives_of(with(groups + R"(deferred-sums="replicas")", 0));
  const auto all = collectives_of(with(groups + R"(deferred-sums="all")", 0));
  constexpr int kMicroBatches = 4;
  for (const auto* bytes : {&each, &replicas})
    EXPECT_DOUBLE_EQ(bytes->at({shard_group, reduce_scatter}).bytes,
                     kMicroBatches * all.at({shard_group, reduce_scatter}).bytes);
  for (const auto* once : {&replicas, &all}) {
    EXPECT_EQ(each.at({shard_copies, all_reduce}).count, kMicroBatches * once->at({shard_copies, all_reduce}).count);
    EXPECT_DOUBLE_EQ(each.at({shard_copies, all_reduce}).bytes,
                     kMicroBatches * once->at({shard_copies, all_reduce}).bytes);
  }
  EXPECT_DOUBLE_EQ(flops_of(groups + R"(deferred-sums="all")"), flops_of(groups));
  const auto memory = [](const std::string& how) {
    const scenario::Scenario scenario = with(how, 0);
    return memory_of_runs(scenario, timed_as_of(scenario, {})).front().use;
  };
  EXPECT_EQ(memory(groups + R"(deferred-sums="replicas")"), memory(groups));
  const double parameters = memory(R"(micro-batch="1")").parameters / kElement;
  EXPECT_DOUBLE_EQ(memory(groups + R"(deferred-sums="all")").gradients, kElement * parameters) << "whole until then";
  for (const char* idle : {R"(deferred-sums="all")", R"(deferred-sums="all" sharding="optimizer" micro-batch="1")",
                           R"(deferred-sums="all" sharding="parameters")"})
    EXPECT_NE(fault_of(idle, 0).find("deferred-sums"), std::string::npos) << idle;
  EXPECT_NE(fault_of(R"(deferred-sums="replicas" sharding="parameters" micro-batch="1")", 0).find("sharding-group"),
            std::string::npos);
}

// A stage sends one vector per token, however many experts the token went through.
TEST(Stages, SendATokenOnceWhateverItsExperts) {
  const auto sent = [](const char* per_token) {
    scenario::Scenario scenario = with(R"(pipeline="2" micro-batch="1")");
    scenario.timed_as->sizes["dense-layers"] = scenario.timed_as->sizes["shared-feed-forward"] = "0";
    scenario.timed_as->sizes["experts-per-token"] = per_token;
    return collectives_of(scenario).at({stages, stage_send});
  };
  const auto one = sent("1");
  const auto dense = collectives_of(with(R"(pipeline="2" micro-batch="1")", 0)).at({stages, stage_send});
  EXPECT_EQ(one.count, dense.count);
  EXPECT_DOUBLE_EQ(one.bytes, dense.bytes);
  EXPECT_DOUBLE_EQ(sent("4").bytes, one.bytes);
}

/// Returns the bucket size of a scenario that does not set one.
double bucket_of(const std::string& how) { return with(how, 0).runs.front().bucket_bytes; }

TEST(DefaultBuckets, AreThoseOfTheFrameworkThatDividesSo) {
  constexpr double kBf16 = 2;
  EXPECT_EQ(bucket_of(""), 25 * 1024 * 1024) << "DistributedDataParallel";
  EXPECT_EQ(bucket_of(R"(sharding="optimizer")"), 40e6 * kBf16) << "Megatron-LM";
  EXPECT_EQ(bucket_of(R"(sharding="optimizer" gradients="fp32")"), 40e6 * 4);
  EXPECT_EQ(bucket_of(R"(tensor="2")"), 40e6 * kBf16);
  EXPECT_EQ(bucket_of(R"(sharding="gradients")"), 500e6 * kBf16) << "DeepSpeed";
  EXPECT_EQ(bucket_of(R"(sharding="parameters")"), 0) << "FSDP: a block at a time";
  const scenario::Scenario own =
      with(R"(sharding="optimizer")", 0, R"(<run algorithm="gradient-sharing" exchange="peer" bucket="1MB"/>)");
  EXPECT_EQ(own.runs.front().bucket_bytes, 1e6);
  EXPECT_EQ(with("", 0).runs.front().first_bucket_bytes, 1024 * 1024);
  EXPECT_EQ(with(R"(sharding="optimizer")", 0).runs.front().first_bucket_bytes, 80e6);
}

TEST(TensorOverlap, HandsOverTheSameBesideWork) {
  const std::string divided = R"(tensor="2" sequence-parallel="true" )";
  const auto plain = collectives_of(with(divided));
  double before = seconds_of(divided);
  for (const char* overlap : {"backward", "products"}) {
    const std::string how = divided + "tensor-overlap=\"" + overlap + "\"";
    const auto beside = collectives_of(with(how));
    for (const auto kind : {all_gather, reduce_scatter}) {
      EXPECT_EQ(beside.at({tensor, kind}).count, plain.at({tensor, kind}).count) << overlap;
      EXPECT_DOUBLE_EQ(beside.at({tensor, kind}).bytes, plain.at({tensor, kind}).bytes) << overlap;
    }
    EXPECT_DOUBLE_EQ(flops_of(how), flops_of(divided));
    const double now = seconds_of(how);
    EXPECT_LT(now, before) << overlap;
    before = now;
  }
  EXPECT_LT(seconds_of(R"(tensor="2" tensor-overlap="backward")"), seconds_of(R"(tensor="2")"));
  EXPECT_NE(fault_of(R"(tensor="2" tensor-overlap="products")").find("needs sequence-parallel"), std::string::npos);
}

TEST(FullExperts, DropWhatComesBeyond) {
  const auto rows = [](const std::string& how) {
    return collectives_of(with("expert-parallel=\"4\" " + how)).at({experts, all_to_all}).bytes;
  };
  EXPECT_DOUBLE_EQ(rows(R"(expert-imbalance="2" expert-capacity="1.25")"), 1.25 * rows(""));
  EXPECT_NE(fault_of(R"(expert-parallel="4" expert-capacity="1.25")").find("must be below"), std::string::npos);
}

TEST(DividedExperts, AreDividedOnceMore) {
  const std::string divided = R"(tensor="2" sequence-parallel="true" expert-parallel="4" )";
  const auto whole = collectives_of(with(divided));
  const auto once_more = collectives_of(with(divided + R"(expert-tensor="2")"));
  // Each of two devices sends its half of the rows to its counterparts on other devices. The received halves are then
  // gathered.
  EXPECT_DOUBLE_EQ(once_more.at({experts, all_to_all}).bytes, 4 * kElement * kRows / 2 * 256 / 4);
  EXPECT_DOUBLE_EQ(once_more.at({experts, all_to_all}).bytes, whole.at({experts, all_to_all}).bytes);
  // Adds three gathers (inputs in the forward pass, inputs and output gradients in the backward pass) and two scatters
  // of sums.
  EXPECT_DOUBLE_EQ(once_more.at({tensor, all_gather}).bytes - whole.at({tensor, all_gather}).bytes,
                   3 * kElement * kRows * 256 / 2);
  EXPECT_DOUBLE_EQ(once_more.at({tensor, reduce_scatter}).bytes - whole.at({tensor, reduce_scatter}).bytes,
                   2 * kElement * kRows * 256);
  EXPECT_DOUBLE_EQ(once_more.at({expert_copies, all_reduce}).bytes, kElement * 2 * kExpert / 2);
  EXPECT_NE(fault_of(R"(tensor="2" expert-parallel="4")")
                .find("'expert-parallel' with 'tensor' needs sequence-parallel=\"true\""),
            std::string::npos);
  EXPECT_NE(fault_of(R"(tensor="4" sequence-parallel="true" expert-parallel="4" expert-tensor="2")")
                .find("differs from tensor=\"4\""),
            std::string::npos);
}

TEST(Offload, TakesTheOptimizerToTheHost) {
  const double parameters = collectives_of(with("")).at({replicas, all_reduce}).bytes / kElement;
  const auto on_host = [](const std::string& link, const std::string& host = "100GBps") {
    return R"(offload="optimizer" offload-rate=")" + link + R"(" host-rate=")" + host + "\"";
  };
  // Gradients go to the host and parameters come back, over a link of 1 or 2 GB/s.
  EXPECT_NEAR(seconds_of(on_host("1GBps")) - seconds_of(on_host("2GBps")), 2 * kElement * parameters * (1e-9 - 0.5e-9),
              1e-6);
  EXPECT_GT(seconds_of(on_host("2GBps", "1GBps")), seconds_of(on_host("2GBps", "10GBps")));
  const scenario::Scenario on_device = with("");
  const scenario::Scenario offloaded = with(on_host("1GBps"));
  const estimate::MemoryUse before = memory_of_runs(on_device, timed_as_of(on_device, {})).front().use;
  const estimate::MemoryUse after = memory_of_runs(offloaded, timed_as_of(offloaded, {})).front().use;
  EXPECT_EQ(after.optimizer + after.master_copies, 0);
  EXPECT_DOUBLE_EQ(before.total() - after.total(), before.optimizer + before.master_copies);
  EXPECT_NE(fault_of(R"(offload="optimizer")").find("lacks 'offload-rate'"), std::string::npos);
  // A quarter of the optimizer's state takes a quarter of the link's time; three quarters stay on the device.
  const auto quarter = [&](const std::string& link) { return on_host(link) + R"( offload-share="0.25")"; };
  EXPECT_NEAR(seconds_of(quarter("1GBps")) - seconds_of(quarter("2GBps")),
              0.25 * 2 * kElement * parameters * (1e-9 - 0.5e-9), 1e-6);
  const scenario::Scenario partly = with(quarter("1GBps"));
  const estimate::MemoryUse some = memory_of_runs(partly, timed_as_of(partly, {})).front().use;
  EXPECT_DOUBLE_EQ(some.optimizer, 0.75 * before.optimizer);
  EXPECT_DOUBLE_EQ(some.master_copies, 0.75 * before.master_copies);
  EXPECT_NE(fault_of(R"(offload-share="0.5")").find("needs offload"), std::string::npos);
}

/// Bytes kept per token of a block, in 16 bit. Six numbers per unit of width: inputs and outputs of norms, and sums
/// with attention and the MLP. Then queries, keys, values and their mix, and three numbers per unit of the gated MLP.
/// Each head adds its sum of scores in fp32.
constexpr double kKeptBlock = 12 * 256 + 2 * (4 + 2 * 2) * 64 + 2 * 4 * 64 + 4 * 4 + 6 * 512;

TEST(Offload, TakesActivationsThereAndBack) {
  const auto on_host = [](const std::string& link) { return "offload=\"activations\" offload-rate=\"" + link + "\" "; };
  const std::string quick = on_host("25GBps");
  for (const auto copy : {schedule::HostCopy::to_host, schedule::HostCopy::from_host}) {
    EXPECT_DOUBLE_EQ(copied(quick, copy), kTokens * kKeptBlock) << "all but the last block of two";
    EXPECT_DOUBLE_EQ(copied(quick + R"(micro-batch="1")", copy), kTokens * kKeptBlock);
    EXPECT_DOUBLE_EQ(copied(quick + R"(tensor="2" sequence-parallel="true")", copy), kTokens * kKeptBlock / 2);
    EXPECT_DOUBLE_EQ(copied(quick + R"(recompute="full")", copy), kTokens * kElement * 256);
  }
  // Copies to the host overlap the last block. Copies back come after it.
  EXPECT_NEAR(seconds_of(on_host("100MBps")) - seconds_of(on_host("200MBps")), 2 * kTokens * kKeptBlock * 5e-9, 1e-6);
  EXPECT_NEAR(seconds_of(on_host("900GBps")), seconds_of(""), 0.02 * seconds_of(""));
  EXPECT_NE(fault_of(quick + R"(pipeline="2" micro-batch="1" schedule="zb-h1")").find("delays weight gradients"),
            std::string::npos);
  EXPECT_NE(fault_of(quick + R"(host-rate="10GBps")").find("needs offload=\"optimizer\""), std::string::npos);
}

/// Returns two blocks of a GPT with dropout on 16 devices; `more` are further attributes of <timed-as>.
scenario::Scenario gpt_with(const std::string& more) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("scenario.xml");
  std::ofstream(path) << R"(<scenario name="gpt" seed="1">
  <platform><gpu-cluster nodes="2" gpus="8" inside="nvlink-4" nic="ib-ndr"/></platform>
  <workers><worker hosts="gpu-[0-15]" device="h100-sxm5"/></workers>
  <timing-only/><training><adamw/></training>
  <timed-as workload="gpt" layers="2" hidden="256" heads="8" vocabulary="1024" sequence="64"
            batch="4" precision="bf16" offload="activations" offload-rate="25GBps" )" +
                             more + R"(/>
  )" + kGradientSharing + R"(
</scenario>)";
  return load_scenario(path, {}, make_catalog());
}

// Bytes of activations that a block keeps, per s b h (s b tokens of width h, a heads): 34 + 5 a s / h. With tensor
// parallelism over t devices: 10 + 24 / t + 5 a s / (h t). With sequence parallelism too: (34 + 5 a s / h) / t. With
// scores recomputed: 34 / t. A fully recomputed block keeps its input: 2. Source: Korthikanti et al., arXiv:2205.05198,
// equations 1, 2 and 4, and section 5.
TEST(Offload, TakesThereWhatABlockKeepsByKorthikanti) {
  constexpr double kScores = 5.0 * 8 * 64 / 256;
  for (const auto& [how, kept] : {std::pair{"", 34 + kScores},
                                  {R"(tensor="2")", 10 + (24 + kScores) / 2},
                                  {R"(tensor="4" sequence-parallel="true")", (34 + kScores) / 4},
                                  {R"(recompute="selective")", 34.0},
                                  {R"(tensor="2" sequence-parallel="true" recompute="selective")", 34.0 / 2},
                                  {R"(recompute="selective" recompute-modules="norms")", 30 + kScores},
                                  {R"(recompute="selective" recompute-modules="feed-forward")", 18 + kScores},
                                  {R"(recompute="selective" recompute-modules="attention norms feed-forward")", 14.0},
                                  {R"(recompute="full")", 2.0}}) {
    for (const auto copy : {schedule::HostCopy::to_host, schedule::HostCopy::from_host})
      EXPECT_DOUBLE_EQ(copied(gpt_with(how), copy), kTokens * 256 * kept) << how << ": all but the last block of two";
  }
}

TEST(DivisionsInTime, TakeTheSameByFlowAndByMessage) {
  for (const char* how :
       {R"(pipeline="2" micro-batch="1" schedule="zb-h1")",
        R"(pipeline="2" micro-batch="1" interleave="2" schedule="dualpipe-v" sharding="optimizer")",
        R"(tensor="2" sequence-parallel="true" tensor-overlap="products" pipeline="2" micro-batch="1")",
        R"(tensor="2" sequence-parallel="true" expert-parallel="4" expert-tensor="2")",
        R"(offload="both" offload-rate="1GBps" host-rate="50GBps" pipeline="2" micro-batch="1")",
        R"(tensor="2" sequence-parallel="true" tensor-overlap="products" sharding="parameters")"}) {
    SCOPED_TRACE(how);
    EXPECT_NEAR(flow_by_message(with(how)), 1, 5e-3);
  }
}

}  // namespace
}  // namespace dadsim::study
