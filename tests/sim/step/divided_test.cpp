// Tests steps of replicas that consist of several devices, on a star without contention, against times computed by
// hand.
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "schedule/divide.hpp"
#include "sim/declared.hpp"
#include "sim/simulator.hpp"
#include "sim/star.hpp"
#include "spec/device_part.hpp"

namespace dadsim::sim {
namespace {

using spec::ParallelismSpec;
using spec::PipelineOrder;
using spec::Recomputation;
using spec::Sharding;

constexpr double kForward = 1, kBackward = 2;  // seconds of one layer for a batch of one
constexpr std::int64_t kWidth = 64;
constexpr double kElement = 4;  // bytes

/// Returns blocks of one layer each. `divided`: of two layers, split by tensor parallelism as in a transformer.
spec::ModelShape network(std::int32_t blocks, bool divided = false) {
  spec::ModelShape model{"network", {}};
  for (std::int32_t i = 1; i <= blocks; ++i) {
    const std::string block = fmt::format("block{}.", i);
    if (!divided) {
      model.layers.push_back(spec::dense_shape(block + "layer", kWidth, kWidth, false));
      continue;
    }
    model.layers.push_back(spec::dense_shape(block + "wide", kWidth, 4 * kWidth, false));
    model.layers.back().split = spec::TensorSplit::column;
    model.layers.push_back(spec::dense_shape(block + "narrow", 4 * kWidth, kWidth, false));
    model.layers.back().split = spec::TensorSplit::row;
  }
  return model;
}

/// Returns gradient sharing for these layers; each second of computing is one launch of the clockwork device.
schedule::Schedule gradient_sharing(const spec::ModelShape& device, std::size_t replicas,
                                    const spec::LayerRange& layers, double samples) {
  schedule::Schedule schedule;
  schedule.workers = replicas;
  const auto compute = [&](const std::string& layer, step::Phase phase, double seconds, bool of_pass) {
    schedule::ComputeTask task{phase, step::Role::workers, test::same(0), test::same(0), test::same(seconds)};
    task.of_pass = of_pass;
    schedule.tasks.push_back({layer, std::move(task)});
  };
  for (std::size_t i = layers.first; i < layers.end; ++i)
    compute(device.layers[i].name, step::Phase::forward, kForward * samples, true);
  std::vector<std::int32_t> sums;
  for (std::size_t i = layers.end; i-- > layers.first;) {
    compute(device.layers[i].name, step::Phase::weight_gradient, kBackward / 2 * samples, true);
    sums.push_back(static_cast<std::int32_t>(schedule.tasks.size()));
    const double bytes = kElement * static_cast<double>(device.layers[i].parameters);
    schedule.tasks.push_back(
        {device.layers[i].name, schedule::CollectiveTask{step::CollectiveKind::all_reduce, test::same(bytes), "ring"}});
    compute(device.layers[i].name, step::Phase::backpropagate, kBackward / 2 * samples, true);
  }
  for (const std::int32_t sum : sums) schedule.tasks.push_back({"all", schedule::WaitTask{step::Role::workers, sum}});
  return schedule;
}

schedule::Schedule divided(const spec::ModelShape& whole, const ParallelismSpec& how, std::size_t replicas,
                           std::int64_t batch, const std::string& reduce_scatter = "auto",
                           const std::string& all_reduce = "auto") {
  const spec::ModelShape device = spec::sharded(whole, how.tensor);
  const auto of_layers = [&](const spec::LayerRange& layers, double samples) {
    return gradient_sharing(device, replicas, layers, samples);
  };
  return schedule::divide({.step = of_layers,
                           .whole = whole,
                           .device = device,
                           .batch = batch,
                           .sample_scale = static_cast<double>(batch),
                           .all_reduce = all_reduce,
                           .all_gather = "ring",
                           .reduce_scatter = reduce_scatter},
                          how, replicas);
}

/// Returns the timing on links without latency and with almost endless bandwidth.
step::StepTiming on_free_network(const schedule::Schedule& schedule) {
  return test::time_on({.workers = schedule.workers, .rate = 1e15, .latency = 0}, schedule);
}

TEST(DividedStep, GpipeAndOneForwardOneBackwardHaveTheBubbleOfThePaper) {
  for (const PipelineOrder order : {PipelineOrder::gpipe, PipelineOrder::one_f_one_b}) {
    for (const auto& [stages, batch] : {std::pair{4, 8}, {2, 3}, {4, 2}}) {
      const ParallelismSpec how{.pipeline = stages, .micro_batch = 1, .order = order};
      const double own = batch * (kForward + kBackward);
      const double whole = on_free_network(divided(network(stages), how, 1, batch)).seconds;
      // With M micro-batches and S stages, a step takes (M + S − 1) ÷ M times a stage's computing: the bubble is (S −
      // 1) ÷ (M + S − 1).
      EXPECT_NEAR(whole, own * (batch + stages - 1) / batch, 1e-3 * own) << stages << " stages, batch " << batch;
    }
  }
}

// With V model chunks per device, the bubble is V times smaller (Narayanan et al., SC 2021, section 2.2.2).
TEST(DividedStep, PiecesMakeTheBubbleSmaller) {
  const ParallelismSpec how{.pipeline = 4, .interleave = 2, .micro_batch = 1};
  const double own = 8 * 2 * (kForward + kBackward);
  EXPECT_NEAR(on_free_network(divided(network(8), how, 1, 8)).seconds, own * (1 + 3.0 / (2 * 8)), 1e-3 * own);
}

TEST(DividedStep, RecomputingCostsAForwardPass) {
  ParallelismSpec how{.micro_batch = 1, .recomputation = Recomputation::full};
  EXPECT_NEAR(on_free_network(divided(network(3), how, 1, 4)).seconds, 4 * 3 * (2 * kForward + kBackward), 1e-3);
  how.recomputation = Recomputation::selective;  // the model has no attention, so nothing is recomputed
  EXPECT_NEAR(on_free_network(divided(network(3), how, 1, 4)).seconds, 4 * 3 * (kForward + kBackward), 1e-3);
}

/// Returns the bytes that a device sends on average, over rings of `replicas`, in units of the model's parameters.
double sent(const ParallelismSpec& how, std::size_t replicas, std::int64_t batch) {
  const spec::ModelShape model = network(4);
  const step::StepTiming timing = on_free_network(divided(model, how, replicas, batch));
  const double each = std::accumulate(timing.bytes_sent.begin(), timing.bytes_sent.end(), 0.0) /
                      static_cast<double>(timing.bytes_sent.size());
  return each / (kElement * static_cast<double>(model.parameters()));
}

// ZeRO stages 1 and 2 send as much as an all-reduce, stage 3 half as much again (Rajbhandari et al., SC 2020, section
// 7). Rings send 1 − 1 ÷ N of these amounts.
TEST(DividedStep, ShardingSendsWhatZeroSays) {
  constexpr std::size_t kReplicas = 4;
  constexpr double kRing = 1 - 1.0 / kReplicas;
  EXPECT_NEAR(sent({}, kReplicas, 1), 2 * kRing, 1e-3);
  EXPECT_NEAR(sent({.sharding = Sharding::optimizer}, kReplicas, 1), 2 * kRing, 1e-3);
  EXPECT_NEAR(sent({.sharding = Sharding::gradients}, kReplicas, 1), 2 * kRing, 1e-3);
  EXPECT_NEAR(sent({.sharding = Sharding::parameters}, kReplicas, 1), 3 * kRing, 1e-3);
  // With micro-batches, stage 2 scatters gradients after each micro-batch, and stage 3 also gathers parameters for each
  // pass.
  EXPECT_NEAR(sent({.micro_batch = 1, .sharding = Sharding::optimizer}, kReplicas, 2), 2 * kRing, 1e-3);
  EXPECT_NEAR(sent({.micro_batch = 1, .sharding = Sharding::gradients}, kReplicas, 2), 3 * kRing, 1e-3);
  EXPECT_NEAR(sent({.micro_batch = 1, .sharding = Sharding::parameters}, kReplicas, 2), 6 * kRing, 1e-3);
}

TEST(DividedStep, ShardingScattersSumsAsTheRunAsks) {
  for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
    for (const char* asked : {"direct", "ring"}) {
      const schedule::Schedule schedule = divided(network(2), {.sharding = sharding}, 4, 1, asked);
      int scattered = 0;
      for (const schedule::Task& task : schedule.tasks) {
        const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
        if (collective == nullptr || collective->kind != step::CollectiveKind::reduce_scatter) continue;
        ++scattered;
        EXPECT_EQ(collective->algorithm, asked);
      }
      EXPECT_EQ(scattered, 2);
    }
  }
  // With a latency of 1 s, `direct` needs one round and a ring three, so it is more than a second faster.
  const auto seconds = [](const char* asked) {
    const schedule::Schedule schedule = divided(network(1), {.sharding = Sharding::optimizer}, 4, 1, asked);
    return test::time_on({.workers = 4, .rate = 1e15, .latency = 1}, schedule).seconds;
  };
  EXPECT_GT(seconds("ring"), seconds("direct") + 1);
}

// A reduce-scatter by halving over a shared adapter once took seven times a ring, which made a sharded step three times
// as long. Scattering and gathering now send the bytes of a ring all-reduce.
TEST(DividedStep, ShardingTakesNoLongerWhereGpusShareAnAdapter) {
  const spec::GpuClusterSpec nodes = test::cluster_of(2, 4, test::line(300e9, 1e-6, spec::Transport::nvlink),
                                                      test::line(3e7, 1e-6, spec::Transport::rdma));
  Cluster cluster = test::workers_on({"", nodes, {}, {}}, spec::Fidelity::message);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  spec::ModelShape wide{"wide", {}};
  for (const char* layer : {"first", "second"}) wide.layers.push_back(spec::dense_shape(layer, 4096, 4096, false));
  const auto seconds = [&](Sharding sharding) {
    const std::vector<schedule::Schedule> schedules{divided(wide, {.sharding = sharding}, cluster.hosts.size(), 1)};
    return time_schedules(cluster, schedules).steps.at(0).seconds;
  };
  const double whole = seconds(Sharding::none);
  EXPECT_GT(whole, 2 * (kForward + kBackward) + 1) << "what is sent counts";
  EXPECT_LT(seconds(Sharding::optimizer), 1.05 * whole);
  EXPECT_LT(seconds(Sharding::gradients), 1.05 * whole);
}

/// Counts collectives of this kind among the tensor-parallel devices.
std::size_t tensor_collectives(const schedule::Schedule& schedule, step::CollectiveKind kind) {
  std::size_t count = 0;
  for (const schedule::Task& task : schedule.tasks) {
    const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    if (collective != nullptr && collective->among == schedule::Among::tensor && collective->kind == kind) ++count;
  }
  return count;
}

// Megatron sums once forward and once backward in each half of a transformer layer (Shoeybi et al., arXiv:1909.08053,
// section 3). A block here is such a half.
TEST(DividedStep, DevicesOfALayerSumOnceForwardAndOnceBackward) {
  ParallelismSpec how{.tensor = 2};
  schedule::Schedule schedule = divided(network(3, true), how, 1, 2);
  EXPECT_EQ(tensor_collectives(schedule, step::CollectiveKind::all_reduce), 3U * 2);
  const double bytes = kElement * 2 * kWidth;  // bytes for a batch of two
  const step::StepTiming timing = on_free_network(schedule);
  EXPECT_NEAR(timing.bytes_sent[0], 3 * 2 * bytes, 1e-3);  // a ring of T = 2 devices sends 2 (T − 1) ÷ T = 1 times the
                                                           // vector from each
  // The tensor group uses the run's algorithm, or the library's choice if the algorithm does not suit a group inside
  // one node.
  for (const char* asked : {"direct", "ring", "hierarchical"}) {
    const spec::GpuClusterSpec node = test::cluster_of(1, 2, test::line(1e9, 1e-3, spec::Transport::nvlink), {});
    Cluster cluster = test::workers_on({"", node, {}, {}}, spec::Fidelity::message);
    cluster.devices.assign(2, test::clockwork());
    const schedule::Schedule of_run = divided(network(3, true), how, 1, 2, "auto", asked);
    const TimedRun timed = time_schedules(cluster, std::vector{of_run});
    std::set<std::string> carried_out;
    for (const auto& one : timed.network.collectives) carried_out.insert(one.algorithm);
    const std::set<std::string> own{"ring"};  // the algorithm of the replicas' sums
    EXPECT_EQ(carried_out, std::string(asked) == "direct" ? (std::set<std::string>{"direct", "ring"}) : own) << asked;
  }
  how.sequence_parallel = true;
  schedule = divided(network(3, true), how, 1, 2);
  EXPECT_EQ(tensor_collectives(schedule, step::CollectiveKind::reduce_scatter), 3U * 2);
  // Sequence parallelism adds an all-gather: the input is gathered again for the gradient of the weights (Korthikanti
  // et al., section 4.2.2).
  EXPECT_EQ(tensor_collectives(schedule, step::CollectiveKind::all_gather), 3U * 3);
}

TEST(DividedStep, StagesPassOnWhatTheirLastLayerPutsOut) {
  const step::StepTiming timing = on_free_network(divided(network(2), {.pipeline = 2, .micro_batch = 1}, 1, 3));
  EXPECT_NEAR(timing.bytes_sent[0], 3 * kElement * kWidth, 1e-6);
  EXPECT_NEAR(timing.bytes_sent[1], 3 * kElement * kWidth, 1e-6);
}

}  // namespace
}  // namespace dadsim::sim
