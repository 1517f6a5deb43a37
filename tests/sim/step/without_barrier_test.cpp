#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/fidelity_notes.hpp"
#include "sim/star.hpp"
#include "sim/step/steady_state.hpp"

// Tests steps without a barrier, in which workers wait only for their neighbours.

namespace dadsim::sim {
namespace {

using test::cluster_on;
using test::Script;
using test::TemporaryFile;
using Graph = std::vector<std::vector<std::int32_t>>;

constexpr double kCompute = 0.5;  // seconds
constexpr double kBytesOfEach = 1e5;
constexpr double kLatency = 0.01;
constexpr double kQuick = kLatency + kBytesOfEach / 1e6;  // seconds of a message on a line of 1 MB/s
constexpr double kSlow = kLatency + kBytesOfEach / 1e5;   // seconds of a message on a line of 0.1 MB/s

Graph ring(std::int32_t workers) {
  Graph to(static_cast<std::size_t>(workers));
  for (std::int32_t i = 0; i < workers; ++i) {
    to[static_cast<std::size_t>(i)] = {(i + 1) % workers, (i + workers - 1) % workers};
  }
  return to;
}

Graph complete(std::int32_t workers) {
  Graph to(static_cast<std::size_t>(workers));
  for (std::int32_t i = 0; i < workers; ++i) {
    for (std::int32_t j = 0; j < workers; ++j) {
      if (i != j) to[static_cast<std::size_t>(i)].push_back(j);
    }
  }
  return to;
}

/// Returns a platform file with one line for every ordered pair of workers; the line from 0 to 1 has `first_rate`.
std::string lines_xml(std::size_t workers, double first_rate = 1e6) {
  std::string body;
  for (std::size_t i = 0; i < workers; ++i) body += fmt::format("<host id=\"w{}\" speed=\"1Gf\"/>\n", i);
  std::string routes;
  for (std::size_t i = 0; i < workers; ++i) {
    for (std::size_t j = 0; j < workers; ++j) {
      if (i == j) continue;
      const double rate = i == 0 && j == 1 ? first_rate : 1e6;
      body += fmt::format("<link id=\"l{}-{}\" bandwidth=\"{}Bps\" latency=\"{}s\"/>\n", i, j, rate, kLatency);
      routes += fmt::format("<route src=\"w{}\" dst=\"w{}\" symmetrical=\"NO\"><link_ctn id=\"l{}-{}\"/></route>\n", i,
                            j, i, j);
    }
  }
  return test::platform_xml(body + routes);
}

/// Returns a step of computing, after which each worker waits for its neighbours' messages.
schedule::Schedule exchange_step(const Graph& to) {
  Script script(to.size(), false);
  script.compute(kCompute);
  script.wait(script.collective(step::CollectiveKind::neighbour_exchange, test::same(kBytesOfEach)));
  schedule::Schedule schedule = script.schedule();
  for (schedule::Task& task : schedule.tasks) {
    if (auto* exchange = std::get_if<schedule::CollectiveTask>(&task.what)) {
      exchange->neighbours = std::make_shared<const step::Neighbours>(step::Neighbours{to});
    }
  }
  return schedule;
}

TimedRun timed(const Graph& to, double first_rate = 1e6) {
  const TemporaryFile file(lines_xml(to.size(), first_rate));
  const std::vector<schedule::Schedule> schedules(3, exchange_step(to));
  return time_schedules(cluster_on(file.path(), to.size(), false), schedules);
}

TEST(WithoutBarrier, ASlowLineOfARingDelaysByTheMeanOfItsCycle) {
  const TimedRun run = timed(ring(4), 1e5);
  // A cycle of two steps sends one message from 0 to 1 over the slow line, and one back.
  const double mean = kCompute + (kSlow + kQuick) / 2;
  EXPECT_NEAR(run.steps.at(0).seconds, mean, 1e-6 * mean);
  const double with_barrier = kCompute + kSlow;
  ASSERT_GE(run.first_steps.size(), 4U);
  EXPECT_NEAR(run.first_steps[0], with_barrier, 1e-9);
  // The second message waits until the first has left the slow line. From then on, a cycle of two steps repeats.
  EXPECT_NEAR(run.first_steps[1], with_barrier + kBytesOfEach / 1e5, 1e-9);
  EXPECT_NEAR(run.first_steps[3] - run.first_steps[1], 2 * mean, 1e-9);
  EXPECT_GT(with_barrier, 1.4 * mean);
}

TEST(WithoutBarrier, PartsOfASettledStepAddUp) {
  const step::StepTiming timing = timed(ring(4), 1e5).steps.at(0);
  EXPECT_NEAR(timing.compute_seconds, kCompute, 1e-9);
  EXPECT_NEAR(timing.compute_seconds + timing.exposed_seconds, timing.seconds, 1e-9);
  double seconds = 0;
  double shares = 0;
  for (const step::Bound& bound : timing.bounds) {
    seconds += bound.seconds;
    shares += bound.share;
  }
  EXPECT_NEAR(seconds, timing.seconds, 1e-9);
  EXPECT_NEAR(shares, 1, 1e-9);
  EXPECT_EQ(timing.bytes_sent, std::vector<double>(4, 2 * kBytesOfEach));
  EXPECT_EQ(timing.bytes_received, std::vector<double>(4, 2 * kBytesOfEach));
}

TEST(WithoutBarrier, AmongAllWithEqualLinesItIsAsIfThereWereOne) {
  const TimedRun run = timed(complete(5));
  EXPECT_NEAR(run.steps.at(0).seconds, kCompute + kQuick, 1e-9);
  EXPECT_NEAR(run.steps.at(0).seconds, run.first_steps.at(0), 1e-9);
}

TEST(WithoutBarrier, ASlowLineLimitsByItsBandwidthWhereTheCycleIsLong) {
  // Messages go one way around the ring, so a worker that leads waits for a message that has passed all others.
  Graph to(5);
  for (std::int32_t i = 0; i < 5; ++i) to[static_cast<std::size_t>(i)] = {(i + 1) % 5};
  const TimedRun run = timed(to, 1e5);
  // The mean over the cycle is less than the time that one message occupies the slow line, so this line decides.
  const double around = kCompute + (kSlow + 4 * kQuick) / 5;
  EXPECT_LT(around, kBytesOfEach / 1e5);
  EXPECT_NEAR(run.steps.at(0).seconds, kBytesOfEach / 1e5, 1e-6);
}

TEST(WithoutBarrier, OneWorkerOrNoEdgesSendNothing) {
  EXPECT_NEAR(timed(Graph(3)).steps.at(0).seconds, kCompute, 1e-9);
  EXPECT_NEAR(timed(Graph(1)).steps.at(0).seconds, kCompute, 1e-9);
}

TEST(WithoutBarrier, MessagesAreSimulatedWhateverFidelityIsAskedFor) {
  const TemporaryFile file(lines_xml(4, 1e5));
  Cluster cluster = cluster_on(file.path(), 4, false);
  cluster.network.fidelity = spec::Fidelity::flow;
  const std::vector<schedule::Schedule> schedules{exchange_step(ring(4))};
  const TimedRun run = time_schedules(cluster, schedules);
  EXPECT_EQ(run.network.fidelity, "message");
  EXPECT_NE(test::notes_of(run.network).find("no barrier"), std::string::npos) << test::notes_of(run.network);
  EXPECT_NEAR(run.steps.at(0).seconds, kCompute + (kSlow + kQuick) / 2, 1e-6);
}

TEST(WithoutBarrier, WithAnotherCollectiveThereIsOne) {
  const TemporaryFile file(lines_xml(4, 1e5));
  schedule::Schedule schedule = exchange_step(ring(4));
  schedule.tasks.push_back(
      {"layer", schedule::CollectiveTask{step::CollectiveKind::all_reduce, test::same(4e4), "ring"}});
  schedule.tasks.push_back({"layer", schedule::WaitTask{step::Role::workers, 3}});
  EXPECT_TRUE(has_barrier(schedule));
  const std::vector<schedule::Schedule> schedules{schedule};
  const Cluster cluster = cluster_on(file.path(), 4, false);
  const TimedRun run = time_schedules(cluster, schedules);
  EXPECT_TRUE(run.first_steps.empty());
  EXPECT_GT(run.steps.at(0).seconds, kCompute + kSlow);
}

TEST(WithoutBarrier, ByFlowAnExchangeInAStepWithABarrierIsTheSame) {
  const TemporaryFile file(lines_xml(4));
  schedule::Schedule schedule = exchange_step(ring(4));
  schedule.tasks.push_back(
      {"layer", schedule::CollectiveTask{step::CollectiveKind::all_reduce, test::same(4e4), "ring"}});
  schedule.tasks.push_back({"layer", schedule::WaitTask{step::Role::workers, 3}});
  const std::vector<schedule::Schedule> schedules{schedule};
  Cluster cluster = cluster_on(file.path(), 4, false);
  const step::StepTiming by_message = time_schedules(cluster, schedules).steps.at(0);
  cluster.network.fidelity = spec::Fidelity::flow;
  const TimedRun by_flow = time_schedules(cluster, schedules);
  EXPECT_EQ(by_flow.network.fidelity, "flow");
  EXPECT_NEAR(by_flow.steps.at(0).seconds, by_message.seconds, 1e-9);
  EXPECT_EQ(by_flow.steps.at(0).bytes_sent, by_message.bytes_sent);
  EXPECT_NEAR(by_flow.steps.at(0).waiting_seconds, by_message.waiting_seconds, 1e-9);
}

TEST(WithoutBarrier, WhereStepsDifferTheyAreReplayedAsTheyAre) {
  const TemporaryFile file(lines_xml(4));
  Cluster cluster = cluster_on(file.path(), 4, false);
  cluster.network.jitter.temporal = 0.3;
  const std::vector<schedule::Schedule> schedules(5, exchange_step(ring(4)));
  const TimedRun run = time_schedules(cluster, schedules);
  ASSERT_EQ(run.first_steps.size(), 5U);
  double sum = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    sum += run.steps[i].seconds;
    EXPECT_NEAR(sum, run.first_steps[i], 1e-9);
  }
  EXPECT_NE(run.steps[1].seconds, run.steps[2].seconds);
}

TEST(WithoutBarrier, ATimelineShowsSomeOfTheFirstSteps) {
  const TemporaryFile file(lines_xml(4, 1e5));
  const std::vector<schedule::Schedule> schedules{exchange_step(ring(4))};
  TimingRequest request;
  request.trace = {0};
  const TimedRun plain = time_schedules(cluster_on(file.path(), 4, false), schedules);
  const TimedRun run = time_schedules(cluster_on(file.path(), 4, false), schedules, {}, request);
  ASSERT_EQ(run.timelines.size(), 1U);
  EXPECT_NEAR(run.timelines[0]->seconds, run.first_steps.at(3), 1e-9);
  EXPECT_EQ(run.steps[0].seconds, plain.steps[0].seconds);
}

TEST(PeriodOf, IsTheFewestStepsAfterWhichAllWorkersAreAsMuchLater) {
  EXPECT_EQ(period_of({{1, 2}, {2, 3}}), std::nullopt);  // too few steps for a period
  EXPECT_EQ(period_of({{1, 2}, {2, 3}, {3, 4}}), 1U);
  EXPECT_EQ(period_of({{1, 2}, {2, 3}, {3, 5}}), std::nullopt);
  EXPECT_EQ(period_of({{0, 0}, {1, 3}, {4, 4}, {5, 7}, {8, 8}}), 2U);
}

}  // namespace
}  // namespace dadsim::sim
