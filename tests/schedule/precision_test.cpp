// Tests how precision changes a schedule, and which facts about a layer a recorded computation keeps.
#include "spec/precision.hpp"

#include <gtest/gtest.h>

#include "schedule/fuse.hpp"
#include "schedule/schedule.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::spec {
namespace {

/// Returns a convolution of 3×3 windows and a recurrent layer.
ModelShape model() {
  LayerShape convolution = dense_shape("conv", 27, 8, false);
  convolution.kind = LayerKind::convolution;
  convolution.rows_per_sample = 16;
  convolution.inputs_per_sample = 48;
  LayerShape hidden = dense_shape("hidden", 8, 8, true);
  hidden.rows_per_sample = 5;
  hidden.sequential = 5;
  return {"test", {convolution, hidden}};
}

/// Records for every layer: forward, propagate, weight gradient, all-reduces of the gradient, of integers and of bits,
/// and update.
schedule::Schedule schedule(Precision precision) {
  const step::Work work{step::extent::rows(), 4.0 * step::extent::rows() * step::extent::in(), 2.0};
  step::StepRecorder recorder;
  recorder.begin({3, 3});
  recorder.begin_sweep(step::Over::layers_backward);
  for (const std::int32_t layer : {1, 0}) {
    recorder.begin_group(layer);
    for (const step::Phase phase : {step::Phase::forward, step::Phase::backpropagate, step::Phase::weight_gradient})
      recorder.add(step::ComputeOp{phase, step::Role::workers, {work}});
    recorder.add(step::CollectiveOp{step::CollectiveKind::all_reduce,
                                    {{step::extent::parameters(), step::ElementType::float32},
                                     {step::extent::out(), step::ElementType::int32},
                                     {8.0 * step::extent::out(), step::ElementType::bit}}});
    recorder.add(step::ComputeOp{step::Phase::update, step::Role::workers, {work}});
  }
  const auto [structure, sizes] = recorder.take();
  const ModelShape shape = model();
  return schedule::instantiate(structure, sizes, shape, shape, 1.0, precision);
}

const schedule::ComputeTask& computation(const schedule::Schedule& schedule, std::size_t index) {
  return std::get<schedule::ComputeTask>(schedule.tasks.at(index).what);
}

TEST(Precision, NamesReadBack) {
  for (const Precision precision : kPrecisions) EXPECT_EQ(parse<Precision>(to_string(precision)), precision);
  EXPECT_FALSE(parse<Precision>("fp4"));
}

TEST(Precision, SixteenBitHalvesFloatsOnTheWireAndNothingElse) {
  const auto sent = [](Precision precision) {
    return std::get<schedule::CollectiveTask>(schedule(precision).tasks.at(3).what).bytes[0];
  };
  const double integers_and_bits = 8 * 4 + 8;
  EXPECT_EQ(sent(Precision::fp32), 4 * 72 + integers_and_bits);
  EXPECT_EQ(sent(Precision::tf32), 4 * 72 + integers_and_bits);
  EXPECT_EQ(sent(Precision::fp16), 2 * 72 + integers_and_bits);
  EXPECT_EQ(sent(Precision::bf16), 2 * 72 + integers_and_bits);
}

TEST(Precision, SixteenBitHalvesMemoryTrafficButNotTheOptimizers) {
  const schedule::Schedule full = schedule(Precision::fp32);
  const schedule::Schedule half = schedule(Precision::fp16);
  EXPECT_EQ(full.precision, Precision::fp32);
  EXPECT_EQ(half.precision, Precision::fp16);
  EXPECT_EQ(fuse_all_reduces(half, 1e6).precision, Precision::fp16);
  for (const std::size_t phase : {0U, 1U, 2U})
    EXPECT_EQ(2 * computation(half, phase).bytes_moved[0], computation(full, phase).bytes_moved[0]);
  EXPECT_EQ(computation(half, 4).phase, step::Phase::update);
  EXPECT_EQ(computation(half, 4).bytes_moved, computation(full, 4).bytes_moved);
  EXPECT_EQ(computation(half, 0).flops, computation(full, 0).flops);
}

TEST(ComputeTask, SaysWhatItsEfficiencyDependsOn) {
  const schedule::Schedule steps = schedule(Precision::fp32);
  const schedule::ComputeTask& hidden = computation(steps, 0);
  EXPECT_EQ(hidden.kind, LayerKind::dense);
  EXPECT_EQ(hidden.weights, 64);
  EXPECT_EQ(hidden.overlap, 1);
  EXPECT_EQ(hidden.sequential, 5);
  EXPECT_EQ(hidden.launches[0], 5 * 2);
  EXPECT_EQ(computation(steps, 1).sequential, 5);
  EXPECT_EQ(computation(steps, 2).sequential, 1) << "the gradient of the weights is one product";
  EXPECT_EQ(computation(steps, 2).launches[0], 2);
  const schedule::ComputeTask& convolution = computation(steps, 5);
  EXPECT_EQ(convolution.kind, LayerKind::convolution);
  EXPECT_EQ(convolution.overlap, 9);
  EXPECT_EQ(convolution.sequential, 1);
}

}  // namespace
}  // namespace dadsim::spec
