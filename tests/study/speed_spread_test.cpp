#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

scenario::Scenario with_workers(std::size_t count, double spread, std::uint64_t seed) {
  scenario::Scenario scenario;
  scenario.seed = seed;
  for (std::size_t i = 0; i < count; ++i) {
    scenario.workers.push_back({"phone-" + std::to_string(i), "snapdragon-8-gen-2", spread});
  }
  return scenario;
}

TEST(SpeedSpread, FactorsAreLogNormalWithMedianOne) {
  constexpr std::size_t kWorkers = 4000;
  const sim::Cluster cluster = cluster_of(with_workers(kWorkers, 0.5, 3));
  double mean = 0;
  double square = 0;
  for (const spec::DeviceSpec& device : cluster.devices) {
    const double z = std::log(device.slowdown);
    mean += z / kWorkers;
    square += z * z / kWorkers;
  }
  EXPECT_NEAR(mean, 0, 4 * 0.5 / std::sqrt(kWorkers));
  EXPECT_NEAR(std::sqrt(square - mean * mean), 0.5, 4 * 0.5 / std::sqrt(2.0 * kWorkers));
}

TEST(SpeedSpread, AWorkersFactorIsItsOwnAndTheSeeds) {
  const sim::Cluster few = cluster_of(with_workers(3, 0.5, 3));
  const sim::Cluster many = cluster_of(with_workers(30, 0.5, 3));
  const sim::Cluster other = cluster_of(with_workers(3, 0.5, 4));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(few.devices[i].slowdown, many.devices[i].slowdown);
    EXPECT_NE(few.devices[i].slowdown, other.devices[i].slowdown);
  }
  for (const spec::DeviceSpec& device : cluster_of(with_workers(3, 0, 3)).devices) EXPECT_EQ(device.slowdown, 1);
}

TEST(SpeedSpread, AStragglersFactorIsWhatItSays) {
  scenario::Scenario scenario = with_workers(3, 0.5, 3);
  scenario.workers[0].speed_spread = 0;
  scenario.workers[0].speed = 0.8;
  scenario.workers[2].speed = 4;
  const sim::Cluster before = cluster_of(with_workers(3, 0.5, 3));
  const sim::Cluster after = cluster_of(scenario);
  EXPECT_DOUBLE_EQ(after.devices[0].slowdown, 1.25);
  EXPECT_EQ(after.devices[1].slowdown, before.devices[1].slowdown);
  EXPECT_DOUBLE_EQ(after.devices[2].slowdown, before.devices[2].slowdown / 4);
}

/// Returns a job on 8 GPUs, timed without learning; `speeds`: further attributes of <worker>.
report::RunResult data_parallel(const std::string& speeds, const std::string& seed = "1",
                                const std::string& network = "") {
  const test::TemporaryFolder folder;
  return run_experiment(
             scenario::load_scenario(
                 folder.write("gpus.xml", "<scenario name=\"gpus\" seed=\"" + seed + R"(">
  <platform><gpu-cluster nodes="2" gpus="4" inside="nvlink-4" nic="ib-ndr"/></platform>)" +
                                              network + R"(<workers><worker hosts="gpu-[0-7]" device="h100-sxm5" )" +
                                              speeds +
                                              R"(/></workers>
  <timing-only/>
  <timed-as workload="bert-base" batch="32" precision="bf16"/>
  <run algorithm="gradient-sharing" exchange="peer"/>
</scenario>)"),
                 {}, make_catalog()),
             false)
      .runs.front();
}

// A step waits for the slowest GPU. It takes at most the time of eight GPUs of that speed, and over 98 % of it. Between
// two seeds, both times differ equally. Without jitter, all steps are equal.
TEST(SpeedSpread, AStepMovesWithItsSlowestGpu) {
  scenario::Scenario scenario;
  for (std::size_t i = 0; i < 8; ++i) scenario.workers.push_back({"gpu-" + std::to_string(i), "h100-sxm5", 0.09});
  std::vector<double> differ, slow;
  for (const std::uint64_t seed : {1U, 2U}) {
    scenario.seed = seed;
    double slowest = 0;
    for (const spec::DeviceSpec& device : cluster_of(scenario).devices) slowest = std::max(slowest, device.slowdown);
    const std::string by = std::to_string(seed);
    const report::RunResult run = data_parallel("speed-spread=\"0.09\"", by);
    const report::RunResult all_slow = data_parallel(fmt::format("speed=\"{}\"", 1 / slowest), by);
    EXPECT_LE(run.step_seconds, all_slow.step_seconds) << seed;
    EXPECT_GT(run.step_seconds, 0.98 * all_slow.step_seconds) << seed;
    EXPECT_EQ(run.step_seconds_p95, run.step_seconds_p99);
    EXPECT_NEAR(run.step_seconds_p99, run.step_seconds, 1e-9 * run.step_seconds);
    EXPECT_EQ(data_parallel("speed-spread=\"0.09\"", by).step_seconds, run.step_seconds) << "the seed's draw";
    differ.push_back(run.step_seconds);
    slow.push_back(all_slow.step_seconds);
  }
  EXPECT_GT(std::abs(slow[1] - slow[0]), 1e-4);
  EXPECT_NEAR(differ[1] - differ[0], slow[1] - slow[0], 1e-3 * std::abs(slow[1] - slow[0]));
}

// Jitter from step to step gives step times a tail; differences between GPUs shift the whole tail.
TEST(SpeedSpread, JitterAddsATailToIt) {
  const std::string jitter = "<network><jitter temporal=\"0.05\"/></network>";
  const report::RunResult alike = data_parallel("", "3", jitter);
  const report::RunResult differ = data_parallel("speed-spread=\"0.09\"", "3", jitter);
  for (const report::RunResult* run : {&alike, &differ}) {
    EXPECT_GT(run->step_seconds_p95, run->step_seconds);
    EXPECT_GE(run->step_seconds_p99, run->step_seconds_p95);
  }
  EXPECT_GT(differ.step_seconds_p95, alike.step_seconds_p99);
}

}  // namespace
}  // namespace dadsim::study
