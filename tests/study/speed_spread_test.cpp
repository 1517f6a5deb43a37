#include <gtest/gtest.h>

#include <cmath>

#include "study/run/experiment.hpp"

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

}  // namespace
}  // namespace dadsim::study
