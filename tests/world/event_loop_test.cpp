#include "world/event_loop.hpp"

#include <gtest/gtest.h>

#include "world/closed_form_world.hpp"

namespace dadsim::world {
namespace {

ClosedFormWorld two_nodes(double latency = 0.1, double bandwidth = 100) {
  return ClosedFormWorld({.nodes = 2,
                          .line =
                              [=](Node, Node) {
                                return ClosedFormWorld::SiteLine{latency, bandwidth};
                              },
                          .seconds = [](Node, const Work& work) { return static_cast<double>(work.steps); },
                          .link = [](Node from, Node to) { return std::to_string(from) + ">" + std::to_string(to); }});
}

Task<> asks(EventLoop& loop, std::vector<double>& dates) {
  for (std::int64_t i = 0; i < 3; ++i) {
    loop.send(0, 1, "question", {.bytes = 50, .number = i}, "news");
    const Parcel answer = co_await loop.receive(0, "answer");
    EXPECT_EQ(answer.number, 10 * i);
    dates.push_back(loop.now());
  }
  loop.stop();
}

Task<> answers(EventLoop& loop) {
  for (;;) {
    const Parcel question = co_await loop.receive(1, "question");
    Work work{.pieces = {}, .steps = 2};
    if (!co_await loop.compute(1, std::move(work))) continue;
    loop.send(1, 0, "answer", {.bytes = 10, .number = 10 * question.number});
  }
}

TEST(EventLoop, ParticipantsGoOnWhenWhatTheyAwaitHasCome) {
  ClosedFormWorld world = two_nodes();
  EventLoop loop(world, {"a", "b"});
  std::vector<double> dates;
  loop.join(0, "asks", [&] { return asks(loop, dates); });
  loop.join(1, "answers", [&] { return answers(loop); });
  loop.run();
  ASSERT_EQ(dates.size(), 3U);
  const double turn = 0.1 + 0.5 + 2 + 0.1 + 0.1;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(dates[i], turn * static_cast<double>(i + 1), 1e-12);
  EXPECT_EQ(loop.log().nodes[0].sent, 150);
  EXPECT_EQ(loop.log().nodes[1].received, 150);
  EXPECT_EQ(loop.log().nodes[1].busy, 6);
}

Task<> waits(EventLoop& loop, Node me, Channel channel) { co_await loop.receive(me, channel); }

TEST(EventLoop, ADeadlockIsDiagnosedByName) {
  ClosedFormWorld world = two_nodes();
  EventLoop loop(world, {"hospital-1", "hub"});
  loop.join(0, "client", [&] { return waits(loop, 0, "model"); });
  loop.join(1, "server", [&] { return waits(loop, 1, "update"); });
  try {
    loop.run();
    FAIL() << "not stuck";
  } catch (const Deadlock& stuck) {
    EXPECT_STREQ(stuck.what(),
                 "no event is pending (deadlock): hospital-1 (client) waits for 'model' since 0 s; "
                 "hub (server) waits for 'update' since 0 s");
  }
}

Task<> idles(EventLoop& loop) {
  for (;;) co_await loop.sleep(0, 3600);
}

TEST(EventLoop, StarvationIsDiagnosed) {
  ClosedFormWorld world = two_nodes();
  EventLoop loop(world, {"a", "b"}, {.most_idle = 1e5});
  loop.join(0, "idles", [&] { return idles(loop); });
  EXPECT_THROW(loop.run(), Deadlock);
}

Task<> insists(EventLoop& loop) {
  for (;;) {
    loop.send(0, 1, "model", {.bytes = 1}, "lost");
    co_await loop.receive(0, "lost");
    co_await loop.sleep(0, 1);
  }
}

TEST(EventLoop, SoManyFailuresAreStarvationToo) {
  ClosedFormWorld world = two_nodes();
  world.set_host(1, false);
  EventLoop loop(world, {"a", "b"}, {.most_idle_failures = 50});
  loop.join(0, "insists", [&] { return insists(loop); });
  try {
    loop.run();
    FAIL() << "it went on for ever";
  } catch (const Deadlock& stuck) {
    EXPECT_EQ(stuck.cause, Deadlock::DeadlockCause::starvation);
    EXPECT_EQ(world.now(), 100) << "50 of each node: " << stuck.what();
  }
}

TEST(EventLoop, AReceiverThatGoesDownLosesWhatIsOnItsWay) {
  ClosedFormWorld world = two_nodes();
  EventLoop loop(world, {"a", "b"});
  std::vector<std::string> seen;
  struct Story {
    static Task<> sender(EventLoop& loop, World& world, std::vector<std::string>& seen) {
      loop.watch(0, 1, "news");
      loop.send(0, 1, "data", {.bytes = 100}, "news");
      co_await loop.sleep(0, 0.5);
      world.set_host(1, false);
      Parcel news = co_await loop.receive(0, "news");
      seen.push_back(news.gone ? "gone" : "?");
      news = co_await loop.receive(0, "news");
      seen.push_back(news.lost ? "lost" : "?");
      EXPECT_EQ(news.bytes, 100);
      world.set_host(1, true);
      news = co_await loop.receive(0, "news");
      seen.push_back(news.back ? "back" : "?");
      loop.send(0, 1, "data", {.bytes = 100}, "news");
      co_await loop.sleep(0, 5);
      loop.stop();
    }
    static Task<> receiver(EventLoop& loop, std::vector<std::string>& seen) {
      seen.emplace_back("begins");
      co_await loop.receive(1, "data");
      seen.emplace_back("got it");
      co_await loop.receive(1, "data");
    }
  };
  loop.join(0, "sender", [&] { return Story::sender(loop, world, seen); });
  loop.join(1, "receiver", [&] { return Story::receiver(loop, seen); });
  loop.run();
  EXPECT_EQ(seen, (std::vector<std::string>{"begins", "gone", "lost", "begins", "back", "got it"}));
  const step::EventLog::NodeUse& use = loop.log().nodes[0];
  EXPECT_EQ(use.sent, 200);
  EXPECT_EQ(use.lost, 100);
  EXPECT_EQ(loop.log().nodes[1].received, 100);
  ASSERT_EQ(loop.log().outages.size(), 1U);
  EXPECT_EQ(loop.log().outages[0].node, 1);
  EXPECT_EQ(loop.log().outages[0].begin, 0.5);
  EXPECT_EQ(loop.log().outages[0].end - loop.log().outages[0].begin, loop.log().nodes[1].down);
}

TEST(EventLoop, WhatLooksAtEveryEventCanEndIt) {
  ClosedFormWorld world = two_nodes();
  std::vector<double> dates;
  EventLoop::Limits limits;
  limits.each_event = [&](const EventLoop& loop) {
    dates.push_back(loop.now());
    if (dates.size() == 5) throw std::runtime_error("enough");
  };
  EventLoop loop(world, {"a", "b"}, limits);
  loop.join(0, "idles", [&] { return idles(loop); });
  EXPECT_THROW(loop.run(), std::runtime_error);
  EXPECT_EQ(dates, (std::vector<double>{3600, 7200, 10800, 14400, 18000}));
}

/// Takes node 1 down, which stays down until the simulation ends.
Task<> breaks(EventLoop& loop, World& world) {
  co_await loop.sleep(0, 2);
  world.set_host(1, false);
  co_await loop.sleep(0, 3);
  loop.stop();
}

TEST(EventLoop, WhoIsDownAtTheEndWasDownUntilThen) {
  ClosedFormWorld world = two_nodes();
  EventLoop loop(world, {"a", "b"}, {.most_spans = 10});
  loop.join(0, "breaks", [&] { return breaks(loop, world); });
  loop.join(1, "waits", [&] { return waits(loop, 1, "model"); });
  loop.run();
  ASSERT_EQ(loop.log().outages.size(), 1U);
  EXPECT_EQ(loop.log().outages[0].begin, 2);
  EXPECT_EQ(loop.log().outages[0].end, 5);
  EXPECT_EQ(loop.log().nodes[1].down, 3);
  EXPECT_EQ(loop.log().spans.back().kind, step::EventLog::Span::Kind::down);
}

}  // namespace
}  // namespace dadsim::world
