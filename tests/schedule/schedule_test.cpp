#include "schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "step/step_recorder.hpp"

namespace dadsim::schedule {
namespace {

using namespace step;  // NOLINT(google-build-using-namespace): a schedule consists of steps

using namespace step::extent;

spec::ModelShape mlp(const std::vector<std::int64_t>& widths) {
  spec::ModelShape model{"mlp", {}};
  for (std::size_t l = 1; l < widths.size(); ++l) {
    model.layers.push_back(spec::dense_shape("fc" + std::to_string(l - 1), widths[l - 1], widths[l], false));
  }
  return model;
}

/// Records a backward pass with a gather and a propagation per layer, and a second pass that waits for each gather.
std::pair<StepStructure, StepSizes> two_sweeps(std::size_t layers) {
  StepRecorder recorder;
  recorder.begin({2, 4});
  std::vector<std::int32_t> serial(layers);
  recorder.begin_sweep(Over::layers_backward);
  for (std::size_t l = layers; l-- > 0;) {
    recorder.begin_group(static_cast<std::int32_t>(l));
    serial[l] = recorder.add(CollectiveOp{CollectiveKind::all_gather, {{rows() * in(), ElementType::float32}}});
    recorder.add(ComputeOp{Phase::backpropagate, Role::workers, {{2.0 * backward_macs(), 0.0, 1.0}}, true, true});
  }
  recorder.begin_sweep(Over::layers_backward);
  for (std::size_t l = layers; l-- > 0;) {
    recorder.begin_group(static_cast<std::int32_t>(l));
    recorder.add(WaitOp{Role::workers, serial[l]});
  }
  return recorder.take();
}

TEST(Schedule, OnTheLearnedNetworkItIsWhatWasRecorded) {
  const auto [structure, sizes] = two_sweeps(3);
  const spec::ModelShape model = mlp({10, 8, 6, 4});
  const Schedule schedule = instantiate(structure, sizes, model, model);
  ASSERT_EQ(schedule.workers, 2U);
  EXPECT_FALSE(schedule.uses_aggregator);
  // The tasks are gather and propagate for layers 2 and 1, the gather of layer 0 (which needs no propagation), and
  // three waits.
  ASSERT_EQ(schedule.tasks.size(), 5U + 3U);
  EXPECT_EQ(schedule.tasks[0].layer, "fc2");
  EXPECT_EQ(std::get<CollectiveTask>(schedule.tasks[0].what).bytes[0], 4 * 2 * 6);
  EXPECT_EQ(std::get<CollectiveTask>(schedule.tasks[0].what).bytes[1], 4 * 4 * 6);
  EXPECT_EQ(std::get<ComputeTask>(schedule.tasks[1].what).flops[1], 2 * 4 * 6 * 4);
  EXPECT_EQ(std::get<WaitTask>(schedule.tasks[5].what).collective, 0);
  EXPECT_EQ(std::get<WaitTask>(schedule.tasks[6].what).collective, 2);
  EXPECT_EQ(std::get<WaitTask>(schedule.tasks[7].what).collective, 4);
}

TEST(Schedule, EmptyCollectivesCanBeKept) {
  StepRecorder recorder;
  recorder.begin({2, 4});
  recorder.begin_sweep(Over::layers_backward);
  recorder.begin_group(0);
  const std::int32_t slot = recorder.add_slot({0, 0});
  const std::int32_t serial =
      recorder.add(CollectiveOp{CollectiveKind::gather, {{step::extent::slot(slot) * in(), ElementType::float32}}});
  recorder.add(WaitOp{Role::aggregator, serial});
  const auto [structure, sizes] = recorder.take();
  EXPECT_TRUE(instantiate(structure, sizes, mlp({3, 2}), mlp({3, 2})).tasks.empty());
  const Schedule kept =
      instantiate(structure, sizes, mlp({3, 2}), mlp({3, 2}), 1, spec::Precision::fp32, nullptr, {}, nullptr, true);
  ASSERT_EQ(kept.tasks.size(), 2U);
  EXPECT_EQ(std::get<WaitTask>(kept.tasks[1].what).collective, 0);
  EXPECT_FALSE(kept.uses_aggregator);
}

TEST(Schedule, WorkersThatAreAlikeHaveTheSizesOfOneByOne) {
  StepRecorder recorder;
  const std::vector<std::int32_t> samples{2, 4, 2, 4, 2, 5};
  recorder.begin(samples);
  recorder.begin_sweep(Over::layers_backward);
  recorder.begin_group(0);
  recorder.add(CollectiveOp{CollectiveKind::all_gather, {{rows() * in() + all_rows(), ElementType::float32}}});
  recorder.add(ComputeOp{Phase::merge, Role::workers, {{rows() * all_rows(), min({rows(), 3.0}), 1.0}}});
  const auto [structure, sizes] = recorder.take();
  const Schedule schedule = instantiate(structure, sizes, mlp({10, 4}), mlp({10, 4}), 3.0);
  ASSERT_EQ(schedule.tasks.size(), 2U);
  const auto& bytes = std::get<CollectiveTask>(schedule.tasks[0].what).bytes;
  const auto& compute = std::get<ComputeTask>(schedule.tasks[1].what);
  for (std::size_t worker = 0; worker < samples.size(); ++worker) {
    const double rows = 3.0 * samples[worker];
    EXPECT_EQ(bytes[worker], 4 * (rows * 10 + 57)) << worker;
    EXPECT_EQ(compute.flops[worker], rows * 57) << worker;
    EXPECT_EQ(compute.bytes_moved[worker], 3) << worker;
  }
  EXPECT_FALSE(bytes.is_uniform());
  EXPECT_TRUE(compute.bytes_moved.is_uniform());
}

TEST(Schedule, RepeatsLayersByRelativeDepth) {
  const auto [structure, sizes] = two_sweeps(2);
  const Schedule schedule = instantiate(structure, sizes, mlp({10, 8, 4}), mlp({10, 20, 30, 40, 50, 5}), 3.0);
  ASSERT_EQ(schedule.tasks.size(), 4U * 2 + 1 + 5);
  EXPECT_EQ(std::get<CollectiveTask>(schedule.tasks[0].what).bytes[0], 4 * (3 * 2) * 50);
  for (std::size_t i = 0; i < 5; ++i) {
    const auto& wait = std::get<WaitTask>(schedule.tasks[9 + i].what);
    EXPECT_EQ(wait.collective, static_cast<std::int32_t>(2 * i)) << "each wait finds the collective of its own layer";
  }
}

TEST(Schedule, LayersWithoutAnOuterProductAreComputedButNotShared) {
  const auto [structure, sizes] = two_sweeps(2);
  spec::ModelShape timed = mlp({10, 8, 4});
  spec::LayerShape attention;
  attention.name = "attention";
  attention.kind = spec::LayerKind::attention;
  attention.forward_macs_per_sample = 100;
  timed.layers.insert(timed.layers.begin() + 1, attention);
  const Schedule schedule = instantiate(structure, sizes, mlp({10, 8, 4}), timed);
  ASSERT_EQ(schedule.tasks.size(), 3U + 1 + 2);
  EXPECT_EQ(schedule.tasks[2].layer, "attention");
  EXPECT_EQ(std::get<ComputeTask>(schedule.tasks[2].what).flops[0], 2 * 2 * 2 * 100) << "two gradients, not one";
}

TEST(Schedule, OtherLayersAreSummedInOneCollectiveOrDropped) {
  StepRecorder recorder;
  recorder.begin({1, 1});
  recorder.begin_sweep(Over::other_layers);
  recorder.begin_group(-1);
  const std::int32_t serial =
      recorder.add(CollectiveOp{CollectiveKind::all_reduce, {{parameters(), ElementType::float32}}});
  recorder.add(WaitOp{Role::workers, serial});
  const auto [structure, sizes] = recorder.take();
  EXPECT_TRUE(instantiate(structure, sizes, mlp({3, 2}), mlp({3, 2})).tasks.empty());
  spec::ModelShape timed = mlp({3, 2});
  for (const int count : {7, 11}) {
    spec::LayerShape norm;
    norm.name = "norm";
    norm.kind = spec::LayerKind::normalisation;
    norm.parameters = count;
    timed.layers.push_back(norm);
  }
  const Schedule schedule = instantiate(structure, sizes, mlp({3, 2}), timed);
  ASSERT_EQ(schedule.tasks.size(), 2U);
  EXPECT_EQ(std::get<CollectiveTask>(schedule.tasks[0].what).bytes[0], 4 * 18);
}

spec::LayerShape table(std::string name, std::int64_t entries, std::int64_t width, std::int64_t beside = 0) {
  spec::LayerShape shape;
  shape.name = std::move(name);
  shape.kind = spec::LayerKind::embedding;
  shape.in = width;
  shape.out = entries;
  shape.rows_per_sample = 5;
  shape.parameters = entries * width + beside;
  return shape;
}

/// Records an all-reduce per matrix layer, one for all layers without a matrix, and the waits and updates in a separate
/// pass. `embeddings`: matrix layers include embedding tables.
std::pair<StepStructure, StepSizes> sums(std::size_t layers, bool embeddings) {
  StepRecorder recorder;
  recorder.begin({2, 4});
  std::vector<std::int32_t> serial(layers);
  recorder.begin_sweep(Over::layers_backward, embeddings);
  for (std::size_t l = layers; l-- > 0;) {
    recorder.begin_group(static_cast<std::int32_t>(l));
    serial[l] = recorder.add(CollectiveOp{CollectiveKind::all_reduce, {{parameters(), ElementType::float32}}});
  }
  recorder.begin_sweep(Over::other_layers);
  recorder.begin_group(-1);
  recorder.add(CollectiveOp{CollectiveKind::all_reduce, {{parameters(), ElementType::float32}}});
  recorder.begin_sweep(Over::layers_forward, embeddings);
  for (std::size_t l = 0; l < layers; ++l) {
    recorder.begin_group(static_cast<std::int32_t>(l));
    recorder.add(WaitOp{Role::workers, serial[l]});
    recorder.add(ComputeOp{Phase::update, Role::workers, {{parameters(), 0.0, 1.0}}, false, true});
  }
  return recorder.take();
}

TEST(Schedule, TablesAreMatricesOfTheirOwnInASweepWithThem) {
  spec::ModelShape timed = mlp({10, 8, 4});
  timed.layers.insert(timed.layers.begin(), table("words", 50, 10, 3));
  timed.layers.push_back(table("last", 7, 2));

  const auto [with, sizes] = sums(2, true);
  const Schedule apart = instantiate(with, sizes, mlp({10, 8, 4}), timed);
  const auto bytes = [](const Schedule& schedule, std::size_t i) {
    return std::get<CollectiveTask>(schedule.tasks.at(i).what).bytes[0];
  };
  ASSERT_EQ(apart.tasks.size(), 4U + 1 + 2 * 4);
  EXPECT_EQ(apart.tasks[0].layer, "last");
  EXPECT_EQ(bytes(apart, 0), 4 * 14);
  EXPECT_EQ(apart.tasks[3].layer, "words");
  EXPECT_EQ(bytes(apart, 3), 4 * 500) << "the table alone";
  EXPECT_EQ(bytes(apart, 4), 4 * 3) << "what is beside the table is summed with the other layers";
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(std::get<WaitTask>(apart.tasks.at(5 + 2 * i).what).collective, static_cast<std::int32_t>(3 - i));
  }
  EXPECT_EQ(std::get<ComputeTask>(apart.tasks[6].what).flops[0], 503) << "updated with what is beside it";

