#include "world/outages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "world/closed_form_world.hpp"
#include "world/event_loop.hpp"

namespace dadsim::world {
namespace {

constexpr double kDay = 86400;

ClosedFormWorld world_of(std::size_t nodes, double seconds = 1) {
  return ClosedFormWorld({.nodes = nodes,
                          .line =
                              [](Node, Node) {
                                return ClosedFormWorld::SiteLine{0.1, 100};
                              },
                          .seconds = [seconds](Node, const Work&) { return seconds; },
                          .link = [](Node from, Node to) { return std::to_string(from) + ">" + std::to_string(to); }});
}

std::vector<std::string> named(const std::string& name, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(name + std::to_string(i));
  return names;
}

/// Returns the events of hosts that go down or come up until `end`.
std::vector<Event> changes_until(World& world, double end) {
  const Activity last = world.timer(end);
  std::vector<Event> changes;
  for (;;) {
    const std::optional<Event> event = world.next();
    if (!event || event->activity == last) return changes;
    changes.push_back(*event);
  }
}

/// Sums over all completed periods of hosts that are up or down: seconds, squares and counts.
struct Periods {
  double up = 0, down = 0, up_squared = 0;
  double ups = 0, downs = 0;
};
Periods periods_of(const std::vector<Event>& events, std::size_t hosts) {
  Periods periods;
  std::vector<double> since(hosts, 0);
  for (const Event& event : events) {
    double& begin = since[static_cast<std::size_t>(event.node)];
    const double length = event.at - begin;
    begin = event.at;
    if (event.kind == Event::Kind::host_down) {
      periods.up += length;
      periods.up_squared += length * length;
      ++periods.ups;
    } else {
      periods.down += length;
      ++periods.downs;
    }
  }
  return periods;
}

TEST(Outages, RandomFailuresHaveTheirMeansAndShape) {
  ClosedFormWorld inner = world_of(200);
  UnreliableWorld world(inner, {.what = {.random = {{.match = "h*", .mean_up = 1000, .shape = 2, .mean_down = 100}}},
                                .hosts = named("h", 200)});
  // The simulation is so long that cutting off the last periods changes the means by only 1 %.
  const Periods periods = periods_of(changes_until(world, 2e5), 200);
  const double n = periods.ups;
  EXPECT_NEAR(n, 200 * 2e5 / 1100, 0.02 * 200 * 2e5 / 1100);
  const double mean = periods.up / n;
  // A Weibull distribution of shape 2 has a coefficient of variation of √(4/π − 1) = 0.5227.
  EXPECT_NEAR(mean, 1000, 10 + 4 * 522.7 / std::sqrt(n));
  const double deviation = std::sqrt(periods.up_squared / n - mean * mean);
  EXPECT_NEAR(deviation / mean, 0.5227, 0.02);
  EXPECT_NEAR(periods.down / periods.downs, 100, 1 + 4 * 100 / std::sqrt(periods.downs));
}

TEST(Outages, LinksFailWithoutTheCallerHearingOfIt) {
  ClosedFormWorld inner = world_of(2);
  UnreliableWorld world(inner, {.what = {.random = {{.links = true, .match = "0>1", .mean_up = 50, .mean_down = 50}}},
                                .hosts = named("h", 2),
                                .links = {"0>1", "1>0"}});
  EXPECT_FALSE(world.next().has_value());  // no activity is pending
  std::int64_t failed = 0;
  std::int64_t back_failed = 0;
  for (int i = 0; i < 2000; ++i) {
    for (const auto& [from, to, count] : {std::tuple{0, 1, &failed}, std::tuple{1, 0, &back_failed}}) {
      const Activity sent = world.send(from, to, 90);  // a message of one second
      const std::optional<Event> event = world.next();
      ASSERT_TRUE(event && event->activity == sent);
      *count += event->kind == Event::Kind::failed ? 1 : 0;
    }
    world.timer(10);
    world.next();
  }
  EXPECT_EQ(back_failed, 0);
  EXPECT_GT(world.calendar().link_outages(), 100);
  // The link is down half of the time, and an outage every 50 s hits a message of 1 s, which adds 1 %. Of the 2000
  // samples, 11 s apart, about 2000·11/100·2 are independent.
  EXPECT_NEAR(static_cast<double>(failed) / 2000, 0.51, 0.1);
}

TEST(Outages, WindowsOfTheDayAreExact) {
  ClosedFormWorld inner = world_of(300);
  const spec::AvailabilitySpec night{.hosts = "h*",
                                     .by = spec::AvailabilitySpec::By::diurnal,
                                     .from = 22 * 3600.0,
                                     .until = 6 * 3600.0,
                                     .spread = 4 * 3600.0};
  UnreliableWorld world(inner, {.what = {.availability = {night}}, .hosts = named("h", 300)});
  for (Node node = 0; node < 300; ++node)
    EXPECT_TRUE(world.is_up(node));  // every window includes midnight: it begins
                                     // between 20:00 and 24:00
  std::map<Node, std::vector<double>> dates;
  for (const Event& event : changes_until(world, 10 * kDay)) dates[event.node].push_back(event.at);
  double phases = 0;
  double least = kDay;
  double most = -kDay;
  for (const auto& [node, own] : dates) {
    ASSERT_GE(own.size(), 19U);
    const double phase = own[0] - 6 * 3600.0;
    phases += phase;
    least = std::min(least, phase);
    most = std::max(most, phase);
    for (std::size_t i = 0; i < own.size(); ++i) {
      const double expected = static_cast<double>(i / 2) * kDay + (i % 2 == 0 ? 6 : 22) * 3600.0 + phase;
      EXPECT_NEAR(own[i], expected, 1e-5);
    }
  }
  EXPECT_EQ(dates.size(), 300U);
  EXPECT_GE(least, -7200);
  EXPECT_LE(most, 7200);
  EXPECT_NEAR(phases / 300, 0, 4 * 4 * 3600 / std::sqrt(12.0 * 300));
}

// A host stays down for good if it has left, or if its two rules alternate. Its other rules then cause no events, and
// no wait ends with them. If a rule lets the host return, it comes up as soon as both rules allow it.
TEST(Outages, AHostThatIsKeptDownIsNotWaitedForByItsOtherRules) {
  using spec::AvailabilitySpec;
  AvailabilitySpec days{.hosts = "h1", .by = AvailabilitySpec::By::diurnal};
  days.until = kDay;
  days.period = 3 * kDay;
  AvailabilitySpec others = days;
  others.from = 1.5 * kDay;
  others.until = 2.5 * kDay;
  const auto events_of = [](const spec::FailureSpec& what) {
    ClosedFormWorld inner = world_of(2);
    UnreliableWorld world(inner, {.what = what, .hosts = named("h", 2)});
    std::vector<double> dates;
    while (const std::optional<Event> event = world.next()) {
      dates.push_back(event->at / kDay);
      if (dates.size() > 10) break;
    }
    return dates;
  };
  spec::FailureSpec gone{.availability = {days}};
  gone.outages.push_back({.match = "h1", .from = 5 * kDay});
  EXPECT_EQ(events_of(gone), (std::vector<double>{1, 3, 4}));
  EXPECT_EQ(events_of({.availability = {days, others}}), (std::vector<double>{0}));
  spec::FailureSpec back{.availability = {days}};
  back.outages.push_back({.match = "h1", .from = 5 * kDay, .seconds = 5.5 * kDay});
  back.outages.push_back({.match = "h1", .from = 13 * kDay});
  EXPECT_EQ(events_of(back), (std::vector<double>{1, 3, 4, 12, 13}));
}

TEST(Outages, WhatIsNotThereAtMidnightIsDownFromTheBeginning) {
  ClosedFormWorld inner = world_of(2);
  const spec::AvailabilitySpec day{
      .hosts = "h1", .by = spec::AvailabilitySpec::By::diurnal, .from = 8 * 3600.0, .until = 20 * 3600.0};
  UnreliableWorld world(inner, {.what = {.availability = {day}}, .hosts = named("h", 2)});
  EXPECT_TRUE(world.is_up(0));
  EXPECT_FALSE(world.is_up(1));
  const std::vector<Event> changes = changes_until(world, kDay);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].at, 0);
  EXPECT_NEAR(changes[1].at, 8 * 3600, 1e-6);
  EXPECT_NEAR(changes[2].at, 20 * 3600, 1e-6);
}

