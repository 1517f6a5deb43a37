#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sim/declared.hpp"
#include "sim/fidelity_notes.hpp"
#include "sim/star.hpp"

// Tests timing a sample of a run's steps instead of all different steps (NetworkSpec::timed_steps).

namespace dadsim::sim {
namespace {

using test::cluster_on;
using test::Script;
using test::Star;
using test::TemporaryFile;

constexpr std::size_t kCount = 60;

/// Returns schedules of different sizes in no order, in which workers of a star send unequal amounts.
std::vector<schedule::Schedule> at_a_star() {
  std::vector<schedule::Schedule> schedules;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto size = static_cast<double>((i * 37) % kCount);
    Script script(3);
    script.compute(0.25);
    script.wait(script.gather(schedule::PerWorker({1e5 + 1e4 * size, 2e5 + 1e4 * size, 1e4 * size})),
                step::Role::aggregator);
    script.wait(script.broadcast(1e5 + 3e4 * size));
    schedules.push_back(script.schedule());
  }
  return schedules;
}

/// Returns schedules of collectives among workers; their algorithms depend on size.
std::vector<schedule::Schedule> among_workers() {
  std::vector<schedule::Schedule> schedules;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto size = static_cast<double>((i * 37) % kCount);
    Script script(4, false);
    script.compute(0.25);
    script.wait(script.collective(step::CollectiveKind::all_reduce, test::same(1000 + 8e4 * size)));
    script.wait(script.all_gather(schedule::PerWorker({1e4 * size, 2e4, 3e4 + size, 0})));
    schedules.push_back(script.schedule());
  }
  return schedules;
}

double mean(const TimedRun& run) {
  double sum = 0;
  for (const step::StepTiming& step : run.steps) sum += step.seconds;
  return sum / static_cast<double>(run.steps.size());
}

/// Returns the mean of a part of a step's time, weighted by the number of steps that each timing stands for.
double mean_of(const TimedRun& run, double step::StepTiming::*part) {
  double sum = 0;
  for (std::size_t i = 0; i < run.steps.size(); ++i)
    sum += (run.stand_for.empty() ? 1 : run.stand_for[i]) * run.steps[i].*part;
  return sum / static_cast<double>(run.steps.size());
}

void expect_same_bytes(const TimedRun& sampled, const TimedRun& all) {
  ASSERT_EQ(sampled.steps.size(), all.steps.size());
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    ASSERT_EQ(sampled.steps[i].bytes_sent.size(), all.steps[i].bytes_sent.size());
    for (std::size_t node = 0; node < all.steps[i].bytes_sent.size(); ++node) {
      EXPECT_DOUBLE_EQ(sampled.steps[i].bytes_sent[node], all.steps[i].bytes_sent[node]) << i << ' ' << node;
      EXPECT_DOUBLE_EQ(sampled.steps[i].bytes_received[node], all.steps[i].bytes_received[node]) << i << ' ' << node;
    }
  }
}

TEST(TimedSteps, OfAStarAreAsGoodAsAll) {
  const TemporaryFile file(Star{.workers = 3, .hub_rate = 2.5e6}.xml());
  Cluster cluster = cluster_on(file.path(), 3);
  const std::vector<schedule::Schedule> schedules = at_a_star();
  const TimedRun all = time_schedules(cluster, schedules);
  EXPECT_FALSE(all.network.sampling);
  EXPECT_TRUE(all.stand_for.empty());
  cluster.network.timed_steps = 10;
  const TimedRun sampled = time_schedules(cluster, schedules);
  ASSERT_TRUE(sampled.network.sampling);
  EXPECT_EQ(sampled.network.sampling->steps, kCount);
  EXPECT_EQ(sampled.network.sampling->simulated, 10);
  EXPECT_LT(sampled.network.messages, all.network.messages / 5);
  expect_same_bytes(sampled, all);
  // Without windows and queues, time is linear in bytes, with a bend wherever another link becomes the slowest.
  EXPECT_NEAR(mean(sampled), mean(all), 1e-3 * mean(all));
  EXPECT_LT(sampled.network.sampling->mean_error, 2e-3);
  EXPECT_NEAR(mean_of(sampled, &step::StepTiming::seconds), mean(sampled), 1e-12);
  EXPECT_NEAR(mean_of(sampled, &step::StepTiming::compute_seconds), 0.25, 1e-9);
  EXPECT_NEAR(mean_of(sampled, &step::StepTiming::exposed_seconds), mean_of(all, &step::StepTiming::exposed_seconds),
              2e-3 * mean(all));
  EXPECT_EQ(std::accumulate(sampled.stand_for.begin(), sampled.stand_for.end(), 0.0), kCount);
  // Collectives are counted over all steps, whether simulated or not.
  ASSERT_EQ(sampled.network.collectives.size(), 2U);
  EXPECT_EQ(sampled.network.collectives[0].count, kCount);
  EXPECT_EQ(sampled.network.collectives[0].least_bytes, all.network.collectives[0].least_bytes);
  EXPECT_EQ(sampled.network.collectives[0].most_bytes, all.network.collectives[0].most_bytes);
}

