#include <gtest/gtest.h>

#include "protocols/simulating.hpp"
#include "sim/device.hpp"
#include "sim/star.hpp"
#include "sim/world.hpp"

namespace dadsim::test {
namespace {

/// Returns the time of a computation on the device, summed over its tasks.
double seconds_of(const spec::DeviceSpec& device, const world::Work& work) {
  double seconds = 0;
  for (const world::Work::Piece& piece : work.pieces) {
    for (std::size_t i = piece.first; i < piece.behind; ++i) {
      const auto* task = std::get_if<schedule::ComputeTask>(&piece.schedule->tasks.at(i).what);
      if (task == nullptr || task->who != piece.who) continue;
      seconds += piece.times * sim::seconds_on(device, *task, piece.entry, piece.schedule->precision);
    }
  }
  return seconds;
}

/// Compares a protocol on a simulated star with the World of formulas. Workers have links of their own, so messages
/// rarely share one.
void expect_both_worlds_agree(const std::string& protocol, const spec::ParameterValues& parameters,
                              bool among_workers) {
  constexpr std::size_t kSites = 4;
  const Star star{.workers = kSites, .rate = 1e6, .latency = 0.01};
  const TemporaryFile file(star.xml());
  sim::Cluster cluster = cluster_on(file.path(), kSites);
  // Launches take 100 ms, 114 ms …, so no two workers are ready at the same time, and the server takes hardly any time.
  for (std::size_t w = 0; w < kSites; ++w) {
    cluster.devices[w].name += std::to_string(w);
    cluster.devices[w].launch_overhead = 0.1 * (1 + 0.1371 * static_cast<double>(w));
  }
  cluster.aggregator_device.launch_overhead = 1e-5;
  cluster.aggregator_device.name = "hub";
  SmallProblem small(kSites);
  small.training.evaluate_every = 1;
  const spec::RunSpec run = run_of(protocol, parameters);

  const auto played_in = [&](world::World& world) {
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    return simulate(world, small, learning, run);
  };
  const std::unique_ptr<sim::SimulatedWorld> simulated = sim::simulate_world(cluster);
  const Simulated a = played_in(*simulated);
  const auto hub = static_cast<world::Node>(kSites);
  world::ClosedFormWorld formulas(
      {.nodes = kSites + 1,
       .line =
           [&](world::Node from, world::Node to) {
             const bool direct = from == hub || to == hub;
             return world::ClosedFormWorld::SiteLine{direct ? star.latency : 2 * star.latency, star.rate};
           },
       .seconds =
           [&](world::Node node, const world::Work& work) {
             return seconds_of(
                 node == hub ? cluster.aggregator_device : cluster.devices.at(static_cast<std::size_t>(node)), work);
           },
       .link = nullptr});
  const Simulated b = played_in(formulas);

  ASSERT_EQ(a.protocol_log.versions.size(), b.protocol_log.versions.size());
  ASSERT_GT(a.protocol_log.versions.size(), 3U);
  for (std::size_t i = 1; i < a.protocol_log.versions.size(); ++i) {
    EXPECT_NEAR(a.protocol_log.versions[i].at, b.protocol_log.versions[i].at, 1e-6 * b.protocol_log.versions[i].at)
        << protocol << " " << i;
  }
  EXPECT_EQ(a.qualities, b.qualities) << "the same order of events";
  EXPECT_EQ(a.protocol_log.staleness, b.protocol_log.staleness);
  EXPECT_EQ(a.protocol_log.took_part, b.protocol_log.took_part);
  EXPECT_EQ(a.log.nodes[0].sent, b.log.nodes[0].sent);
  EXPECT_EQ(a.log.nodes[0].sent > 0, true);
  EXPECT_EQ(among_workers, a.log.nodes[kSites].sent == 0);
}

TEST(TwoWorlds, AgreeOnAsyncSgd) {
  expect_both_worlds_agree("async-sgd", {}, false);
  expect_both_worlds_agree("async-sgd", {{"staleness", "bounded"}, {"slack", "1"}}, false);
}

TEST(TwoWorlds, AgreeOnLocalSteps) {
  expect_both_worlds_agree("local-sgd", {{"period", "3"}}, false);
  expect_both_worlds_agree("diloco", {{"period", "3"}}, false);
  expect_both_worlds_agree("streaming-diloco", {{"period", "3"}, {"delay", "1"}}, false);
}

TEST(TwoWorlds, AgreeOnAdPsgd) { expect_both_worlds_agree("ad-psgd", {}, true); }

}  // namespace
}  // namespace dadsim::test