TEST(Outages, SessionsHaveTheirMeansAndBeginAtTheirShare) {
  ClosedFormWorld inner = world_of(2000);
  const spec::AvailabilitySpec sessions{
      .hosts = "*", .by = spec::AvailabilitySpec::By::sessions, .on = 1800, .off = 5400, .shape = 0.8};
  UnreliableWorld world(inner, {.what = {.availability = {sessions}}, .hosts = named("h", 2000)});
  double up = 0;
  for (Node node = 0; node < 2000; ++node) up += world.is_up(node) ? 1 : 0;
  EXPECT_NEAR(up / 2000, 0.25, 4 * std::sqrt(0.25 * 0.75 / 2000));
  const Periods periods = periods_of(changes_until(world, 20 * kDay), 2000);
  const double deviation = 1.2605;  // coefficient of variation of a Weibull of shape 0.8
  EXPECT_NEAR(periods.down / periods.downs, 5400, 5400 * (0.01 + 4 * deviation / std::sqrt(periods.downs)));
  EXPECT_NEAR(periods.up / periods.ups, 1800, 1800 * (0.01 + 4 * deviation / std::sqrt(periods.ups)));
}

TEST(Outages, ListedOnesComeWhenTheyAreListed) {
  ClosedFormWorld inner = world_of(4);
  spec::FailureSpec what;
  what.outages = {{.match = "a", .from = 10, .seconds = 5},
                  {.match = "a", .from = 12, .seconds = 10},  // overlaps the first outage: the host comes up after both
                  {.match = "b*", .from = 20},                // for good
                  {.match = "late", .from = 0, .seconds = 30}};
  what.availability = {{.hosts = "*",
                        .by = spec::AvailabilitySpec::By::file,
                        .changes = {{"b1", 5, false}, {"b1", 6, true}, {"b1", 7, true}}}};
  UnreliableWorld world(inner, {.what = what, .hosts = {"a", "b1", "b2", "late"}});
  std::vector<std::tuple<double, Node, bool>> seen;
  for (const Event& event : changes_until(world, 1000)) {
    seen.emplace_back(event.at, event.node, event.kind == Event::Kind::host_up);
  }
  const std::vector<std::tuple<double, Node, bool>> expected = {{0, 3, false},  {5, 1, false},  {6, 1, true},
                                                                {10, 0, false}, {20, 1, false}, {20, 2, false},
                                                                {22, 0, true},  {30, 3, true}};
  EXPECT_EQ(seen, expected);
  EXPECT_FALSE(world.next().has_value());  // the list of changes has ended
}

