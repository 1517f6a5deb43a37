#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sim/star.hpp"

// Compares simulated times with times computed by hand. A message takes α, the latency of its route, plus its bytes at
// the rate of the narrowest link. Sending returns at once. Messages of a pair are transferred one after the other, and
// each arrives α after its transfer.

namespace dadsim::sim {
namespace {

using test::same;
using test::Script;
using test::Star;
using test::time_on;

constexpr double kTolerance = 1e-9;  // relative

void expect_near_relative(double measured, double expected) {
  EXPECT_NEAR(measured, expected, kTolerance * std::abs(expected));
}

double sum_of_shares(const step::StepTiming& timing) {
  return std::accumulate(timing.bounds.begin(), timing.bounds.end(), 0.0,
                         [](double sum, const step::Bound& bound) { return sum + bound.share; });
}

void expect_consistent(const step::StepTiming& timing) {
  EXPECT_NEAR(sum_of_shares(timing), 1.0, 1e-9);
  EXPECT_DOUBLE_EQ(timing.compute_seconds + timing.exposed_seconds, timing.seconds);
  EXPECT_TRUE(std::ranges::is_sorted(timing.bounds, std::ranges::greater{}, &step::Bound::seconds));
}

TEST(Collectives, GatherTakesTheLongestMessage) {
  const Star star{.workers = 3};
  Script script(3);
  script.gather_and_answer(schedule::PerWorker({1e6, 3e6, 2e6}));
  const step::StepTiming timing = time_on(star, script.schedule());
  expect_near_relative(timing.seconds, star.to_hub(3e6) + star.to_hub(0));
  EXPECT_EQ(timing.compute_seconds, 0);
  EXPECT_EQ(timing.bytes_sent, (std::vector<double>{1e6, 3e6, 2e6, 0}));
  EXPECT_EQ(timing.bytes_received, (std::vector<double>{0, 0, 0, 6e6}));
  ASSERT_EQ(timing.bounds.size(), 3U);
  EXPECT_EQ(timing.bounds[0].resource, "up1");
  EXPECT_EQ(timing.bounds[0].kind, "bandwidth");
  expect_near_relative(timing.bounds[0].seconds, 3.0);
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(timing.bounds[i].kind, "latency");
    expect_near_relative(timing.bounds[i].seconds, 0.01);
  }
  const auto route = [&](const std::string& name) {
    return std::ranges::count(timing.bounds, name, &step::Bound::resource);
  };
  EXPECT_EQ(route("w1 → hub"), 1);
  EXPECT_EQ(route("hub → w0"), 1);  // the message that ends last; among equal ones, the first
  expect_consistent(timing);
}

TEST(Collectives, BroadcastGoesToAllAtOnce) {
  const Star star{.workers = 4};
  Script script(4);
  script.wait(script.broadcast(5e5));
  const step::StepTiming timing = time_on(star, script.schedule());
  expect_near_relative(timing.seconds, star.to_hub(5e5));
  EXPECT_EQ(timing.bytes_sent, (std::vector<double>{0, 0, 0, 0, 2e6}));
  EXPECT_EQ(timing.bytes_received, (std::vector<double>{5e5, 5e5, 5e5, 5e5, 0}));
  expect_consistent(timing);
}

/// Returns the seconds of `count` Gloo all-reduces that three workers issue at once; one segment takes `segment`
/// seconds.
double gloo_all_reduces(int count, double segment) {
  const Star star{.workers = 3};  // 20 ms between two workers
  Script script(3, false);
  std::vector<std::int32_t> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(script.collective(step::CollectiveKind::all_reduce, same(6 * segment * star.rate), "gloo"));
  }
  for (const std::int32_t one : all) script.wait(one);
  return time_on(star, script.schedule()).seconds;
}

TEST(Collectives, GlooHasTwoSegmentsInFlightEachBehindAWordOfItsReceiver) {
  // Each half of the all-reduce has two steps: a notice to the sender (20 ms), then a segment back (20 ms + its
  // transfer). The second segment follows the first.
  expect_near_relative(gloo_all_reduces(1, 0.01), 2 * (2 * (0.02 + 0.02 + 0.01) + 0.01));
  // If a segment takes longer than notice and latency together, the next notice arrives in time and the line is never
  // idle.
  expect_near_relative(gloo_all_reduces(1, 0.1), 2 * (0.02 + 4 * 0.1 + 0.02));
}

