// Tests background traffic before steps that begin late: only its last messages are simulated, and the network's state
// is as after all of them.
#include <gtest/gtest.h>

#include <vector>

#include "sim/declared.hpp"
#include "sim/star.hpp"

namespace dadsim::sim {
namespace {

using test::cluster_on;
using test::Script;
using test::Star;
using test::TemporaryFile;

constexpr double kEvery = 0.25;  // s

double seconds_at(const Cluster& cluster, double date) {
  Script script(3);
  script.wait(script.gather(schedule::PerWorker({1e5, 2e5, 3e5})), step::Role::aggregator).wait(script.broadcast(1e5));
  const std::vector<schedule::Schedule> one{script.schedule()};
  TimingRequest request;
  request.begins_at = date;
  return time_schedules(cluster, one, {}, request).steps.front().seconds;
}

TEST(Background, OfALateDateIsThatOfAnEarlyOne) {
  const TemporaryFile file(Star{.workers = 3, .hub_rate = 2.5e6}.xml());
  Cluster cluster = cluster_on(file.path(), 3);
  const double alone = seconds_at(cluster, 1);
  for (const double bytes : {2e4, 2e5}) {  // a message ends long before the next one, or just before it
    cluster.platform.background = {{cluster.hosts[1], cluster.hosts[0], bytes, kEvery}};
    for (const double phase : {0.0, 0.4, 0.9}) {
      const double early = seconds_at(cluster, (3 + phase) * kEvery);
      EXPECT_NEAR(seconds_at(cluster, (4000 + phase) * kEvery), early, 1e-6 * early) << bytes << ' ' << phase;
    }
  }
  EXPECT_GT(seconds_at(cluster, kEvery), alone) << "a message begins with the step";
}

TEST(Background, IsNotFollowedForYearsBeforeAStep) {
  const TemporaryFile file(Star{.workers = 3, .hub_rate = 2.5e6}.xml());
  Cluster cluster = cluster_on(file.path(), 3);
  for (const double every : {1e-3, 0.0}) {  // 10¹¹ messages, one after the other
    cluster.platform.background = {{cluster.hosts[1], cluster.hosts[0], 100, every}};
    EXPECT_NEAR(seconds_at(cluster, 1e8), seconds_at(cluster, 2), 1e-2);
  }
}

}  // namespace
}  // namespace dadsim::sim
