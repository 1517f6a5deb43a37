#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "protocols/simulating.hpp"
#include "sim/world.hpp"
#include "world/outages.hpp"

// Whatever fails in the cluster, a simulation ends: with a model, or with a message that names who waits for what.
// Every lost message is counted.

namespace dadsim::test {
namespace {

constexpr std::size_t kSites = 4;

/// Returns true if all seeds are to be drawn. The suite's draws contain every failure and most pairs of failures.
bool all_drawn() { return std::getenv("DADSIM_ALL_DRAWN") != nullptr; }

/// Returns sites with different minima and curvatures, so that results depend on the sites that took part.
std::vector<Quadratics::Site> some_sites() { return {{1, 1}, {1, 3}, {2, 0}, {0.5, 5}}; }

/// Returns the failures of run number `seed`; every seed gives another mixture.
spec::FailureSpec misfortune(std::uint64_t seed, bool links) {
  spec::FailureSpec what;
  const double often = 10.0 * static_cast<double>(1 + seed % 7);
  what.random.push_back({.match = "site-*", .mean_up = often, .shape = seed % 2 == 0 ? 1 : 0.7, .mean_down = 5});
  if (links && seed % 3 == 0) what.random.push_back({.links = true, .match = "*", .mean_up = often, .mean_down = 2});
  if (seed % 4 == 0) what.random.push_back({.match = "server", .mean_up = 5 * often, .mean_down = 3});
  if (seed % 5 == 0) what.availability.push_back({.hosts = "site-*", .drop_out = 0.1, .returns = 4});
  if (seed % 11 == 0) what.outages.push_back({.match = "site-2", .from = 7});                 // never comes back
  if (seed % 13 == 0) what.outages.push_back({.match = "site-1", .from = 0, .seconds = 30});  // joins late
  return what;
}

struct Ending {
  std::string stuck;  ///< reason why the run got stuck; empty if it ended
  protocols::ProtocolLog protocol_log;
  step::EventLog log;
};

Ending play_with_failures(world::World& world, const spec::RunSpec& run, std::uint64_t seed, bool checkpoints) {
  static const SmallProblem small(kSites, 40);
  spec::TrainingSpec training = small.training;
  training.epochs = 12;
  const algorithms::LearningProblem problem{small.data, small.partition, small.model, training, seed};
  History history(1, nullptr);
  // Most protocols run as well on simple functions, whose gradients take no time to compute.
  const bool needs_network = run.algorithm.starts_with("partial-") || run.algorithm == "flare";
  std::unique_ptr<Learning> own;
  if (needs_network) {
    own = std::make_unique<Learning>(problem, history);
  } else {
    own = std::make_unique<Quadratics>(problem, history, some_sites(), 10);
  }
  Learning& learning = *own;
  const models::Network network(problem.data.shape, problem.model, problem.seed);
  const protocols::Sizing sizing(problem, run.compress, {.shape = network.shape()});
  Ending ending;
  ending.protocol_log = protocols::ProtocolLog(kSites);
  world::EventLoop stage(world, {"site-0", "site-1", "site-2", "site-3", "server"},
                         {.most_idle = 1e4, .most_idle_events = 200'000});
  if (checkpoints) {
    for (world::Node node = 0; node < 4; ++node) stage.set_checkpoints(node, {.every = 3, .write = 0.2, .restore = 1});
  }
  const protocols::Setting setting{.loop = stage,
                                   .learning = learning,
                                   .sizing = sizing,
                                   .run = run,
                                   .sites = kSites,
                                   .server = static_cast<world::Node>(kSites),
                                   .log = ending.protocol_log};
  const auto protocol = protocols::protocol_registry().at(run.algorithm).make(setting);
  protocol->begin();
  try {
    stage.run();
  } catch (const world::Deadlock& stuck) {
    ending.stuck = stuck.what();
    EXPECT_GT(ending.stuck.size(), 20U);
  }
  ending.log = stage.log();
  return ending;
}

void expect_nothing_vanished(const Ending& ending) {
  double sent = 0;
  double received = 0;
  double lost = 0;
  for (const step::EventLog::NodeUse& node : ending.log.nodes) {
    sent += node.sent;
    received += node.received;
    lost += node.lost;
    EXPECT_LE(node.cut_short, node.busy + 1e-9);
    EXPECT_LE(node.lost_messages, node.messages);
    EXPECT_LE(node.busy + node.down, ending.log.seconds + 1e-6);
  }
  EXPECT_NEAR(sent, received + lost, 1e-6 * std::max(1.0, sent));
}

/// Runs `body` for several runs of every registered protocol.
template <class Body>
void for_every_protocol(const Body& body) {
  for (const protocols::EventDrivenMethod& protocol : protocols::protocol_registry().all()) {
    SCOPED_TRACE(protocol.name);
    body(run_of(protocol.name));
  }
}

world::ClosedFormWorld small_world(double latency = 0.05) {
  return world::ClosedFormWorld(
      {.nodes = kSites + 1,
       .line =
           [latency](world::Node, world::Node) {
             return world::ClosedFormWorld::SiteLine{latency, 1e4};
           },
       .seconds =
           [](world::Node node, const world::Work& work) {
             return node == kSites ? 0.01 : (0.2 + 0.1 * node) * static_cast<double>(work.steps);
           },
       .link = [](world::Node from, world::Node to) { return std::to_string(from) + ">" + std::to_string(to); }});
}

TEST(Failures, HundredsOfRunsOfEveryProtocolEnd) {
  std::vector<std::string> links;
  for (std::size_t from = 0; from <= kSites; ++from) {
    for (std::size_t to = 0; to <= kSites; ++to) {
      if (from != to) links.push_back(std::to_string(from) + ">" + std::to_string(to));
    }
  }
  for_every_protocol([&](const spec::RunSpec& run) {
    int stuck = 0;
    std::int64_t updates = 0;
    std::int64_t outages = 0;
    // Methods that need learned numbers during the simulation take as long as learning.
    const bool asks = run.algorithm == "partial-rank-dad" || run.algorithm == "flare";
    const std::uint64_t plays = all_drawn() ? (asks ? 50 : 400) : (asks ? 26 : 100);
    for (std::uint64_t seed = 1; seed <= plays; ++seed) {
      SCOPED_TRACE(seed);
      world::ClosedFormWorld inner = small_world();
      world::UnreliableWorld world(inner, {.what = misfortune(seed, true),
                                           .hosts = {"site-0", "site-1", "site-2", "site-3", "server"},
                                           .links = links,
                                           .seed = seed});
      const Ending ending = play_with_failures(world, run, seed, seed % 6 == 0);
      expect_nothing_vanished(ending);
      stuck += ending.stuck.empty() ? 0 : 1;
      updates += ending.protocol_log.updates;
      for (const step::EventLog::NodeUse& node : ending.log.nodes) outages += node.outages;
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
    EXPECT_GT(outages, plays / 4);  // runs with short messages are short and meet few outages
    EXPECT_GE(updates, plays);
    EXPECT_LT(stuck, 0.15 * static_cast<double>(plays));  // runs that wait for site-2, and a few others
  });
}

// A client that comes back takes part again. The outage may be shorter than the notice, a request and its answer take,
// and the server may fail meanwhile.
TEST(Failures, WhoComesBackIsLetInHoweverSlowTheLines) {
  for_every_protocol([&](const spec::RunSpec& any) {
    const bool asks = any.algorithm == "partial-rank-dad" || any.algorithm == "flare";
    for (std::uint64_t seed = 1; seed <= (asks ? 10U : 60U); ++seed) {
      SCOPED_TRACE(seed);
      spec::RunSpec run = any;
      if (seed % 2 == 0 && run.parameters.contains("barrier")) run.parameters["barrier"] = "true";
      if (seed % 3 == 0 && run.parameters.contains("fraction")) run.parameters["fraction"] = "0.5";
      spec::FailureSpec what;
      what.availability.push_back({.hosts = seed % 4 == 0 ? "site-1" : "site-*",
                                   .drop_out = 0.1 + 0.2 * static_cast<double>(seed % 3),
                                   .returns = seed % 5 < 3 ? 0.3 : 4});
      if (seed % 2 == 0) what.random.push_back({.match = "server", .mean_up = 60, .mean_down = 2});
      if (seed % 5 == 0) what.random.push_back({.match = "site-*", .mean_up = 90, .mean_down = 1});
      world::ClosedFormWorld inner = small_world(seed % 3 == 0 ? 0.3 : 2);
      world::UnreliableWorld world(
          inner,
          {.what = what, .hosts = {"site-0", "site-1", "site-2", "site-3", "server"}, .links = {}, .seed = seed});
      const Ending ending = play_with_failures(world, run, seed, false);
      expect_nothing_vanished(ending);
      EXPECT_EQ(ending.stuck, "");
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  });
}

sim::Cluster star(spec::Transport transport, bool rendezvous) {
  const spec::LinkSpec link{.name = {}, .bandwidth = 2e4, .latency = 0.05, .transport = transport, .source = {}};
  sim::Cluster cluster;
  spec::FederationSpec federation;
  federation.sites.push_back({.name = "site", .count = kSites, .numbered = true, .up = link, .down = link});
  cluster.platform.what = federation;
  const spec::DeviceSpec device{.name = "slow",
                                .description = {},
                                .peak_flops = 1e6,
                                .memory_bandwidth = 1e9,
                                .matrix_efficiency = 1,
                                .memory_efficiency = 1,
                                .launch_overhead = 1e-2,
                                .source = {}};
  for (std::size_t i = 1; i <= kSites; ++i) {
    cluster.hosts.push_back("site-" + std::to_string(i));
    cluster.devices.push_back(device);
  }
  cluster.aggregator_host = "hub";
  cluster.aggregator_device = device;
  cluster.network.rendezvous = rendezvous;
  return cluster;
}

TEST(Failures, SimulatedOnesEndToo) {
  for_every_protocol([&](const spec::RunSpec& run) {
    std::uint64_t stuck = 0;
    const std::uint64_t plays = all_drawn() ? 30 : 14;
    for (std::uint64_t seed = 1; seed <= plays; ++seed) {
      SCOPED_TRACE(seed);
      const auto transport = seed % 2 == 0 ? spec::Transport::tcp : spec::Transport::plain;
      const auto inner = sim::simulate_world(star(transport, seed % 3 == 0));
      spec::FailureSpec what = misfortune(seed, false);
      if (seed % 3 == 1) what.random.push_back({.links = true, .match = "site-* up", .mean_up = 9, .mean_down = 2});
      std::vector<std::string> links;
      for (std::size_t i = 1; i <= kSites; ++i) links.push_back("site-" + std::to_string(i) + " up");
      world::UnreliableWorld world(
          *inner,
          {.what = what, .hosts = {"site-0", "site-1", "site-2", "site-3", "server"}, .links = links, .seed = seed});
      const Ending ending = play_with_failures(world, run, seed, seed % 6 == 0);
      expect_nothing_vanished(ending);
      stuck += ending.stuck.empty() ? 0 : 1;
      if (ending.stuck.empty()) {
        const step::NetworkUse use = inner->finish();
        EXPECT_GT(use.messages, 0);
      }
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
    EXPECT_LT(3 * stuck, plays);
  });
}

}  // namespace
}  // namespace dadsim::test