TEST(Collectives, TwoGoOnAtOnceOverGloo) {
  const double one = gloo_all_reduces(1, 0.01);
  expect_near_relative(gloo_all_reduces(2, 0.01), one + 2 * 0.01);  // the second all-reduce sends after two segments of
                                                                    // the first
  expect_near_relative(gloo_all_reduces(3, 0.01), 2 * one);         // the third begins when the first has ended
}

TEST(Collectives, RingAllReduceTakesTwiceWorkersLessOneSteps) {
  for (const std::size_t workers : {2U, 3U, 8U}) {
    const Star star{.workers = workers};
    const double bytes = 1e6 / 3;  // neither a whole number of bytes nor divisible by the workers
    Script script(workers, false);
    script.wait(script.all_reduce(bytes));
    const step::StepTiming timing = time_on(star, script.schedule());
    const auto s = static_cast<double>(workers);
    expect_near_relative(timing.seconds, 2 * (s - 1) * star.between(bytes / s));
    for (std::size_t w = 0; w < workers; ++w) {
      expect_near_relative(timing.bytes_sent[w], 2 * (s - 1) * bytes / s);
      expect_near_relative(timing.bytes_received[w], 2 * (s - 1) * bytes / s);
    }
    expect_consistent(timing);
  }
}

TEST(Collectives, RingAllGatherWithOneLargeBlock) {
  const Star star{.workers = 4};
  Script script(4, false);
  script.wait(script.all_gather(schedule::PerWorker({4e6, 1e3, 1e3, 1e3})));
  const step::StepTiming timing = time_on(star, script.schedule());
  expect_near_relative(timing.seconds, 3 * star.between(4e6));  // the large block is sent in three rounds
  EXPECT_EQ(timing.bytes_sent,
            (std::vector<double>{4002000, 4002000, 4002000, 3000}));  // no rank sends its successor's block
  EXPECT_EQ(timing.bytes_received, (std::vector<double>{3000, 4002000, 4002000, 4002000}));
  expect_consistent(timing);
}

TEST(Collectives, RingAllGatherOfUnequalBlocks) {
  const Star star{.workers = 5};
  const std::vector<double> blocks{7e5, 1e5, 3e6, 0, 9e5};
  Script script(5, false);
  script.wait(script.all_gather(schedule::PerWorker(blocks)));
  const step::StepTiming timing = time_on(star, script.schedule());
  // `ready`: when worker w enters the next step, having received the message of this one. Messages to w + 1 are
  // transferred one after the other, and each arrives two link latencies later.
  std::vector<double> ready(5, 0.0);
  std::vector<double> end(5, 0.0);  // end of the last transfer from w to w + 1
  for (std::size_t step = 0; step < 4; ++step) {
    for (std::size_t w = 0; w < 5; ++w) {
      end[w] = std::max(ready[w], end[w]) + star.transfer(blocks[(w + 5 - step) % 5]);
    }
    for (std::size_t w = 0; w < 5; ++w) ready[w] = std::max(ready[w], end[(w + 4) % 5] + 2 * star.latency);
  }
  expect_near_relative(timing.seconds, *std::ranges::max_element(ready));
  expect_consistent(timing);
}

TEST(Collectives, RingsOfOneWorkerAreFree) {
  Script script(1, false);
  script.compute(0.5).wait(script.all_reduce(1e6)).wait(script.all_gather(same(1e6)));
  const step::StepTiming timing = time_on(Star{.workers = 1}, script.schedule());
  expect_near_relative(timing.seconds, 0.5);
  EXPECT_EQ(timing.bytes_sent, std::vector<double>{0});
  ASSERT_EQ(timing.bounds.size(), 1U);
  EXPECT_EQ(name_of(timing.bounds[0]), "w0 (clockwork)");
  EXPECT_EQ(timing.bounds[0].kind, "compute");
}