TEST(TimedSteps, AmongWorkersKnowTheBytesOfAll) {
  const TemporaryFile file(Star{.workers = 4}.xml());
  Cluster cluster = cluster_on(file.path(), 4, false);
  const std::vector<schedule::Schedule> schedules = among_workers();
  for (const spec::Fidelity fidelity :
       {spec::Fidelity::message, spec::Fidelity::automatic, spec::Fidelity::closed_form}) {
    cluster.network.fidelity = fidelity;
    cluster.network.timed_steps = 0;
    const TimedRun all = time_schedules(cluster, schedules);
    cluster.network.timed_steps = 16;
    const TimedRun sampled = time_schedules(cluster, schedules);
    EXPECT_EQ(sampled.network.fidelity, all.network.fidelity);
    expect_same_bytes(sampled, all);
    EXPECT_NEAR(mean(sampled), mean(all), 5e-3 * mean(all));
  }
}

TEST(TimedSteps, LinksAreSaidToCarryAsMuchAsInAll) {
  const TemporaryFile file(Star{.workers = 3}.xml());
  Cluster cluster = cluster_on(file.path(), 3);
  const TimedRun all = time_schedules(cluster, at_a_star());
  cluster.network.timed_steps = 10;
  const TimedRun sampled = time_schedules(cluster, at_a_star());
  std::map<std::string, double> bytes;
  for (const step::LinkUse& use : all.network.link_use) bytes[use.link] = use.bytes_per_step;
  ASSERT_EQ(sampled.network.link_use.size(), bytes.size());
  for (const step::LinkUse& use : sampled.network.link_use)
    EXPECT_NEAR(use.bytes_per_step, bytes.at(use.link), 1e-9 * bytes.at(use.link)) << use.link;
}

TEST(TimedSteps, AreTheSameWithATrace) {
  const TemporaryFile file(Star{.workers = 3}.xml());
  Cluster cluster = cluster_on(file.path(), 3);
  cluster.platform = {"", spec::PlatformFileSpec{file.path(), spec::Transport::tcp}, {}, {}};
  cluster.network.timed_steps = 8;
  const std::vector<schedule::Schedule> schedules = at_a_star();
  const TimedRun plain = time_schedules(cluster, schedules);
  const auto left_out = std::ranges::find(plain.stand_for, 0.0) - plain.stand_for.begin();
  ASSERT_LT(left_out, static_cast<std::ptrdiff_t>(kCount));
  TimingRequest request;
  request.trace = {static_cast<std::size_t>(left_out), 0};
  request.trace_first = true;
  const TimedRun traced = time_schedules(cluster, schedules, {}, request);
  ASSERT_EQ(traced.timelines.size(), 2U);
  ASSERT_TRUE(traced.timelines[0] && traced.timelines[1] && traced.first_timeline);
  EXPECT_NEAR(traced.timelines[0]->seconds, traced.steps[static_cast<std::size_t>(left_out)].seconds,
              0.2 * traced.timelines[0]->seconds);
  EXPECT_EQ(traced.timelines[1]->seconds, traced.steps[0].seconds);
  EXPECT_EQ(traced.stand_for, plain.stand_for);
  ASSERT_TRUE(plain.first && traced.first);
  EXPECT_EQ(traced.first->seconds, plain.first->seconds);
  for (std::size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(traced.steps[i].seconds, plain.steps[i].seconds);
    EXPECT_EQ(traced.steps[i].bytes_sent, plain.steps[i].bytes_sent);
  }
  EXPECT_EQ(traced.network.sampling->mean_error, plain.network.sampling->mean_error);
}