  const auto [without, same] = sums(2, false);
  const Schedule together = instantiate(without, same, mlp({10, 8, 4}), timed);
  ASSERT_EQ(together.tasks.size(), 2U + 1 + 2 + 4);
  EXPECT_EQ(bytes(together, 2), 4 * (503 + 14));
}

TEST(Schedule, DepthIsCountedInTheMatricesOfTheSweep) {
  // The first matrix sends 1 element per row, the last one 100. In a pass with embeddings, the table comes first.
  for (const bool embeddings : {false, true}) {
    StepRecorder recorder;
    recorder.begin({1});
    recorder.begin_sweep(Over::layers_forward, embeddings);
    for (const double elements : {1.0, 100.0}) {
      recorder.begin_group(elements == 1.0 ? 0 : 1);
      recorder.add(CollectiveOp{CollectiveKind::all_reduce, {{elements, ElementType::float32}}});
    }
    const auto [structure, sizes] = recorder.take();
    spec::ModelShape timed = mlp({10, 8});
    timed.layers.insert(timed.layers.begin(), table("words", 50, 10));
    const Schedule schedule = instantiate(structure, sizes, mlp({10, 8, 4}), timed);
    ASSERT_EQ(schedule.tasks.size(), embeddings ? 2U : 1U);
    EXPECT_EQ(std::get<CollectiveTask>(schedule.tasks.back().what).bytes[0], 400);
    EXPECT_EQ(std::get<CollectiveTask>(schedule.tasks.front().what).bytes[0], embeddings ? 4 : 400);
  }
}

TEST(Schedule, AWaitForAnotherLayerKeepsItsDistance) {
  // Layer l waits for the collective of layer l + 1. In a timed network of four layers, every layer must wait for the
  // next one's collective.
  StepRecorder recorder;
  recorder.begin({1});
  recorder.begin_sweep(Over::layers_backward, true);
  std::vector<std::int32_t> serial(3);
  for (std::size_t l = 3; l-- > 0;) {
    recorder.begin_group(static_cast<std::int32_t>(l));
    serial[l] = recorder.add(CollectiveOp{CollectiveKind::all_reduce, {{parameters(), ElementType::float32}}});
    if (l < 2) recorder.add(WaitOp{Role::workers, serial[l + 1]});
  }
  const auto [structure, sizes] = recorder.take();
  spec::ModelShape timed = mlp({10, 8, 4});
  timed.layers.insert(timed.layers.begin(), table("words", 50, 10));
  spec::LayerShape norm;
  norm.name = "norm";
  norm.kind = spec::LayerKind::normalisation;
  norm.parameters = 5;
  timed.layers.insert(timed.layers.begin() + 1, norm);
  const Schedule schedule = instantiate(structure, sizes, mlp({10, 8, 6, 4}), timed);
  ASSERT_EQ(schedule.tasks.size(), 5U);
  EXPECT_EQ(std::get<WaitTask>(schedule.tasks[2].what).collective, 0);
  EXPECT_EQ(schedule.tasks[3].layer, "words");
  EXPECT_EQ(std::get<WaitTask>(schedule.tasks[4].what).collective, 1);
}

TEST(Schedule, TakesTheBranchWithTheFewestFlopsPerWorker) {
  StepRecorder recorder;
  recorder.begin({2, 100});
  recorder.begin_sweep(Over::layers_backward);
  recorder.begin_group(0);
  recorder.add(ComputeOp{Phase::factorise, Role::workers, {{rows() * rows(), 1.0, 1.0}, {10.0 * rows(), 2.0, 1.0}}});
  const auto [structure, sizes] = recorder.take();
  const Schedule schedule = instantiate(structure, sizes, mlp({3, 2}), mlp({3, 2}));
  const auto& task = std::get<ComputeTask>(schedule.tasks.at(0).what);
  EXPECT_EQ(task.flops[0], 4);
  EXPECT_EQ(task.bytes_moved[0], 1);
  EXPECT_EQ(task.flops[1], 1000);
  EXPECT_EQ(task.bytes_moved[1], 2);
}

TEST(Schedule, DepthMapsEndsToEnds) {
  for (const std::size_t learned : {1U, 2U, 3U, 5U}) {
    for (const std::size_t timed : {1U, 2U, 7U, 54U}) {
      EXPECT_EQ(layer_at_same_depth(timed - 1, timed, learned), learned - 1);
      if (timed > 1) {
        EXPECT_EQ(layer_at_same_depth(0, timed, learned), 0U);
      }
      for (std::size_t i = 1; i < timed; ++i) {
        EXPECT_LE(layer_at_same_depth(i - 1, timed, learned), layer_at_same_depth(i, timed, learned));
      }
    }
  }
  EXPECT_THROW(layer_at_same_depth(3, 3, 2), std::invalid_argument);
}

TEST(PerWorker, StoresEqualValuesOnce) {
  EXPECT_EQ(PerWorker({2, 2, 2})[2], 2);
  EXPECT_EQ(PerWorker({1, 2, 3})[2], 3);
  EXPECT_THROW(PerWorker({1, 2, 3})[3], std::out_of_range);
  EXPECT_EQ(PerWorker({2, 2}), PerWorker({2}));
}

}  // namespace
}  // namespace dadsim::schedule