TEST(Collectives, OneWorkerStillTalksToTheAggregator) {
  const Star star{.workers = 1};
  Script script(1);
  const auto up = script.gather(1e6);
  script.wait(up, step::Role::aggregator);
  const auto down = script.broadcast(2e6);
  script.wait(down);
  expect_near_relative(time_on(star, script.schedule()).seconds, star.to_hub(1e6) + star.to_hub(2e6));
}

TEST(Collectives, AnEmptyMessageTakesTheLatency) {
  const Star star{.workers = 2};
  Script script(2);
  script.wait(script.broadcast(0.0));
  const step::StepTiming timing = time_on(star, script.schedule());
  expect_near_relative(timing.seconds, star.latency);
  ASSERT_EQ(timing.bounds.size(), 1U);
  EXPECT_EQ(timing.bounds[0].kind, "latency");
  EXPECT_EQ(timing.bounds[0].share, 1.0);
}

TEST(Collectives, AMessageWithoutLatencyTakesItsBytes) {
  const Star star{.workers = 2, .latency = 0};
  Script script(2);
  script.wait(script.broadcast(1e6));
  expect_near_relative(time_on(star, script.schedule()).seconds, 1.0);
}

TEST(Collectives, NothingTakesNoTime) {
  const Star star{.workers = 2, .latency = 0};
  Script script(2);
  script.compute(0.0).gather_and_answer(0.0);
  const step::StepTiming timing = time_on(star, script.schedule());
  EXPECT_EQ(timing.seconds, 0);
  EXPECT_TRUE(timing.bounds.empty());
}

TEST(Collectives, MicrosecondsAreNotRoundedAway) {
  // An InfiniBand fabric: 25 GB/s, 0.6 µs per link, kernels of 5 µs.
  const Star star{.workers = 2, .rate = 25e9, .latency = 6e-7};
  Script script(2, false);
  script.compute(5e-6).wait(script.all_reduce(1000)).compute(5e-6);
  expect_near_relative(time_on(star, script.schedule()).seconds, 1e-5 + 2 * star.between(500));
}

TEST(Collectives, ALongFastLineIsNotThrottledByAWindow) {
  const Star star{.workers = 1, .rate = 1.25e9, .latency = 0.1};
  Script script(1);
  script.wait(script.broadcast(1.25e9));
  expect_near_relative(time_on(star, script.schedule()).seconds, star.to_hub(1.25e9));
}

// ---- contention ----

TEST(Contention, EqualMessagesShareTheHubEqually) {
  const Star star{.workers = 5, .rate = 1e6, .hub_rate = 2e6};
  Script script(5);
  script.gather_and_answer(1e6);
  const step::StepTiming timing = time_on(star, script.schedule());
  expect_near_relative(timing.seconds, star.latency + 5 * 1e6 / 2e6 + star.latency);
  EXPECT_EQ(timing.bounds.at(0).resource, "hub-in");
  EXPECT_EQ(timing.bounds.at(0).kind, "bandwidth");
  expect_consistent(timing);
}

TEST(Contention, WhatAShortMessageLeavesTheLongOneGets) {
  const Star star{.workers = 2, .rate = 10e6, .hub_rate = 2e6};
  Script both(2);
  both.gather_and_answer(schedule::PerWorker({1e6, 3e6}));
  expect_near_relative(time_on(star, both.schedule()).seconds, star.latency + (1e6 + 3e6) / 2e6 + star.latency);
  // For the second in which both messages are in transit, the short one gets half of the rate.
  Script first(2);
  const auto shorter = first.gather(schedule::PerWorker({1e6, 0}));
  first.gather(schedule::PerWorker({0, 3e6}));
  first.wait(shorter, step::Role::aggregator).compute(5.0, step::Role::aggregator).wait(first.broadcast(0));
  expect_near_relative(time_on(star, first.schedule()).seconds, star.latency + 1.0 + 5.0 + star.latency);
}

TEST(Contention, AnAmpleHubLimitsNobody) {
  const Star star{.workers = 3, .rate = 1e6, .hub_rate = 3e6};
  Script script(3);
  script.wait(script.broadcast(1e6));
  const step::StepTiming timing = time_on(star, script.schedule());
  expect_near_relative(timing.seconds, star.to_hub(1e6));
}