TEST(Outages, StateProfilesComeAgainAndAgain) {
  ClosedFormWorld inner = world_of(3);
  const std::vector<spec::StateProfileSpec> profiles = {
      {.name = "a", .changes = {{10, false}, {20, true}}, .period = 60},
      {.name = "b", .changes = {{0, false}, {3, true}, {3, false}, {5, true}}},  // the later of two changes at 3 counts
      {.name = "c", .changes = {{4, false}, {6, false}}, .period = 10},          // stays down: the period contains no
                                                                                 // change that brings it up
      {.name = "elsewhere", .changes = {{1, false}}},
      {.links = true, .name = "0>1", .changes = {{7, true}, {8, false}, {9, true}}, .period = 100},
      {.links = true, .name = "not there", .changes = {{1, false}}}};
  UnreliableWorld world(inner, {.profiles = profiles, .hosts = {"a", "b", "c"}, .links = {"0>1"}});
  EXPECT_FALSE(world.is_up(1));
  std::vector<std::tuple<double, Node, bool>> seen;
  for (const Event& event : changes_until(world, 200)) {
    seen.emplace_back(event.at, event.node, event.kind == Event::Kind::host_up);
  }
  const std::vector<std::tuple<double, Node, bool>> expected = {
      {0, 1, false}, {4, 2, false},   {5, 1, true},   {10, 0, false},  {20, 0, true}, {70, 0, false},
      {80, 0, true}, {130, 0, false}, {140, 0, true}, {190, 0, false}, {200, 0, true}};
  // The last event is due exactly at the end, so it may be missing.
  ASSERT_GE(seen.size(), expected.size() - 1);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], expected[i]) << i;
  EXPECT_EQ(world.calendar().link_outages(), 2);
}

