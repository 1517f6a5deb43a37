#include "world/play.hpp"

#include <gtest/gtest.h>

#include "world/closed_form_world.hpp"

namespace dadsim::world {
namespace {

ClosedFormWorld two_nodes(double latency = 0.1, double bandwidth = 100) {
  return ClosedFormWorld({.nodes = 2,
                          .line =
                              [=](Node, Node) {
                                return ClosedFormWorld::Line{latency, bandwidth};
                              },
                          .seconds = [](Node, const Work& work) { return static_cast<double>(work.steps); },
                          .link = [](Node from, Node to) { return std::to_string(from) + ">" + std::to_string(to); }});
}

Task<> asks(Play& play, std::vector<double>& dates) {
  for (std::int64_t i = 0; i < 3; ++i) {
    play.send(0, 1, "question", {.bytes = 50, .number = i}, "news");
    const Parcel answer = co_await play.receive(0, "answer");
    EXPECT_EQ(answer.number, 10 * i);
    dates.push_back(play.now());
  }
  play.stop();
}

Task<> answers(Play& play) {
  for (;;) {
    const Parcel question = co_await play.receive(1, "question");
    Work work{.pieces = {}, .steps = 2};
    if (!co_await play.compute(1, std::move(work))) continue;
    play.send(1, 0, "answer", {.bytes = 10, .number = 10 * question.number});
  }
}

TEST(Play, ParticipantsGoOnWhenWhatTheyAwaitHasCome) {
  ClosedFormWorld world = two_nodes();
  Play play(world, {"a", "b"});
  std::vector<double> dates;
  play.join(0, "asks", [&] { return asks(play, dates); });
  play.join(1, "answers", [&] { return answers(play); });
  play.run();
  ASSERT_EQ(dates.size(), 3U);
  const double turn = 0.1 + 0.5 + 2 + 0.1 + 0.1;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(dates[i], turn * static_cast<double>(i + 1), 1e-12);
  EXPECT_EQ(play.log().nodes[0].sent, 150);
  EXPECT_EQ(play.log().nodes[1].received, 150);
  EXPECT_EQ(play.log().nodes[1].busy, 6);
}

Task<> waits(Play& play, Node me, Channel channel) { co_await play.receive(me, channel); }

TEST(Play, ADeadlockIsDiagnosedByName) {
  ClosedFormWorld world = two_nodes();
  Play play(world, {"hospital-1", "hub"});
  play.join(0, "client", [&] { return waits(play, 0, "model"); });
  play.join(1, "server", [&] { return waits(play, 1, "update"); });
  try {
    play.run();
    FAIL() << "not stuck";
  } catch (const Stuck& stuck) {
    EXPECT_STREQ(stuck.what(),
                 "nothing is under way any more (deadlock): hospital-1 (client) waits for 'model' since 0 s; "
                 "hub (server) waits for 'update' since 0 s");
  }
}

Task<> idles(Play& play) {
  for (;;) co_await play.sleep(0, 3600);
}

TEST(Play, StarvationIsDiagnosed) {
  ClosedFormWorld world = two_nodes();
  Play play(world, {"a", "b"}, {.most_idle = 1e5});
  play.join(0, "idles", [&] { return idles(play); });
  EXPECT_THROW(play.run(), Stuck);
}

TEST(Play, AReceiverThatGoesDownLosesWhatIsOnItsWay) {
  ClosedFormWorld world = two_nodes();
  Play play(world, {"a", "b"});
  std::vector<std::string> seen;
  struct Story {
    static Task<> sender(Play& play, World& world, std::vector<std::string>& seen) {
      play.watch(0, 1, "news");
      play.send(0, 1, "data", {.bytes = 100}, "news");
      co_await play.sleep(0, 0.5);
      world.set_host(1, false);
      Parcel news = co_await play.receive(0, "news");
      seen.push_back(news.gone ? "gone" : "?");
      news = co_await play.receive(0, "news");
      seen.push_back(news.lost ? "lost" : "?");
      EXPECT_EQ(news.bytes, 100);
      world.set_host(1, true);
      news = co_await play.receive(0, "news");
      seen.push_back(news.back ? "back" : "?");
      play.send(0, 1, "data", {.bytes = 100}, "news");
      co_await play.sleep(0, 5);
      play.stop();
    }
    static Task<> receiver(Play& play, std::vector<std::string>& seen) {
      seen.emplace_back("begins");
      co_await play.receive(1, "data");
      seen.emplace_back("got it");
      co_await play.receive(1, "data");
    }
  };
  play.join(0, "sender", [&] { return Story::sender(play, world, seen); });
  play.join(1, "receiver", [&] { return Story::receiver(play, seen); });
  play.run();
  EXPECT_EQ(seen, (std::vector<std::string>{"begins", "gone", "lost", "begins", "back", "got it"}));
  const step::EventLog::NodeUse& use = play.log().nodes[0];
  EXPECT_EQ(use.sent, 200);
  EXPECT_EQ(use.lost, 100);
  EXPECT_EQ(play.log().nodes[1].received, 100);
  ASSERT_EQ(play.log().outages.size(), 1U);
  EXPECT_EQ(play.log().outages[0].node, 1);
  EXPECT_EQ(play.log().outages[0].begin, 0.5);
  EXPECT_EQ(play.log().outages[0].end - play.log().outages[0].begin, play.log().nodes[1].down);
}

TEST(Play, WhatLooksAtEveryEventCanEndIt) {
  ClosedFormWorld world = two_nodes();
  std::vector<double> dates;
  Play::Limits limits;
  limits.each_event = [&](const Play& play) {
    dates.push_back(play.now());
    if (dates.size() == 5) throw std::runtime_error("enough");
  };
  Play play(world, {"a", "b"}, limits);
  play.join(0, "idles", [&] { return idles(play); });
  EXPECT_THROW(play.run(), std::runtime_error);
  EXPECT_EQ(dates, (std::vector<double>{3600, 7200, 10800, 14400, 18000}));
}

/// A node that goes down and is not up again when the play ends.
Task<> breaks(Play& play, World& world) {
  co_await play.sleep(0, 2);
  world.set_host(1, false);
  co_await play.sleep(0, 3);
  play.stop();
}

TEST(Play, WhoIsDownAtTheEndWasDownUntilThen) {
  ClosedFormWorld world = two_nodes();
  Play play(world, {"a", "b"}, {.most_spans = 10});
  play.join(0, "breaks", [&] { return breaks(play, world); });
  play.join(1, "waits", [&] { return waits(play, 1, "model"); });
  play.run();
  ASSERT_EQ(play.log().outages.size(), 1U);
  EXPECT_EQ(play.log().outages[0].begin, 2);
  EXPECT_EQ(play.log().outages[0].end, 5);
  EXPECT_EQ(play.log().nodes[1].down, 3);
  EXPECT_EQ(play.log().spans.back().kind, step::EventLog::Span::Kind::down);
}

}  // namespace
}  // namespace dadsim::world
