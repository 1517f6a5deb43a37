#include "world/outage_calendar.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "world/closed_form_world.hpp"
#include "world/outages.hpp"

namespace dadsim::world {
namespace {

Outages some_outages(std::uint64_t seed) {
  Outages outages;
  outages.hosts = {"h0", "h1", "h2", "h2", "hub"};
  outages.links = {"0>4", "4>0"};
  outages.seed = seed;
  outages.what.random = {{.links = false, .match = "h*", .mean_up = 20, .shape = 0.7, .mean_down = 5},
                         {.links = true, .match = "0>4", .mean_up = 30, .shape = 1, .mean_down = 2}};
  outages.what.outages = {{.links = false, .match = "h1", .from = 0, .seconds = 12}};
  outages.what.availability = {
      {.hosts = "h2", .by = spec::AvailabilitySpec::By::sessions, .on = 15, .off = 10, .shape = 1}};
  return outages;
}

// An outage calendar and a simulated world with the same seed have the same outages.
TEST(OutageCalendar, HostsAreUpAndDownWhenTheyAreInAWorld) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ClosedFormWorld inner({.nodes = 5,
                           .line =
                               [](Node, Node) {
                                 return ClosedFormWorld::SiteLine{0.1, 100};
                               },
                           .seconds = [](Node, const Work&) { return 1.0; },
                           .link = [](Node from, Node to) { return std::to_string(from) + ">" + std::to_string(to); }});
    UnreliableWorld world(inner, some_outages(seed));
    OutageCalendar calendar(some_outages(seed));
    const Activity last = world.timer(300);
    std::map<Node, std::int64_t> down;
    for (;;) {
      const std::optional<Event> event = world.next();
      ASSERT_TRUE(event.has_value());
      if (event->activity == last) break;
      while (calendar.next_change() <= event->at + 1e-9) calendar.take_next_change();
      const bool up = event->kind == Event::Kind::host_up;
      EXPECT_EQ(calendar.is_up(static_cast<std::size_t>(event->node)), up) << seed << " at " << event->at;
      if (!up && event->at > 0) ++down[event->node];
    }
    while (calendar.next_change() <= 300) calendar.take_next_change();
    for (std::size_t node = 0; node < 5; ++node) {
      EXPECT_EQ(calendar.is_up(node), world.is_up(static_cast<Node>(node))) << seed;
      EXPECT_EQ(calendar.went_down(node), down[static_cast<Node>(node)]) << seed << ": of those after the beginning";
    }
    EXPECT_EQ(calendar.link_outages(), world.calendar().link_outages()) << seed;
  }
}

// The order of rules does not matter, even if two match one host. A rule for other hosts does not change a host's
// outages.
TEST(OutageCalendar, TheOrderOfRulesChangesNothing) {
  const auto outages_of = [](const Outages& outages) {
    OutageCalendar calendar(outages);
    while (calendar.next_change() < 500) calendar.take_next_change();
    std::vector<std::vector<double>> all(outages.hosts.size());
    for (const step::EventLog::Outage& one : calendar.outages_until(500)) {
      all[static_cast<std::size_t>(one.node)].push_back(one.begin);
      all[static_cast<std::size_t>(one.node)].push_back(one.end);
    }
    return std::pair{all, calendar.link_outages()};
  };
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Outages outages = some_outages(seed);
    outages.what.random.push_back({.links = false, .match = "h0", .mean_up = 40, .shape = 1, .mean_down = 3});
    using By = spec::AvailabilitySpec::By;
    outages.what.availability.push_back({.hosts = "h*", .by = By::sessions, .on = 50, .off = 2, .shape = 2});
    outages.what.availability.push_back(
        {.hosts = "hub", .by = By::diurnal, .from = 0, .until = 30, .spread = 20, .period = 40});
    Outages turned = outages;
    std::ranges::reverse(turned.what.random);
    std::ranges::reverse(turned.what.availability);
    EXPECT_EQ(outages_of(turned), outages_of(outages)) << seed;
    std::swap(turned.what.availability[0], turned.what.availability[1]);
    EXPECT_EQ(outages_of(turned), outages_of(outages)) << seed;
    Outages fewer = outages;
    fewer.what.availability.erase(fewer.what.availability.begin());
    EXPECT_EQ(outages_of(fewer).first[4], outages_of(outages).first[4]) << seed << ": the hub has its own";
  }
}

