// Compares Muon on divided devices with values computed by hand: Newton–Schulz iterations on whole matrices, and the
// messages that assemble them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"
#include "study/setting/division_cases.hpp"

namespace dadsim::study {
namespace {

using namespace test_division;
using enum schedule::Among;
using enum step::CollectiveKind;

scenario::Scenario muon(const std::string& how, int experts = 0) {
  scenario::Scenario scenario = with(how, experts);
  scenario.training.optimizer.kind = spec::OptimizerSpec::Kind::muon;
  return scenario;
}

/// Matrices that Muon orthogonalises in a scenario without tensor parallelism.
struct Matrices {
  explicit Matrices(const scenario::Scenario& scenario) {
    const spec::ModelShape model = timed_as_of(scenario, {}).shape;
    for (std::size_t i = 0; i < model.layers.size(); ++i) {
      const spec::LayerShape& layer = model.layers[i];
      if (!spec::delta_relations(model, i).hidden_matrix) continue;
      const auto s = static_cast<double>(std::min(layer.in, layer.out));
      const auto l = static_cast<double>(std::max(layer.in, layer.out));
      flops.insert(flops.end(), static_cast<std::size_t>(layer.experts), 20 * s * s * l + 10 * s * s * s);
      const double bytes = kElement * static_cast<double>(layer.experts * layer.in * layer.out);
      (layer.expert_group > 1 ? expert_bytes : dense_bytes) += bytes;
      if (layer.split == spec::TensorSplit::whole) continue;
      split_bytes += bytes;
      ++split;
    }
  }
  double all() const { return std::accumulate(flops.begin(), flops.end(), 0.0); }
  /// Deals matrices out to `devices`, the largest first. Returns the flops of the device with the most work.
  double most(std::size_t devices) const {
    std::vector<double> sorted = flops, of_device(devices);
    std::ranges::sort(sorted, std::greater{});
    for (const double one : sorted) *std::ranges::min_element(of_device) += one;
    return *std::ranges::max_element(of_device);
  }
  std::vector<double> flops;  ///< flops of each matrix
  double dense_bytes = 0, expert_bytes = 0, split_bytes = 0;
  int split = 0;
};

struct Device {
  double flops = 0, launches = 0, seconds = 0;  ///< flops and launches of Newton–Schulz, and seconds of its transfers
};

Device device_of(const scenario::Scenario& scenario) {
  const Learned learned = learn_scenario(scenario, nullptr, false);
  const LearnedRun& run = *learned.runs.front();
  const schedule::Schedule schedule =
      schedule_of(scenario.runs.front(), run.trajectory, run.trajectory.distinct_steps.front(), run.shape,
                  timed_as_of(scenario, run.shape));
  Device device;
  for (const schedule::Task& task : schedule.tasks) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    if (compute == nullptr) continue;
    if (task.layer.find("matrices") != std::string::npos) device.seconds += compute->seconds[0];
    if (compute->phase != step::Phase::orthogonalise) continue;
    device.flops += compute->flops[0];
    device.launches += compute->launches[0];
  }
  return device;
}

/// Returns the collectives that Muon sends and AdamW does not.
Sum more_than_adam(const std::string& how, schedule::Among among, step::CollectiveKind kind, int experts = 0) {
  const auto of = [&](const scenario::Scenario& scenario) {
    Collectives all = collectives_of(scenario);
    return all[{among, kind}];
  };
  const Sum with_muon = of(muon(how, experts));
  const Sum with_adam = of(with(how, experts));
  return {with_muon.count - with_adam.count, with_muon.bytes - with_adam.bytes};
}

TEST(DividedMuon, DevicesOfALayerGatherItsMatrixAndOrthogonaliseItWhole) {
  const Matrices matrices(muon(""));
  ASSERT_GT(matrices.split, 8);
  EXPECT_DOUBLE_EQ(device_of(muon("")).flops, matrices.all());
  const std::string how = R"(tensor="2")";
  EXPECT_DOUBLE_EQ(device_of(muon(how)).flops, matrices.all()) << "each of the two does all of it";
  const Sum gathers = more_than_adam(how, tensor, all_gather);
  EXPECT_EQ(gathers.count, matrices.split);
  EXPECT_DOUBLE_EQ(gathers.bytes, matrices.split_bytes / 2) << "handed over by each device";
}

TEST(DividedMuon, DevicesThatDivideStatesHaveDifferentMatrices) {
  const Matrices matrices(muon(""));
  const double most = *std::ranges::max_element(matrices.flops);
  ASSERT_LT(matrices.flops.size(), 16U);
  for (const char* how : {R"(sharding="optimizer")", R"(sharding="gradients")", R"(sharding="parameters")"}) {
    EXPECT_DOUBLE_EQ(device_of(muon(how)).flops, most) << how << ": one matrix each, and some devices have none";
    EXPECT_EQ(device_of(muon(how)).launches, 15) << how;
  }
  for (const std::size_t group : {2U, 4U, 8U}) {
    const std::string how = "sharding=\"parameters\" sharding-group=\"" + std::to_string(group) + "\"";
    EXPECT_DOUBLE_EQ(device_of(muon(how)).flops, matrices.most(group)) << group;
    EXPECT_GE(matrices.most(group), matrices.all() / static_cast<double>(group));
  }
}

// Devices that shard only the optimizer or gradients hold whole matrices, so Muon sends nothing more. Sharded
// parameters are assembled by an all-to-all, and a second one returns the steps. Bytes are those to each other device.
TEST(DividedMuon, DividedParametersGoThereAndBack) {
  const Matrices matrices(muon(""));
  for (const char* how : {R"(sharding="optimizer")", R"(sharding="gradients")"}) {
    const Collectives of_muon = collectives_of(muon(how)), of_adam = collectives_of(with(how, 0));
    ASSERT_EQ(of_muon.size(), of_adam.size());
    for (const auto& [which, sum] : of_adam) EXPECT_DOUBLE_EQ(of_muon.at(which).bytes, sum.bytes) << how;
  }
  const Sum all = more_than_adam(R"(sharding="parameters")", replicas, all_to_all);
  EXPECT_EQ(all.count, 2);
  EXPECT_DOUBLE_EQ(all.bytes, 2 * matrices.dense_bytes / (16 * 16));
  const Sum group = more_than_adam(R"(sharding="parameters" sharding-group="4")", shard_group, all_to_all);
  EXPECT_EQ(group.count, 2);
  EXPECT_DOUBLE_EQ(group.bytes, 2 * matrices.dense_bytes / (4 * 4));
}

TEST(DividedMuon, ExpertsAreOrthogonalisedWhereTheyAre) {
  const std::string how = R"(expert-parallel="4" )";
  const Matrices own(muon(how, 8));
  EXPECT_GT(own.expert_bytes, 0);
  EXPECT_DOUBLE_EQ(device_of(muon(how, 8)).flops, own.all()) << "two of eight experts, and the rest";
  EXPECT_EQ(more_than_adam(how, expert_copies, all_to_all, 8).count, 0);
  const Sum divided = more_than_adam(how + R"(sharding="parameters")", expert_copies, all_to_all, 8);
  EXPECT_EQ(divided.count, 2);
  EXPECT_DOUBLE_EQ(divided.bytes, 2 * own.expert_bytes / (4 * 4)) << "four devices have the same experts";
  const std::string both = R"(tensor="2" sequence-parallel="true" expert-parallel="2" expert-tensor="2")";
  const Matrices split(muon(R"(expert-parallel="2")", 8));
  EXPECT_DOUBLE_EQ(device_of(muon(both, 8)).flops, split.all());
  EXPECT_DOUBLE_EQ(more_than_adam(both, tensor, all_gather, 8).bytes, (split.split_bytes + split.expert_bytes) / 2)
      << "experts are divided too";
}

TEST(DividedMuon, MomentaOnTheHostComeToTheDeviceAndStepsReturn) {
  const std::string host = R"(offload="optimizer" offload-rate="25GBps" host-rate="50GBps" )";
  const Matrices matrices(muon(""));
  EXPECT_DOUBLE_EQ(device_of(muon(host)).seconds, 2 * matrices.dense_bytes / 25e9);
  EXPECT_DOUBLE_EQ(device_of(muon(host)).flops, matrices.all());
  EXPECT_DOUBLE_EQ(device_of(muon(host + R"(sharding="optimizer")")).seconds, 2 * matrices.dense_bytes / 25e9 / 16);
}

TEST(DividedMuon, TakesLongerThanAdam) {
  for (const char* how : {R"(tensor="2")", R"(sharding="parameters")", R"(tensor="2" sharding="gradients")",
                          R"(pipeline="2" tensor="2" sharding="parameters" micro-batch="1")"}) {
    const double of_muon = run_experiment(muon(how), false).runs.front().step_seconds;
    EXPECT_GT(of_muon, run_experiment(with(how, 0), false).runs.front().step_seconds) << how;
    EXPECT_NEAR(flow_by_message(muon(how)), 1, 0.02) << how;
  }
}

}  // namespace
}  // namespace dadsim::study