TEST(TimedSteps, KeepMessagesWithinTheirBudget) {
  // Simulating all steps would exceed the limit on messages; simulating the sample does not.
  spec::PlatformSpec platform;
  platform.what = test::cluster_of(2, 2, test::line(1e9, 1e-6), test::line(1e8, 1e-5));
  Cluster cluster = test::workers_on(platform, spec::Fidelity::automatic);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  cluster.network.message_budget = 700;
  const std::vector<schedule::Schedule> schedules = among_workers();
  EXPECT_NE(time_schedules(cluster, schedules).network.fidelity, "message");
  cluster.network.timed_steps = 8;
  EXPECT_EQ(time_schedules(cluster, schedules).network.fidelity, "message");
}

TEST(TimedSteps, WithKindsKnownBeforeAreTheSame) {
  const TemporaryFile file(Star{.workers = 3}.xml());
  Cluster cluster = cluster_on(file.path(), 3);
  std::vector<schedule::Schedule> schedules = at_a_star();
  schedules.push_back(schedules[5]);
  const schedule::StepKinds kinds(schedules);
  EXPECT_EQ(kinds.kinds().size(), kCount);
  EXPECT_EQ(kinds.of().back(), 5U);
  for (const std::int64_t steps : {0, 9}) {
    cluster.network.timed_steps = steps;
    TimingRequest request;
    const TimedRun own = time_schedules(cluster, schedules, {}, request);
    request.kinds = &kinds;
    const TimedRun known = time_schedules(cluster, schedules, {}, request);
    for (std::size_t i = 0; i <= kCount; ++i) EXPECT_EQ(own.steps[i].seconds, known.steps[i].seconds);
    EXPECT_EQ(own.steps[5].seconds, own.steps[kCount].seconds);
    EXPECT_EQ(own.stand_for, known.stand_for);
    expect_same_bytes(own, known);
  }
}

TEST(TimedSteps, KindsDifferInWhateverSchedulesDiffer) {
  const std::vector<schedule::Schedule> schedules = at_a_star();
  schedule::Schedule other = schedules[0];
  std::get<schedule::ComputeTask>(other.tasks[0].what).sequential = 2;  // a field that the fingerprint leaves out
  schedule::Schedule same = schedules[0];
  EXPECT_EQ(schedule::StepKinds(std::vector{schedules[0], other, same}).of(), (std::vector<std::size_t>{0, 1, 0}));
}

TEST(TimedSteps, AreAllWhereEveryStepDiffersByDate) {
  const TemporaryFile file(Star{.workers = 3}.xml());
  Cluster cluster = cluster_on(file.path(), 3);
  cluster.network.timed_steps = 10;
  cluster.network.jitter.temporal = 0.1;
  const TimedRun run = time_schedules(cluster, at_a_star());
  EXPECT_FALSE(run.network.sampling);
  EXPECT_NE(test::notes_of(run.network).find("every-step-simulated"), std::string::npos) << test::notes_of(run.network);
  EXPECT_FALSE(run.steps.back().bounds.empty());
}

TEST(TimedSteps, CountAsTheyAreDone) {
  const TemporaryFile file(Star{.workers = 3}.xml());
  Cluster cluster = cluster_on(file.path(), 3);
  cluster.network.timed_steps = 12;
  std::vector<std::size_t> done;
  time_schedules(cluster, at_a_star(), [&](std::size_t so_far) { done.push_back(so_far); });
  ASSERT_EQ(done.size(), 12U);
  EXPECT_EQ(done.front(), 5U);
  EXPECT_EQ(done.back(), kCount);
}

}  // namespace
}  // namespace dadsim::sim