TEST(OutageCalendar, KnowsWhoWillNotComeUpAgain) {
  Outages outages = some_outages(1);
  outages.what.random.clear();
  outages.what.outages.push_back({.links = false, .match = "h0", .from = 7, .seconds = spec::kForever});
  OutageCalendar calendar(outages);
  const auto gone = [&] {
    std::vector<std::size_t> nodes;
    for (std::size_t node = 0; node < 5; ++node) {
      if (calendar.is_gone(node)) nodes.push_back(node);
    }
    return nodes;
  };
  EXPECT_TRUE(gone().empty()) << "h1 is down, and comes up at 12";
  while (calendar.next_change() < 100) calendar.take_next_change();
  EXPECT_EQ(gone(), std::vector<std::size_t>{0});
}

// Returns 8 GPUs on 4 nodes of unequal size.
Outages of_nodes() {
  Outages outages;
  outages.hosts = {"g0", "g1", "g2", "g3", "g3", "g4", "g5", "g6"};
  outages.on = {"n-0", "n-0", "n-0", "n-1", "n-1", "n-2", "n-2", "n-3"};
  return outages;
}

TEST(OutageCalendar, HostsOfANodeFailTogetherAndNodesEachByItself) {
  Outages outages = of_nodes();
  outages.what.random = {{.nodes = true, .match = "n-*", .mean_up = 20, .shape = 0.7, .mean_down = 5}};
  OutageCalendar calendar(outages);
  double down = 0;
  double before = 0;
  std::map<std::size_t, int> states;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t of[] = {0, 0, 0, 3, 3, 5, 5, 7};
    std::size_t state = 0;
    for (std::size_t node = 0; node < 8; ++node) {
      EXPECT_EQ(calendar.is_up(node), calendar.is_up(of[node])) << calendar.now();
      if (of[node] == node) state = 2 * state + (calendar.is_up(node) ? 0 : 1);
    }
    ++states[state];
    if (!calendar.is_up(7)) down += calendar.next_change() - before;
    before = calendar.next_change();
    calendar.take_next_change();
  }
  EXPECT_EQ(states.size(), 16U) << "each node is up while others are down";
  EXPECT_NEAR(down / before, 0.2, 0.02);
  outages.what.random.front().match = "n-7";
  EXPECT_THROW(OutageCalendar{outages}, std::invalid_argument);
}

TEST(OutageCalendar, MaintenanceComesAgainAndGoesFromNodeToNode) {
  Outages outages = of_nodes();
  outages.what.outages = {{.nodes = true, .match = "n-*", .from = 3, .seconds = 2, .every = 100, .stagger = 10},
                          {.match = "g5", .from = 0, .seconds = 1, .every = 50}};
  OutageCalendar calendar(outages);
  const double begins[] = {3, 3, 3, 13, 13, 23, 23, 33};
  EXPECT_FALSE(calendar.is_up(6)) << "g5 at midnight";
  for (double now = 0; now < 1000; now = calendar.next_change()) {
    while (calendar.next_change() <= now) calendar.take_next_change();
    for (std::size_t node = 0; node < 8; ++node) {
      const double since = std::fmod(now - begins[node] + 100, 100);
      const bool again = node == 6 && std::fmod(now, 50) < 1;
      EXPECT_EQ(calendar.is_up(node), since >= 2 && !again) << node << " at " << now;
    }
  }
}

TEST(OutageCalendar, TellsOfOutagesUntilTheEndThatIsAskedFor) {
  Outages outages;
  outages.hosts = {"a", "b"};
  outages.what.outages = {{.links = false, .match = "a", .from = 2, .seconds = 3},
                          {.links = false, .match = "b", .from = 4, .seconds = spec::kForever}};
  OutageCalendar calendar(outages);
  while (std::isfinite(calendar.next_change())) calendar.take_next_change();
  const auto all = calendar.outages_until(10);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].node, 0);
  EXPECT_EQ(all[0].begin, 2);
  EXPECT_EQ(all[0].end, 5);
  EXPECT_EQ(all[1].node, 1);
  EXPECT_EQ(all[1].end, 10);
  EXPECT_EQ(calendar.outages_until(3).front().end, 3);
}

TEST(OutageCalendar, AHostDropsOutOfAComputationAsOftenAsItIsSaid) {
  Outages outages;
  outages.hosts = {"a"};
  outages.what.availability = {{.hosts = "a", .drop_out = 0.25, .returns = 1}};
  OutageCalendar calendar(outages);
  double now = 0;
  int dropped = 0;
  constexpr int kComputations = 4000;
  for (int i = 0; i < kComputations; ++i) {
    calendar.compute(0, now, 2);
    if (calendar.next_change() < now + 2) ++dropped;
    while (std::isfinite(calendar.next_change())) calendar.take_next_change();
    now = std::max(now + 2, calendar.now());
  }
  // 0.028 is four standard deviations of the share of dropped computations.
  EXPECT_NEAR(dropped / static_cast<double>(kComputations), 0.25, 0.028);
  EXPECT_EQ(calendar.drop_outs(), dropped);
}

}  // namespace
}  // namespace dadsim::world
