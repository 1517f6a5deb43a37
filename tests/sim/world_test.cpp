#include "sim/world.hpp"

#include <gtest/gtest.h>

#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <map>
#include <set>

#include "sim/declared.hpp"
#include "sim/star.hpp"
#include "support/random.hpp"

namespace dadsim::test {
namespace {

using world::Activity;
using world::Event;
using world::Node;

struct Case {
  spec::Transport transport;
  bool rendezvous;
  double per_connection = 0;  ///< byte/s per connection of measured lines; 0: plain lines
};

/// Returns sites with one line each, and a hub as the last node.
sim::Cluster sites_and_hub(std::size_t sites, const Case& of_lines) {
  const auto& [transport, rendezvous, per_connection] = of_lines;
  spec::LinkSpec link{
      .name = {}, .bandwidth = 1e6, .latency = 0.02, .transport = transport, .efficiency = 1, .source = {}};
  link.is_goodput = per_connection > 0;
  link.per_connection = per_connection;
  sim::Cluster cluster;
  spec::FederationSpec federation;
  federation.sites.push_back({.name = "site", .count = static_cast<std::int64_t>(sites), .up = link, .down = link});
  cluster.platform.what = federation;
  for (std::size_t i = 1; i <= sites; ++i) {
    cluster.hosts.push_back("site-" + std::to_string(i));
    cluster.devices.push_back(clockwork());
  }
  cluster.aggregator_host = "hub";
  cluster.aggregator_device = clockwork();
  cluster.network.rendezvous = rendezvous;
  return cluster;
}

class WorldCuts : public testing::TestWithParam<Case> {
 protected:
  static constexpr Node kHub = 4;
  std::unique_ptr<sim::SimulatedWorld> make() const { return sim::simulate_world(sites_and_hub(4, GetParam())); }
  /// Returns the seconds of a message that is alone in the network.
  static double alone(world::World& world, Node from, Node to, double bytes) {
    const double begin = world.now();
    const Activity sent = world.send(from, to, bytes);
    const std::optional<Event> event = world.next();
    EXPECT_TRUE(event && event->activity == sent && event->kind == Event::Kind::done);
    return world.now() - begin;
  }
  /// Processes events for `seconds`; returns the activities that ended.
  static std::set<Activity> wait(world::World& world, double seconds) {
    std::set<Activity> arrived;
    const Activity timer = world.timer(seconds);
    for (;;) {
      const std::optional<Event> event = world.next();
      if (!event || event->activity == timer) return arrived;
      EXPECT_EQ(event->kind, Event::Kind::done);
      arrived.insert(event->activity);
    }
  }
  /// Processes events until no activity is left; returns how each activity ended.
  static std::map<Activity, Event::Kind> ends(world::World& world) {
    std::map<Activity, Event::Kind> kinds;
    while (const std::optional<Event> event = world.next()) {
      if (event->activity == 0) continue;
      EXPECT_TRUE(kinds.emplace(event->activity, event->kind).second);
    }
    return kinds;
  }
};

/// Seconds after which a message is cut off: at once, during its latency, in slow start, at full rate, and in the
/// latency after its transfer. 300,000 bytes take about 0.3 s and two latencies.
constexpr std::array kMoments = {0.0, 1e-5, 0.01, 0.03, 0.06, 0.1, 0.2, 0.3, 0.335};

TEST_P(WorldCuts, WhatIsUnderWayFailsWhenItsHostGoesDownAndNothingIsLeft) {
  const auto fresh = make();
  const double first = alone(*fresh, 0, kHub, 3e5);
  const auto world = make();
  for (const double moment : kMoments) {
    for (const Node victim : {Node{0}, kHub}) {
      SCOPED_TRACE(testing::Message() << "cut after " << moment << " s: node " << victim);
      std::set<Activity> sent;
      for (int i = 0; i < 5; ++i) sent.insert(world->send(0, kHub, 3e5));
      sent.insert(world->send(kHub, 0, 3e5));
      std::set<Activity> arrived;
      if (moment > 0) arrived = wait(*world, moment);
      const double date = world->now();
      world->set_host(victim, false);
      EXPECT_FALSE(world->is_up(victim));
      const auto kinds = ends(*world);
      EXPECT_EQ(world->now(), date);  // all messages fail at once
      EXPECT_EQ(kinds.size() + arrived.size(), sent.size());
      for (const auto& [activity, kind] : kinds) {
        EXPECT_TRUE(sent.contains(activity));
        EXPECT_EQ(kind, Event::Kind::failed);
      }
      // Messages from or to a host that is down fail as well.
      world->send(0, kHub, 10);
      EXPECT_EQ(ends(*world).begin()->second, Event::Kind::failed);
      world->set_host(victim, true);
      EXPECT_TRUE(ends(*world).empty());
      // The failures leave no trace: a message on a new connection takes as long as the first one.
      EXPECT_NEAR(alone(*world, 0, kHub, 3e5), first, 1e-9);
      wait(*world, 10);
      world->set_host(victim, false);
      world->set_host(victim, true);
      ends(*world);
    }
  }
  EXPECT_GT(world->finish().messages, 0);
}

TEST_P(WorldCuts, ALinkThatGoesDownCutsWhatGoesOverItAndNothingElse) {
  const auto world = make();
  for (const double moment : kMoments) {
    SCOPED_TRACE(moment);
    const Activity cut = world->send(0, kHub, 3e5);
    const Activity behind = world->send(0, kHub, 3e5);
    const Activity other = world->send(1, kHub, 3e5);
    const Activity back = world->send(kHub, 0, 3e5);
    std::set<Activity> arrived;
    if (moment > 0) arrived = wait(*world, moment);
    world->set_link("site-1 up", false);
    const Activity late = world->send(0, kHub, 10);
    auto kinds = ends(*world);
    for (const Activity one : arrived) kinds[one] = Event::Kind::done;
    EXPECT_EQ(kinds.at(cut), arrived.contains(cut) ? Event::Kind::done : Event::Kind::failed);
    EXPECT_EQ(kinds.at(behind), Event::Kind::failed);
    EXPECT_EQ(kinds.at(late), Event::Kind::failed);
    EXPECT_EQ(kinds.at(other), Event::Kind::done);
    EXPECT_EQ(kinds.at(back), Event::Kind::done);
    world->set_link("site-1 *", true);
    const Activity again = world->send(0, kHub, 10);
    EXPECT_EQ(ends(*world).at(again), Event::Kind::done);
  }
}

TEST_P(WorldCuts, ACancelledMessageIsNotHeardOfAndTakesItsConnectionWithIt) {
  const auto fresh = make();
  const double first = alone(*fresh, 0, kHub, 3e5);
  const auto world = make();
  for (const double moment : kMoments) {
    SCOPED_TRACE(moment);
    const Activity before = world->send(0, kHub, 2e5);
    const Activity cancelled = world->send(0, kHub, 3e5);
    const Activity other = world->send(1, kHub, 3e5);
    std::set<Activity> arrived;
    if (moment > 0) arrived = wait(*world, moment);
    world->cancel(cancelled);
    auto kinds = ends(*world);
    for (const Activity one : arrived) kinds[one] = Event::Kind::done;
    EXPECT_FALSE(kinds.contains(cancelled));
    EXPECT_EQ(kinds.at(other), Event::Kind::done);
    EXPECT_TRUE(kinds.contains(before));
    EXPECT_NEAR(alone(*world, 0, kHub, 3e5), first, 1e-9);
    world->cancel(world->send(0, kHub, 1));
    EXPECT_TRUE(ends(*world).empty());
  }
}

/// Sends messages of many sizes in both directions, again and again, all of which must arrive. Returns the date of the
/// last arrival.
double send_all_ways(const sim::Cluster& cluster, Node hub, double scale = 1) {
  const std::unique_ptr<sim::SimulatedWorld> world = sim::simulate_world(cluster);
  std::set<Activity> sent;
  for (int round = 0; round < 10; ++round) {
    for (Node site = 0; site < hub; ++site) {
      sent.insert(world->send(site, hub, scale * 1000.0 * (1 + round)));
      sent.insert(world->send(hub, site, scale * 500));
    }
    sent.insert(world->timer(0.013));
    while (!sent.empty()) {
      const std::optional<Event> event = world->next();
      if (!event) {
        ADD_FAILURE() << sent.size() << " never end, since round " << round;
        return world->now();
      }
      EXPECT_EQ(event->kind, Event::Kind::done);
      EXPECT_EQ(sent.erase(event->activity), 1U);
    }
  }
  return world->now();
}

/// A latency that changes before or while a message begins neither blocks nor loses the message.
TEST_P(WorldCuts, LatenciesThatChangeWhileMessagesWaitLetAllOfThemArrive) {
  for (const std::vector<double>& factors : {std::vector<double>{1, 3}, {1, 0.01}}) {
    SCOPED_TRACE(factors.back());
    sim::Cluster cluster = sites_and_hub(4, GetParam());
    spec::PlatformSpec::Profile& latencies = cluster.platform.profiles.emplace_back();
    latencies.link = "*";
    latencies.of = spec::PlatformSpec::Profile::Of::latency;
    latencies.times = {0, 0.05};
    latencies.factors = factors;
    latencies.period = 0.1;
    const double end = send_all_ways(cluster, kHub);
    EXPECT_GT(end, 10 * (factors.back() < 1 ? 0.013 : 0.04)) << "two lines of 20 ms, or none for half of the time";
    EXPECT_LT(end, 10 * 4.0);
  }
}

/// If anything varies over time, connections share a link in proportion to 1 ÷ latency. With latencies of 0 they share
/// equally, and no message is lost.
TEST_P(WorldCuts, LinksWithoutLatencyShareABandwidthThatChanges) {
  sim::Cluster cluster = sites_and_hub(4, GetParam());
  cluster.platform.changes.push_back({.link = "*", .bandwidth_factor = 1, .latency_factor = 0});
  for (const auto of : {spec::PlatformSpec::Profile::Of::bandwidth, spec::PlatformSpec::Profile::Of::latency}) {
    cluster.platform.profiles = {{.of = of, .link = "*", .times = {0, 0.05}, .factors = {1, 0.2}, .period = 0.1}};
    EXPECT_GT(send_all_ways(cluster, kHub, 1000), 10 * 0.013);
  }
}

TEST_P(WorldCuts, WhateverIsOrderedEveryActivityEndsOnce) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, Purpose::test);
    const auto draw = [&](int behind) { return boost::random::uniform_int_distribution<int>(0, behind - 1)(random); };
    const auto world = make();
    std::set<Activity> open;
    std::array<bool, 5> up = {true, true, true, true, true};
    std::array<Activity, 5> computing{};
    double last = 0;
    const auto take = [&](const Event& event) {
      EXPECT_GE(event.at, last);
      last = event.at;
      if (event.activity == 0) return;
      EXPECT_EQ(open.erase(event.activity), 1U);
      for (Activity& one : computing) one = one == event.activity ? 0 : one;
    };
    for (int i = 0; i < 600; ++i) {
      const Node node = draw(5);
      const Node peer = draw(5);
      switch (draw(9)) {
        case 0:
        case 1:
        case 2:
          open.insert(world->send(node, peer, 10 * std::exp2(draw(16))));
          break;
        case 3:
          open.insert(world->timer(0.01 * draw(10)));
          break;
        case 4:
          if (open.empty()) break;
          {
            auto one = open.begin();
            std::advance(one, draw(static_cast<int>(open.size())));
            for (Activity& computed : computing) computed = computed == *one ? 0 : computed;
            world->cancel(*one);
            open.erase(one);
          }
          break;
        case 5:
          up[static_cast<std::size_t>(node)] = !up[static_cast<std::size_t>(node)];
          world->set_host(node, up[static_cast<std::size_t>(node)]);
          break;
        case 6:
          world->set_link("site-" + std::to_string(1 + draw(4)) + (draw(2) == 0 ? " up" : " down"), draw(3) > 0);
          break;
        default:
          for (int count = draw(6); count > 0; --count) {
            if (const auto event = world->next()) take(*event);
          }
      }
    }
    world->set_link("*", true);
    while (const auto event = world->next()) take(*event);
    EXPECT_TRUE(open.empty());
    world->finish();
  }
}

