#include "world/framework_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "world/closed_form_world.hpp"

namespace dadsim::world {
namespace {

using spec::FrameworkSpec;

constexpr Node kServer = 6;

/// Returns six clients and a server with lines of 100 byte/s and half a second of latency.
ClosedFormWorld seven_nodes() {
  return ClosedFormWorld({.nodes = 7,
                          .line =
                              [](Node, Node) {
                                return ClosedFormWorld::SiteLine{0.5, 100};
                              },
                          .seconds = [](Node, const Work&) { return 1.0; },
                          .link = [](Node from, Node to) { return std::to_string(from) + ">" + std::to_string(to); }});
}

FrameworkSpec own(const auto& change) {
  FrameworkSpec framework;
  change(framework);
  return framework;
}

/// Returns the date at which each activity ended, negative if it failed.
std::map<Activity, double> ends_of(World& world) {
  std::map<Activity, double> ends;
  while (const std::optional<Event> event = world.next()) {
    if (event->kind == Event::Kind::done) ends[event->activity] = event->at;
    if (event->kind == Event::Kind::failed) ends[event->activity] = -event->at;
  }
  return ends;
}

TEST(FrameworkWorld, PacksCarriesUnpacksAndSumsOneAfterTheOther) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) {
                         one.serialise = 50;
                         one.copy = 200;
                         one.server_deserialise = 25;
                         one.aggregate = 20;
                       }),
                       7, kServer, 1000);
  const Activity message = world.send(2, kServer, 100);
  // 2 + 0.5 s to serialise and copy, 1.5 s on the line, 4 s to deserialise and 5 s to sum.
  EXPECT_NEAR(ends_of(world).at(message), 13, 1e-12);
  EXPECT_NEAR(world.busy(2), 2.5, 1e-12);
  EXPECT_NEAR(world.busy(kServer), 9, 1e-12);
}

TEST(FrameworkWorld, StreamsAllOfItSideBySide) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) {
                         one.serialise = 50;
                         one.server_deserialise = 25;
                         one.streams = true;
                       }),
                       7, kServer, 1000);
  const Activity message = world.send(2, kServer, 100);
  EXPECT_NEAR(ends_of(world).at(message), 4, 1e-12) << "the slowest part alone";
}

TEST(FrameworkWorld, CoresOfTheServerAreShared) {
  for (const std::int64_t cores : {1, 4, 6, 9}) {
    ClosedFormWorld lines = seven_nodes();
    FrameworkWorld world(lines, own([&](FrameworkSpec& one) {
                           one.server_serialise = 50;
                           one.deserialise = 20;
                           one.server_cores = cores;
                         }),
                         7, kServer, 1000);
    std::vector<Activity> messages;
    for (Node client = 0; client < 6; ++client) messages.push_back(world.send(kServer, client, 100));
    const std::map<Activity, double> ends = ends_of(world);
    const double packed = 2 * std::max(1.0, 6.0 / static_cast<double>(cores));
    for (const Activity message : messages) EXPECT_NEAR(ends.at(message), packed + 1.5 + 5, 1e-9) << cores;
  }
}

TEST(FrameworkWorld, UnequalMessagesLeaveAsSharesDo) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) { one.server_deserialise = 10; }), 7, kServer, 1000);
  // The messages arrive after 1.5 and 2.5 s. The first then has 9 of its 10 s of work left. Both share the processor,
  // and the second, of 20 s, ends last.
  const Activity small = world.send(0, kServer, 100);
  const Activity large = world.send(1, kServer, 200);
  const std::map<Activity, double> ends = ends_of(world);
  EXPECT_NEAR(ends.at(small), 2.5 + 2 * 9, 1e-9);
  EXPECT_NEAR(ends.at(large), 1.5 + 10 + 20, 1e-9) << "a processor that is never idle";
}

TEST(FrameworkWorld, KeepsTheOrderOfAPair) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) { one.serialise = 10; }), 7, kServer, 1000);
  const Activity large = world.send(0, kServer, 1000);
  const Activity small = world.send(0, kServer, 1);
  const std::map<Activity, double> ends = ends_of(world);
  EXPECT_GE(ends.at(small), ends.at(large));
  EXPECT_NEAR(ends.at(large), 100.1 + 10.5, 1e-9) << "it shares its core with the small one for a while";
}