TEST(Contention, OppositeDirectionsDoNotMeet) {
  const Star star{.workers = 2, .rate = 1e6};
  Script script(2);
  const auto up = script.gather(1e6);
  const auto down = script.broadcast(1e6);
  script.wait(up).wait(down);
  expect_near_relative(time_on(star, script.schedule()).seconds, star.to_hub(1e6));
}

TEST(Contention, SharesAreEqualWhateverTheLatency) {
  // Both workers send through a hub of 1 MB/s. Worker 1 has twice the latency, yet each gets half of the rate while
  // both send.
  const test::TemporaryFile file(test::platform_xml(
      "<host id=\"w0\" speed=\"1Gf\"/><host id=\"w1\" speed=\"1Gf\"/><host id=\"hub\" speed=\"1Gf\"/>"
      "<link id=\"near\" bandwidth=\"1GBps\" latency=\"10ms\"/><link id=\"far\" bandwidth=\"1GBps\" latency=\"20ms\"/>"
      "<link id=\"hub-in\" bandwidth=\"1MBps\" latency=\"0s\"/>"
      "<route src=\"w0\" dst=\"hub\"><link_ctn id=\"near\"/><link_ctn id=\"hub-in\"/></route>"
      "<route src=\"w1\" dst=\"hub\"><link_ctn id=\"far\"/><link_ctn id=\"hub-in\"/></route>"));
  Script script(2);
  const auto near = script.gather(schedule::PerWorker({1e6, 0}));
  script.gather(schedule::PerWorker({0, 9e6}));
  script.wait(near, step::Role::aggregator).compute(50.0, step::Role::aggregator).wait(script.broadcast(0));
  const std::vector<schedule::Schedule> schedules{script.schedule()};
  const double seconds = time_schedules(test::cluster_on(file.path(), 2), schedules).steps.at(0).seconds;
  // Worker 0's message: 1 MB at 0.5 MB/s and 10 ms. Then 50 s of computing, and the empty answer to worker 1: 20 ms.
  expect_near_relative(seconds, 2.0 + 0.01 + 50.0 + 0.02);
}

TEST(Contention, WorkersOnOneHostTalkOverTheLoopback) {
  const test::TemporaryFile file(test::platform_xml("<host id=\"hub\" speed=\"1Gf\" core=\"2\"/>"));
  Cluster cluster = test::cluster_on(file.path(), 1);
  cluster.hosts = {"hub"};
  Script script(1);
  script.wait(script.broadcast(1e10));
  const std::vector<schedule::Schedule> schedules{script.schedule()};
  expect_near_relative(time_schedules(cluster, schedules).steps.at(0).seconds, 1.0);
}

// ---- whole steps ----

TEST(Steps, CommunicationHidesBehindTheBackwardPass) {
  // Gradients are shared layer by layer, last layer first, while gradients of earlier layers are still computed.
  const Star star{.workers = 4};
  const std::vector<double> backward{0.3, 0.8, 0.2};  // seconds, last layer first
  const std::vector<double> bytes{8e5, 4e5, 1.2e6};
  const double forward = 0.6;
  const double update = 0.05;
  Script script(4, false);
  script.compute(forward);
  std::vector<std::int32_t> reductions;
  for (std::size_t layer = 0; layer < 3; ++layer) {
    script.compute(backward[layer]);
    reductions.push_back(script.all_reduce(bytes[layer]));
  }
  for (const std::int32_t reduction : reductions) script.wait(reduction).compute(update);
  const step::StepTiming timing = time_on(star, script.schedule());

  double computed = forward;
  double network_free = 0;
  std::vector<double> reduced;
  for (std::size_t layer = 0; layer < 3; ++layer) {
    computed += backward[layer];
    network_free = std::max(network_free, computed) + 6 * star.between(bytes[layer] / 4);
    reduced.push_back(network_free);
  }
  double time = computed;
  for (std::size_t layer = 0; layer < 3; ++layer) time = std::max(time, reduced[layer]) + update;
  expect_near_relative(timing.seconds, time);
  expect_near_relative(timing.compute_seconds, computed + 3 * update);
  expect_consistent(timing);
}

