// For very many sites, dadsim itself shares the lines of a federation instead of SimGrid; both must give the same
// result.
#include <gtest/gtest.h>

#include <boost/random/uniform_01.hpp>
#include <map>
#include <optional>
#include <string>

#include "sim/declared.hpp"
#include "sim/star.hpp"
#include "sim/world.hpp"
#include "support/random.hpp"

namespace dadsim::test {
namespace {

using world::Activity;
using world::Event;
using world::Node;

constexpr std::size_t kSites = 260;
constexpr Node kHub = kSites;

/// Returns sites with lines of 1 to 8 Mbit/s around a hub of 125 Mbit/s; some bandwidths are drawn. A third of the
/// lines are measured, with a limit per connection. `by_simgrid`: two further sites exchange a byte, which forces
/// SimGrid to carry all messages.
sim::Cluster large_federation(bool by_simgrid) {
  spec::FederationSpec federation;
  const auto line = [](double bandwidth) {
    return spec::LinkSpec{
        .name = {}, .bandwidth = bandwidth, .latency = 0.02, .transport = spec::Transport::tcp, .source = {}};
  };
  spec::LinkSpec measured = line(5e5);
  measured.is_goodput = true;
  measured.per_connection = 3e5;
  federation.sites.push_back({.name = "a", .count = 100, .up = line(2e5), .down = line(1e6), .bandwidth_spread = 0.5});
  federation.sites.push_back({.name = "b", .count = 80, .up = line(1.25e5), .down = line(1.25e5)});
  federation.sites.push_back({.name = "c", .count = 80, .up = measured, .down = measured});
  federation.sites.push_back({.name = "idle", .count = 2, .up = line(1e6), .down = line(1e6)});
  federation.hub_up = federation.hub_down = line(6.25e7 / 4);
  sim::Cluster cluster;
  cluster.platform.what = federation;
  for (const auto& [name, count] : {std::pair("a", 100), {"b", 80}, {"c", 80}}) {
    for (int i = 1; i <= count; ++i) {
      cluster.hosts.push_back(std::string(name) + "-" + std::to_string(i));
      cluster.devices.push_back(clockwork());
    }
  }
  cluster.aggregator_host = "hub";
  cluster.aggregator_device = clockwork();
  if (by_simgrid) cluster.platform.background.push_back({.from = "idle-1", .to = "idle-2", .bytes = 1, .every = 1e9});
  return cluster;
}

/// Sends every client a model of a drawn size; the client sends an answer. A few clients go down meanwhile, and two
/// send to each other.
std::map<Activity, Event> answers(bool by_simgrid, std::uint32_t seed) {
  const auto world = sim::simulate_world(large_federation(by_simgrid));
  RandomStream random(seed, Purpose::test, 11);
  const auto drawn = [&](double least, double most) {
    return least + (most - least) * boost::random::uniform_01<double>()(random);
  };
  std::map<Activity, Node> sent_to;
  std::map<Activity, Event> events;
  for (Node site = 0; site < kHub; ++site) sent_to[world->send(kHub, site, drawn(1e5, 2e6))] = site;
  const Activity alarm = world->timer(3);
  const Activity meeting = world->timer(seed == 0 ? 4 : 1e6);
  std::size_t answers = 0;
  while (const std::optional<Event> event = world->next()) {
    if (event->activity == 0) continue;
    if (event->activity == alarm) {
      for (const Node site : {3, 120, 200}) world->set_host(site, false);
    } else if (event->activity == meeting) {
      if (seed == 0) world->send(10, 11, 1e6);
    } else {
      events[event->activity] = *event;
      const auto asked = sent_to.find(event->activity);
      if (asked != sent_to.end() && event->kind == Event::Kind::done && world->is_up(asked->second)) {
        world->send(asked->second, kHub, 1e5 + 1e3 * static_cast<double>(asked->second));
        ++answers;
      }
    }
    if (answers > 0 && events.size() >= kSites + answers + (seed == 0 ? 1 : 0)) break;
  }
  return events;
}

TEST(LargeFederation, SharesItsLinesAsSimGridDoes) {
  for (const std::uint32_t seed : {0U, 1U}) {
    const auto expected = answers(true, seed);
    const auto actual = answers(false, seed);
    ASSERT_EQ(actual.size(), expected.size());
    for (const auto& [activity, event] : expected) {
      ASSERT_TRUE(actual.contains(activity));
      EXPECT_EQ(actual.at(activity).kind, event.kind) << activity;
      EXPECT_NEAR(actual.at(activity).at, event.at, 1e-9 * event.at) << activity;
    }
  }
}

}  // namespace
}  // namespace dadsim::test