TEST(Outages, ANodeOutOfNowhereIsAnError) {
  ClosedFormWorld inner = world_of(1);
  EXPECT_THROW(UnreliableWorld(inner, {.what = {.outages = {{.match = "phone-*"}}}, .hosts = {"h"}}),
               std::invalid_argument);
  EXPECT_THROW(UnreliableWorld(inner, {.what = {.outages = {{.links = true, .match = "*"}}}, .hosts = {"h"}}),
               std::invalid_argument);
}

TEST(Outages, DropOutsComeUniformlyOverComputationsWithTheirProbability) {
  constexpr std::size_t kNodes = 50;
  ClosedFormWorld inner = world_of(kNodes, 100);
  UnreliableWorld world(
      inner, {.what = {.availability = {{.hosts = "*", .drop_out = 0.2, .returns = 50}}}, .hosts = named("h", kNodes)});
  double begun = 0;
  double failed = 0;
  double moments = 0;
  double away = 0;
  double returned = 0;
  std::map<Activity, std::pair<Node, double>> computing;
  std::vector<double> down_at(kNodes);
  const auto begin = [&](Node node) {
    computing[world.compute(node, {.pieces = {}, .step = 0})] = {node, world.now()};
    ++begun;
  };
  for (Node node = 0; node < static_cast<Node>(kNodes); ++node) begin(node);
  while (begun < 20000) {
    const std::optional<Event> event = world.next();
    ASSERT_TRUE(event);
    if (event->kind == Event::Kind::host_up) {
      away += event->at - down_at[static_cast<std::size_t>(event->node)];
      ++returned;
      begin(event->node);
    } else if (event->kind == Event::Kind::host_down) {
      down_at[static_cast<std::size_t>(event->node)] = event->at;
    } else {
      const auto [node, since] = computing.at(event->activity);
      computing.erase(event->activity);
      if (event->kind == Event::Kind::failed) {
        ++failed;
        moments += event->at - since;
      } else {
        EXPECT_NEAR(event->at - since, 100, 1e-6);
        begin(node);
      }
    }
  }
  EXPECT_NEAR(failed / begun, 0.2, 4 * std::sqrt(0.2 * 0.8 / begun) + 50 / begun);
  EXPECT_NEAR(moments / failed, 50, 4 * 100 / std::sqrt(12 * failed));
  EXPECT_NEAR(away / returned, 50, 4 * 50 / std::sqrt(returned));
  EXPECT_GE(world.calendar().drop_outs(), static_cast<std::int64_t>(failed));
}

// Each of the two rules is drawn, as in an OutageCalendar: 1 − 0.8 · 0.7 of the computations fail, more than the 0.3 of
// one rule.
TEST(Outages, AHostDropsOutByEachOfItsRules) {
  constexpr std::size_t kNodes = 20;
  ClosedFormWorld inner = world_of(kNodes, 100);
  UnreliableWorld world(inner, {.what = {.availability = {{.hosts = "*", .drop_out = 0.2, .returns = 1},
                                                          {.hosts = "*", .drop_out = 0.3, .returns = 1}}},
                                .hosts = named("h", kNodes)});
  double begun = 0, failed = 0;
  std::map<Activity, Node> computing;
  const auto begin = [&](Node node) {
    computing[world.compute(node, {.pieces = {}, .step = 0})] = node;
    ++begun;
  };
  for (Node node = 0; node < static_cast<Node>(kNodes); ++node) begin(node);
  while (begun < 5000) {
    const std::optional<Event> event = world.next();
    ASSERT_TRUE(event);
    if (event->kind == Event::Kind::failed) ++failed;
    if (event->kind == Event::Kind::failed || event->kind == Event::Kind::host_down) continue;
    begin(event->kind == Event::Kind::host_up ? event->node : computing.at(event->activity));
  }
  EXPECT_NEAR(failed / begun, 0.44, 4 * std::sqrt(0.44 * 0.56 / begun) + kNodes / begun);
}