TEST(Steps, GatherMergeBroadcastInAPipelineOfTwoLayers) {
  const Star star{.workers = 3};
  const double deltas = 0.4;        // seconds per layer at the workers
  const double merge = 0.7;         // seconds per layer at the aggregator
  const double up[2] = {6e5, 9e5};  // bytes
  const double down[2] = {1.5e6, 2e5};
  Script script(3);
  std::vector<std::int32_t> shared;
  for (int layer = 0; layer < 2; ++layer) {
    script.compute(deltas);
    const auto gathered = script.gather(up[layer]);
    script.wait(gathered, step::Role::aggregator).compute(merge, step::Role::aggregator);
    shared.push_back(script.broadcast(down[layer]));
  }
  for (const std::int32_t broadcast : shared) script.wait(broadcast);
  script.compute(0.1);
  const step::StepTiming timing = time_on(star, script.schedule());

  // The second message of a pair starts after the transfer of the first and does not wait for its arrival.
  const double gathered0 = deltas + star.to_hub(up[0]);
  const double merged0 = gathered0 + merge;
  const double gathered1 = std::max(2 * deltas, deltas + star.transfer(up[0])) + star.to_hub(up[1]);
  const double merged1 = std::max(gathered1, merged0) + merge;
  const double shared1 = std::max(merged1, merged0 + star.transfer(down[0])) + star.to_hub(down[1]);
  expect_near_relative(timing.seconds, shared1 + 0.1);
  expect_near_relative(timing.compute_seconds, 2 * deltas + 0.1);
  EXPECT_EQ(timing.bytes_sent, (std::vector<double>{1.5e6, 1.5e6, 1.5e6, 3 * 1.7e6}));
  EXPECT_EQ(timing.bytes_received, (std::vector<double>{1.7e6, 1.7e6, 1.7e6, 3 * 1.5e6}));
  expect_consistent(timing);
}

TEST(Steps, AWorkerWaitsForTheSlowestAndTheBoundSaysSo) {
  const Star star{.workers = 3};
  Script script(3);
  script.compute(schedule::PerWorker({1.0, 4.0, 2.0}));
  const auto up = script.gather(1e5);
  script.wait(up, step::Role::aggregator).compute(0.5, step::Role::aggregator);
  script.wait(script.broadcast(1e5)).compute(schedule::PerWorker({0.3, 0.1, 0.2}));
  const step::StepTiming timing = time_on(star, script.schedule());
  expect_near_relative(timing.seconds, 4.0 + star.to_hub(1e5) + 0.5 + star.to_hub(1e5) + 0.3);
  expect_near_relative(timing.compute_seconds, 1.3);  // worker 0 ends last
  ASSERT_GE(timing.bounds.size(), 3U);
  EXPECT_EQ(name_of(timing.bounds[0]), "w1 (clockwork)");  // the step waits for worker 1
  expect_near_relative(timing.bounds[0].seconds, 4.0);
  EXPECT_EQ(name_of(timing.bounds[1]), "hub (clockwork)");
  EXPECT_EQ(name_of(timing.bounds[2]), "w0 (clockwork)");
  expect_consistent(timing);
}

TEST(Steps, AFastWorkersSecondGatherDoesNotWaitForASlowWorkersFirst) {
  const Star star{.workers = 2};
  Script script(2);
  script.compute(schedule::PerWorker({0.0, 10.0}));
  const auto first = script.gather(schedule::PerWorker({1e6, 1e6}));
  const auto second = script.gather(schedule::PerWorker({1e6, 0.0}));
  script.wait(first, step::Role::aggregator).wait(second, step::Role::aggregator).wait(script.broadcast(0));
  const step::StepTiming timing = time_on(star, script.schedule());
  // Worker 1's second message is empty and arrives together with its first. Both messages of worker 0 arrived long
  // before.
  expect_near_relative(timing.seconds, 10.0 + star.to_hub(1e6) + star.to_hub(0));
}

