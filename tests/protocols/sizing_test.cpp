#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <variant>

#include "protocols/simulating.hpp"
#include "spec/parallelism.hpp"
#include "spec/workload.hpp"

namespace dadsim::test {
namespace {

TEST(Sizing, PiecesAreAShareOfTheModel) {
  SmallProblem small(1);
  small.model.layers = {spec::DenseSpec{.units = 20}, spec::DenseSpec{.units = 10}};
  const algorithms::LearningProblem problem = small.problem();
  const models::Network network(problem.data.shape, problem.model, problem.seed);
  const spec::CompressSpec four_bits{.method = "e3m0", .parameters = {{"rounding", "nearest"}}, .memory = false};
  const std::vector<std::size_t> first = {0};
  const std::vector<std::size_t> second = {1};
  const std::vector<std::size_t> both = {0, 1};
  const double share = 785.0 * 20 / (785 * 20 + 21 * 10);

  const protocols::Sizing own(problem, {}, {.shape = network.shape()});
  EXPECT_DOUBLE_EQ(own.share_of(first), share);
  EXPECT_DOUBLE_EQ(own.share_of(both), 1);
  EXPECT_DOUBLE_EQ(own.bytes_of(second, {}), 4 * 21 * 10);
  EXPECT_DOUBLE_EQ(own.bytes_of(second, four_bits), 21 * 10 / 2 + 4);
  EXPECT_DOUBLE_EQ(own.bytes_of(both, {}), own.plain_bytes());

  const spec::ModelShape large = spec::workload_registry().at("resnet-50").shape();
  const protocols::Sizing timed(problem, {}, {.shape = large});
  EXPECT_DOUBLE_EQ(timed.share_of(first), share);
  EXPECT_DOUBLE_EQ(timed.bytes_of(first, {}), share * 4 * static_cast<double>(large.parameters()));
  EXPECT_NEAR(timed.bytes_of(both, four_bits), static_cast<double>(large.parameters()) / 2, 2000) << "and scales";

  const spec::CompressSpec low_rank{
      .method = "low-rank", .parameters = {{"rank", "4"}, {"iterations", "1"}, {"bits", "32"}}, .memory = true};
  EXPECT_DOUBLE_EQ(own.bytes_of(first, low_rank), 4 * (4 * (784 + 20) + 20));
  EXPECT_DOUBLE_EQ(own.bytes_of(second, low_rank), 4 * (4 * (20 + 10) + 10));
  double numbers = 0, flops = 0;
  for (const spec::LayerShape& layer : large.layers) {
    const auto in = static_cast<double>(layer.in), out = static_cast<double>(layer.out);
    const bool factors = 4 * (in + out) < in * out;
    numbers += static_cast<double>(layer.parameters) + (factors ? 4 * (in + out) - in * out : 0);
    flops += factors ? 2 * 4 * in * out : 0;
  }
  EXPECT_LT(numbers, 0.1 * static_cast<double>(large.parameters()));
  EXPECT_DOUBLE_EQ(timed.bytes_of(both, low_rank), 4 * numbers);
  double charged = 0;
  for (const schedule::Task& task :
       timed.decode_by(low_rank, step::Role::aggregator, 1).pieces.front().schedule->tasks) {
    if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) charged += compute->flops[0];
  }
  EXPECT_DOUBLE_EQ(charged, flops) << "P times Q";
}

/// Costs of a local step: flops and bytes of all computations, and the number of forward passes.
struct LocalStep {
  double flops = 0, bytes = 0;
  int forward = 0, updates = 0;
  bool update_is_last = true;
};

LocalStep local_step(const algorithms::LearningProblem& problem, const spec::ParallelismSpec& passes) {
  const spec::ModelShape shape = spec::workload_registry().at("bert-base").shape();
  const protocols::Sizing sizing(problem, {}, {.shape = shape, .sample_scale = 0.8, .passes = passes});
  constexpr std::array<std::int64_t, 1> kFive{5};
  LocalStep step;
  for (const schedule::Task& task : sizing.training(kFive, 0).pieces.front().schedule->tasks) {
    const auto& compute = std::get<schedule::ComputeTask>(task.what);
    step.flops += compute.flops[0];
    step.bytes += compute.bytes_moved[0];
    step.forward += compute.phase == step::Phase::forward ? 1 : 0;
    const bool is_update = compute.phase == step::Phase::update;
    if (step.updates > 0 && !is_update) step.update_is_last = false;
    step.updates += is_update ? 1 : 0;
  }
  return step;
}

// Four timed samples in one pass or in four have equal arithmetic and one update, but each pass reads the parameters.
TEST(Sizing, ParticipantsGoThroughABatchInPassesAndComputeAgainWhatTheyDoNotKeep) {
  SmallProblem small(1);
  const algorithms::LearningProblem problem = small.problem();
  const LocalStep whole = local_step(problem, {});
  const LocalStep micro = local_step(problem, {.micro_batch = 1});
  EXPECT_EQ(micro.forward, 4 * whole.forward);
  EXPECT_EQ(micro.updates, whole.updates);
  EXPECT_TRUE(micro.update_is_last);
  EXPECT_NEAR(micro.flops, whole.flops, 0.01 * whole.flops);  // up to 1 %, which summing gradients takes
  EXPECT_GT(micro.bytes, 1.2 * whole.bytes);
  // The forward pass is a third of a step, and nearly all of it is in blocks.
  const LocalStep again = local_step(problem, {.recomputation = spec::Recomputation::full});
  EXPECT_GT(again.flops, 1.25 * whole.flops);
  EXPECT_LT(again.flops, 1.34 * whole.flops);
  EXPECT_EQ(again.updates, whole.updates);
  EXPECT_TRUE(again.update_is_last);
}

}  // namespace
}  // namespace dadsim::test