TEST(Outages, AComputationThatIsCancelledTakesItsDropOutWithIt) {
  ClosedFormWorld inner = world_of(1, 100);
  UnreliableWorld world(inner, {.what = {.availability = {{.hosts = "*", .drop_out = 1}}}, .hosts = {"h"}});
  world.cancel(world.compute(0, {.pieces = {}, .step = 0}));
  EXPECT_FALSE(world.next().has_value());
  EXPECT_TRUE(changes_until(world, 1e6).empty());
}

TEST(Outages, TheSameSeedGivesTheSameEvents) {
  const auto events = [](std::uint64_t seed) {
    ClosedFormWorld inner = world_of(20);
    UnreliableWorld world(
        inner, {.what = {.random = {{.match = "*", .mean_up = 1000, .mean_down = 100}},
                         .availability =
                             {{.hosts = "h1*", .by = spec::AvailabilitySpec::By::sessions, .on = 100, .off = 100}}},
                .hosts = named("h", 20),
                .seed = seed});
    std::vector<std::pair<double, Node>> dates;
    for (const Event& event : changes_until(world, 1e4)) dates.emplace_back(event.at, event.node);
    return dates;
  };
  EXPECT_EQ(events(1), events(1));
  EXPECT_NE(events(1), events(2));
  EXPECT_GT(events(1).size(), 100U);
}

// ---- checkpoints ----

Task<> computes(EventLoop& loop, std::int64_t& done, std::int64_t wanted) {
  while (done < wanted) {
    Work work{.pieces = {}, .step = done};
    const bool complete = co_await loop.compute(0, std::move(work));
    if (complete) ++done;
  }
}

TEST(Checkpoints, CostWhatTheyTakeToWriteToReadAndToCatchUp) {
  ClosedFormWorld inner = world_of(1, 10);
  // The fourth computation begins at 32: after three of 10 s, and a checkpoint of 2 s after the second. The outage at
  // 35 interrupts it.
  UnreliableWorld world(inner, {.what = {.outages = {{.match = "h", .from = 35, .seconds = 5}}}, .hosts = {"h"}});
  EventLoop loop(world, {"h"});
  loop.set_checkpoints(0, {.every = 20, .write = 2, .restore = 3});
  std::int64_t done = 0;
  loop.join(0, "computes", [&] { return computes(loop, done, 5); });
  loop.run();
  // The host is up at 40, restores until 43 and repeats the third computation until 53. Two more computations of 10 s
  // follow, with a checkpoint of 2 s between them.
  EXPECT_NEAR(loop.log().seconds, 53 + 10 + 2 + 10, 1e-9);
  const step::EventLog::NodeUse& use = loop.log().nodes[0];
  EXPECT_EQ(use.restored, 1);
  EXPECT_NEAR(use.lost_work, 10, 1e-9);
  EXPECT_NEAR(use.cut_short, 3, 1e-9);
  EXPECT_NEAR(use.checkpointing, 4, 1e-9);
  EXPECT_NEAR(use.down, 18, 1e-9);
}

/// Outages begin every 2 s, but restoring a checkpoint takes 3 s, so the run never gets on.
TEST(Checkpoints, OneThatIsNeverReadToItsEndIsStarvation) {
  ClosedFormWorld inner = world_of(1, 10);
  UnreliableWorld world(inner,
                        {.what = {.outages = {{.match = "h", .from = 5, .seconds = 1, .every = 2}}}, .hosts = {"h"}});
  EventLoop loop(world, {"h"}, {.most_idle_failures = 50});
  loop.set_checkpoints(0, {.every = 20, .write = 2, .restore = 3});
  std::int64_t done = 0;
  loop.join(0, "computes", [&] { return computes(loop, done, 5); });
  EXPECT_THROW(loop.run(), Deadlock);
  EXPECT_LT(inner.now(), 5 + 2 * 52);
  EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace dadsim::world