TEST(FrameworkWorld, ARoundBeginsAndClientsAsk) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) {
                         one.round = 3;
                         one.per_client = 0.25;
                       }),
                       7, kServer, 100);
  const Activity first = world.send(kServer, 0, 100);
  const Activity second = world.send(kServer, 1, 100);
  const Activity word = world.send(kServer, 2, 10);
  const std::map<Activity, double> ends = ends_of(world);
  EXPECT_NEAR(ends.at(first), 3.25 + 1.5, 1e-12);
  EXPECT_NEAR(ends.at(second), 3.5 + 1.5, 1e-12);
  EXPECT_NEAR(ends.at(word), 0.6, 1e-12) << "it is no model";

  ClosedFormWorld others = seven_nodes();
  FrameworkWorld polled(others, own([](FrameworkSpec& one) { one.polling = 8; }), 7, kServer, 100);
  std::vector<double> waits;
  for (Node client = 0; client < 6; ++client) {
    const Activity message = polled.send(kServer, client, 100);
    waits.push_back(ends_of(polled).at(message) - 1.5);
    EXPECT_LT(waits.back(), 8.0 * (client + 1) + 1.5 * client);
  }
  EXPECT_GT(*std::ranges::max_element(waits), *std::ranges::min_element(waits));
}

TEST(FrameworkWorld, IdleConnectionsAreCutOnce) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) { one.idle_cut = 240; }), 7, kServer, 100);
  const auto end_of = [&](Activity message) { return ends_of(world).at(message); };
  EXPECT_GT(end_of(world.send(kServer, 0, 100)), 0);
  EXPECT_GT(end_of(world.timer(300)), 0);
  EXPECT_LT(end_of(world.send(0, kServer, 100)), 0) << "nothing went over it for 300 s";
  EXPECT_GT(end_of(world.send(0, kServer, 100)), 0) << "a new connection";
  EXPECT_EQ(world.cut_connections(), 1);
}

TEST(FrameworkWorld, OneThatSendsAgainAfterAPauseHasANewConnection) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) { one.idle_cut = 10; }), 7, kServer, 100);
  const auto end_of = [&](Activity message) { return ends_of(world).at(message); };
  EXPECT_GT(end_of(world.send(kServer, 0, 100)), 0);
  EXPECT_GT(end_of(world.timer(20)), 0);
  EXPECT_LT(end_of(world.send(0, kServer, 100)), 0);
  EXPECT_GT(end_of(world.timer(20)), 0);
  EXPECT_GT(end_of(world.send(0, kServer, 100)), 0) << "it was opened for this message, however late that comes";
}

TEST(FrameworkWorld, AConnectionWithAMessageUnderWayIsNotIdle) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) { one.idle_cut = 10; }), 7, kServer, 100);
  const Activity slow = world.send(0, kServer, 5000);  // 50.5 s
  const Activity timer = world.timer(20);
  EXPECT_EQ(world.next()->activity, timer);
  const Activity back = world.send(kServer, 0, 100);
  const std::map<Activity, double> ends = ends_of(world);
  EXPECT_GT(ends.at(slow), 0);
  EXPECT_GT(ends.at(back), 0);
  EXPECT_EQ(world.cut_connections(), 0);
}

TEST(FrameworkWorld, WhatIsPackedOnANodeThatGoesDownIsLost) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) { one.serialise = one.server_deserialise = 10; }), 7, kServer,
                       1000);
  const Activity packed = world.send(0, kServer, 100);
  const Activity other = world.send(1, kServer, 100);
  const Activity timer = world.timer(5);
  EXPECT_EQ(world.next()->activity, timer);
  world.set_host(0, false);
  const std::map<Activity, double> ends = ends_of(world);
  EXPECT_NEAR(ends.at(packed), -5, 1e-12);
  EXPECT_NEAR(ends.at(other), 10 + 1.5 + 10, 1e-12) << "alone at the server";
}

TEST(FrameworkWorld, ACancelledMessageHoldsNobodyUp) {
  ClosedFormWorld lines = seven_nodes();
  FrameworkWorld world(lines, own([](FrameworkSpec& one) { one.server_serialise = 10; }), 7, kServer, 1000);
  const Activity gone = world.send(kServer, 0, 100);
  const Activity stays = world.send(kServer, 1, 100);
  const Activity timer = world.timer(4);
  EXPECT_EQ(world.next()->activity, timer);
  world.cancel(gone);
  const std::map<Activity, double> ends = ends_of(world);
  EXPECT_FALSE(ends.contains(gone));
  EXPECT_NEAR(ends.at(stays), 4 + 8 + 1.5, 1e-9) << "two of its ten seconds were done";
}

TEST(Frameworks, AreReadFromTheirTable) {
  for (const spec::FrameworkFacts& facts : spec::framework_facts()) {
    EXPECT_NE(facts.spec.none(), facts.tables.empty()) << facts.spec.name << ": it carries messages, or it trains";
    EXPECT_EQ(facts.spec.in_words(), facts.spec.name + " " + facts.spec.version);
  }
  EXPECT_EQ(spec::find_framework("flower", "")->spec.version, "1.20");
  EXPECT_EQ(spec::find_framework("flower", "1.19")->spec.longest_message, 2147483647);
  EXPECT_EQ(spec::find_framework("none", ""), nullptr);
}

}  // namespace
}  // namespace dadsim::world
