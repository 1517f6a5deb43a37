#include <gtest/gtest.h>

#include <memory>

#include "sim/star.hpp"
#include "sim/world.hpp"

// Tests a device that does all work slower than others of its kind, by one factor.

namespace dadsim::test {
namespace {

constexpr double kSlower[] = {1, 2.5, 0.4};

sim::Cluster uneven_star(const std::string& platform, spec::Fidelity fidelity, double measured) {
  sim::Cluster cluster = cluster_on(platform, 3);
  for (std::size_t w = 0; w < 3; ++w) {
    cluster.devices[w].slowdown = kSlower[w];
    cluster.devices[w].step_seconds = measured;
  }
  cluster.network.fidelity = fidelity;
  return cluster;
}

TEST(SlowerDevices, StepsTakeAsLongAsTheSlowestOne) {
  const TemporaryFile platform(Star{.workers = 3}.xml());
  Script script(3);
  script.compute(4).gather_and_answer(1e6);
  const std::vector<schedule::Schedule> schedules{script.schedule()};
  for (const auto fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    for (const double measured : {0.0, 7.0}) {
      const step::StepTiming timing =
          sim::time_schedules(uneven_star(platform.path(), fidelity, measured), schedules).steps.at(0);
      const double seconds = measured > 0 ? measured : 4;
      // A message to the hub, and an empty answer.
      EXPECT_NEAR(timing.seconds, 2.5 * seconds + 0.01 + 1 + 0.01, 1e-6) << measured;
    }
  }
}

TEST(SlowerDevices, PlaysTakeAsLongAsSteps) {
  const TemporaryFile platform(Star{.workers = 3}.xml());
  Script script(3);
  script.compute(4);
  const auto schedule = std::make_shared<schedule::Schedule>(script.schedule());
  for (const double measured : {0.0, 7.0}) {
    const auto world = sim::simulate_world(uneven_star(platform.path(), spec::Fidelity::message, measured));
    const double seconds = measured > 0 ? measured : 4;
    for (world::Node node = 0; node < 3; ++node) {
      world::Work work;
      work.pieces.push_back({.schedule = schedule, .entry = 0, .first = 0, .behind = 1, .times = 2});
      EXPECT_NEAR(world->seconds_of(node, work), 2 * seconds * kSlower[node], 1e-9);
    }
  }
}

}  // namespace
}  // namespace dadsim::test