TEST(Population, LinesOfSitesScatterAsTheyAreSaidTo) {
  constexpr std::size_t kSites = 300;
  sim::Cluster cluster = sites_and_hub(kSites, Case{spec::Transport::plain, false});
  auto& federation = std::get<spec::FederationSpec>(cluster.platform.what);
  federation.sites.front().bandwidth_spread = 0.5;
  federation.sites.front().up.latency = federation.sites.front().down.latency = 0;
  const auto world = sim::simulate_world(cluster);
  const auto hub = static_cast<Node>(kSites);
  double sum = 0;
  double squares = 0;
  for (Node site = 0; site < hub; ++site) {
    double begin = world->now();
    world->send(site, hub, 1e6);
    world->next();
    const double up = world->now() - begin;
    begin = world->now();
    world->send(hub, site, 1e6);
    world->next();
    EXPECT_NEAR(world->now() - begin, up, 1e-6 * up);  // same factor in both directions
    const double logarithm = std::log(1 / up);         // logarithm of the line's factor, as 1e6 bytes take 1 s on the
                                                       // median line
    sum += logarithm;
    squares += logarithm * logarithm;
  }
  const double mean = sum / kSites;
  EXPECT_NEAR(mean, 0, 4 * 0.5 / std::sqrt(kSites));
  EXPECT_NEAR(std::sqrt(squares / kSites - mean * mean), 0.5, 4 * 0.5 / std::sqrt(2.0 * kSites));
}

INSTANTIATE_TEST_SUITE_P(Transports, WorldCuts,
                         testing::Values(Case{spec::Transport::tcp, false}, Case{spec::Transport::tcp, true},
                                         Case{spec::Transport::plain, false}, Case{spec::Transport::plain, true},
                                         Case{spec::Transport::rdma, false}, Case{spec::Transport::tcp, false, 8e5}),
                         [](const auto& one) {
                           return std::string(to_string(one.param.transport)) +
                                  (one.param.rendezvous ? "Rendezvous" : "") +
                                  (one.param.per_connection > 0 ? "AsMeasured" : "");
                         });

}  // namespace
}  // namespace dadsim::test
