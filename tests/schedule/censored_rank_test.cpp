// Tests ranks found on a small layer. A rank at this layer's limit is censored, since the rank of the large layer may
// be higher.
#include "schedule/censored_rank.hpp"

#include <gtest/gtest.h>

#include "schedule/schedule.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::schedule {
namespace {

using namespace step;  // NOLINT(google-build-using-namespace): a schedule consists of steps

using namespace step::extent;

constexpr double kCap = 32;

spec::ModelShape two_layers(std::int64_t in, std::int64_t hidden, std::int64_t out) {
  return {"two layers", {spec::dense_shape("first", in, hidden, false), spec::dense_shape("last", hidden, out, false)}};
}

/// Returns one step of two workers with these numbers of samples, and the components found in both layers.
Trajectory trajectory_of(const std::vector<std::int32_t>& samples, const std::vector<std::int32_t>& first,
                         const std::vector<std::int32_t>& last) {
  StepRecorder recorder;
  recorder.begin(samples);
  recorder.begin_sweep(Over::layers_backward);
  for (const std::int32_t layer : {1, 0}) {
    recorder.begin_group(layer);
    const Expression rank =
        censored_rank(slot(recorder.add_slot(layer == 1 ? last : first)), kCap, min({in_with_bias(), out(), rows()}),
                      min({in_with_bias(), delta_directions(), rows()}));
    recorder.add(CollectiveOp{CollectiveKind::all_gather, {{rank * (in() + out()), ElementType::float32}}});
  }
  auto [structure, sizes] = recorder.take();
  Trajectory trajectory;
  trajectory.structures = {structure};
  trajectory.distinct_steps = {{0, sizes}};
  trajectory.steps = {0, 0};
  return trajectory;
}

/// Returns the components that a worker sends of each layer, from the first layer on.
std::vector<double> sent(const Trajectory& trajectory, const spec::ModelShape& learned, const spec::ModelShape& timed,
                         double scale, std::size_t worker = 0) {
  const Schedule schedule =
      instantiate(trajectory.structures[0], trajectory.distinct_steps[0].sizes, learned, timed, scale);
  std::vector<double> components;
  for (std::size_t l = 0; l < timed.layers.size(); ++l) {
    const spec::LayerShape& layer = timed.layers[l];
    const auto& task = std::get<CollectiveTask>(schedule.tasks[timed.layers.size() - 1 - l].what);
    components.push_back(task.bytes[worker] / (4.0 * static_cast<double>(layer.in + layer.out)));
  }
  return components;
}

const spec::ModelShape kSmall = two_layers(64, 48, 10);
const spec::ModelShape kLarge = two_layers(2048, 2048, 1000);

TEST(Found, StaysWhatItIsOnTheNetworkThatLearned) {
  for (const std::int32_t last : {3, 9, 10}) {
    const Trajectory trajectory = trajectory_of({16, 16}, {16, 12}, {last, last});
    EXPECT_EQ(sent(trajectory, kSmall, kSmall, 1), (std::vector<double>{16, static_cast<double>(last)}));
    EXPECT_EQ(sent(trajectory, kSmall, kSmall, 1, 1), (std::vector<double>{12, static_cast<double>(last)}));
    EXPECT_TRUE(censored_layers(trajectory, kSmall, kSmall, 1).empty());
  }
}

TEST(Found, AtTheLimitOfTheRowsItBecomesTheCap) {
  // Eight rows have at most eight components. With eight times the rows, the rank is unknown, and the cap is used.
  const Trajectory trajectory = trajectory_of({8, 8}, {8, 8}, {5, 5});
  EXPECT_EQ(sent(trajectory, kSmall, kLarge, 8), (std::vector<double>{kCap, 5}));
  EXPECT_EQ(sent(trajectory, kSmall, kLarge, 2), (std::vector<double>{16, 5})) << "as far as the rows go";
  EXPECT_EQ(censored_layers(trajectory, kSmall, kLarge, 8), (std::set<std::size_t>{0}));
  EXPECT_TRUE(censored_layers(trajectory, kSmall, kLarge, 1).empty()) << "the same rows hold no more";
}

TEST(Found, AtTheLimitOfTheClassesItBecomesTheCap) {
  // After a softmax, ten outputs have nine independent directions.
  EXPECT_EQ(sent(trajectory_of({16, 16}, {12, 12}, {9, 9}), kSmall, kLarge, 4), (std::vector<double>{12, kCap}));
  EXPECT_EQ(sent(trajectory_of({16, 16}, {12, 12}, {8, 8}), kSmall, kLarge, 4), (std::vector<double>{12, 8}));
}

TEST(Found, WhatWasFoundBelowAnyLimitIsKept) {
  const Trajectory trajectory = trajectory_of({16, 16}, {7, 11}, {5, 6});
  EXPECT_EQ(sent(trajectory, kSmall, kLarge, 4), (std::vector<double>{7, 5}));
  EXPECT_EQ(sent(trajectory, kSmall, kLarge, 4, 1), (std::vector<double>{11, 6}));
  EXPECT_TRUE(censored_layers(trajectory, kSmall, kLarge, 4).empty());
}

TEST(Found, IsCountedWhereSomethingWasLeftOut) {
  // Two layers, workers and steps are counted. The first layer can have 16 components, and the last 9.
  const CensoredCount all = count_censored(trajectory_of({16, 16}, {16, 16}, {9, 9}), kSmall);
  EXPECT_EQ(all.looked, 8);
  EXPECT_EQ(all.left_out, 0);
  EXPECT_EQ(count_censored(trajectory_of({16, 16}, {16, 15}, {9, 8}), kSmall).left_out, 4);
}

}  // namespace
}  // namespace dadsim::schedule