TEST(Steps, TheStepEndsWithTheLastWorkerNotWithTheLastMessage) {
  const Star star{.workers = 2};
  Script script(2);
  script.compute(0.5);
  script.gather(8e6);  // no rank waits for the gather
  script.compute(0.5).compute(20, step::Role::aggregator);
  const step::StepTiming timing = time_on(star, script.schedule());
  expect_near_relative(timing.seconds, 1.0);
  EXPECT_EQ(timing.bytes_sent, (std::vector<double>{8e6, 8e6, 0}));
  EXPECT_EQ(timing.bytes_received, (std::vector<double>{0, 0, 16e6}));
  expect_consistent(timing);
}

TEST(Steps, WhoSendsDoesNotWaitForTheDelivery) {
  Script script(2);
  script.wait(script.gather(5e6)).compute(0.5);
  const step::StepTiming timing = time_on(Star{.workers = 2}, script.schedule());
  expect_near_relative(timing.seconds, 0.5);
  EXPECT_EQ(timing.exposed_seconds, 0);
}

TEST(Steps, AWaitThatHasNothingToWaitForCostsNothing) {
  Script script(2);
  const auto gather = script.gather(1e6);
  script.compute(3.0).wait(gather).wait(gather);
  const step::StepTiming timing = time_on(Star{.workers = 2}, script.schedule());
  expect_near_relative(timing.seconds, 3.0);
  EXPECT_EQ(timing.bounds.size(), 1U);
}

TEST(Steps, RingsAndStarCollectivesInterleaveWithoutDeadlock) {
  const Star star{.workers = 3};
  Script script(3);
  std::vector<std::int32_t> all;
  for (int round = 0; round < 6; ++round) {
    script.compute(schedule::PerWorker({0.1 * round, 0.3, 0.05}));
    const auto up = script.gather(schedule::PerWorker({1e4, 0, 3e4}));
    all.push_back(script.all_reduce(3e4));
    script.wait(up, step::Role::aggregator).compute(0.2, step::Role::aggregator);
    all.push_back(script.broadcast(2e4));
    all.push_back(script.all_gather(schedule::PerWorker({1e4, 2e4, 0})));
    if (round % 2 == 1) script.wait(all[all.size() - 2]);
  }
  for (const std::int32_t collective : all) script.wait(collective);
  const step::StepTiming timing = time_on(star, script.schedule());
  EXPECT_GT(timing.seconds, 6 * 0.3);
  EXPECT_NEAR(timing.bytes_sent[0], 6 * (1e4 + 4 * 1e4 + 1e4 + 0), 1e-6);
  const double sent = std::accumulate(timing.bytes_sent.begin(), timing.bytes_sent.end(), 0.0);
  const double received = std::accumulate(timing.bytes_received.begin(), timing.bytes_received.end(), 0.0);
  EXPECT_NEAR(sent, received, 1e-6);
  expect_consistent(timing);
}

/// Messages back use the same links in reverse order, as with symmetrical routes of platform files. Each link is first
/// on one route and last on the other.
TEST(Connections, KeepTheirLatencyWhereALinkIsFirstAndLast) {
  const test::TemporaryFile file(
      test::platform_xml("<host id=\"w0\" speed=\"1Gf\"/><host id=\"w1\" speed=\"1Gf\"/>"
                         "<link id=\"l0\" bandwidth=\"1MBps\" latency=\"10ms\" sharing_policy=\"FATPIPE\"/>"
                         "<link id=\"l1\" bandwidth=\"1MBps\" latency=\"10ms\" sharing_policy=\"FATPIPE\"/>"
                         "<route src=\"w0\" dst=\"w1\"><link_ctn id=\"l0\"/><link_ctn id=\"l1\"/></route>"));
  CollectiveJob job;
  job.algorithm = "ring";
  job.request.bytes = {2e6};
  const std::vector<CollectiveJob> jobs{job};
  // An all-reduce of two ranks has two rounds of 1 MB (1 s) and 20 ms each.
  EXPECT_NEAR(time_collectives(test::cluster_on(file.path(), 2, false), jobs).timings.at(0).seconds, 2.04, 2e-9);
}

}  // namespace
}  // namespace dadsim::sim
