#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "report/sample.hpp"

namespace dadsim::report {
namespace {

TEST(Summarise, PutsTheClockAndTheBytesOnTheCurve) {
  const RunResult run = sample_run("dad", "dad");
  ASSERT_EQ(run.curve.size(), 3U);
  EXPECT_EQ(run.curve[0].seconds, 0);
  EXPECT_EQ(run.curve[0].bytes, 0);
  EXPECT_EQ(run.curve[1].step, 2);
  EXPECT_EQ(run.curve[1].seconds, 4 + 2.5);
  EXPECT_EQ(run.curve[1].bytes, 12000 + 2000);
  EXPECT_EQ(run.curve[1].loss, 0.75);
  EXPECT_EQ(run.curve[2].seconds, 4 + 2.5 + 2.5);
  EXPECT_EQ(run.curve[2].auc, 0.985);
  EXPECT_EQ(run.total_seconds, 9);
  EXPECT_EQ(run.total_bytes, 16000);
}

TEST(Summarise, ChargesStepsAfterTheLastEvaluation) {
  step::Trajectory trajectory = sample_trajectory();
  trajectory.curve.pop_back();
  const RunResult run = summarise(sample_spec("dad", "dad"), trajectory, sample_timings(), 2, 0.95);
  EXPECT_EQ(run.curve.back().seconds, 6.5);
  EXPECT_EQ(run.total_seconds, 9);
  EXPECT_EQ(run.total_bytes, 16000);
  // Lost bytes count too, since they were sent.
  std::vector<step::StepTiming> lost = sample_timings();
  for (step::StepTiming& timing : lost) timing.bytes_received.assign(timing.bytes_received.size(), 0);
  EXPECT_EQ(summarise(sample_spec("dad", "dad"), trajectory, lost, 2, 0.95).total_bytes, 16000);
}

TEST(Summarise, AveragesStepsByHowOftenTheyOccur) {
  const RunResult run = sample_run("dad", "dad");
  EXPECT_EQ(run.steps, 3);
  EXPECT_EQ(run.steps_per_epoch, 2);
  EXPECT_EQ(run.workers, 2U);
  EXPECT_DOUBLE_EQ(run.step_seconds, 3);
  EXPECT_DOUBLE_EQ(run.compute_seconds, 1);
  EXPECT_DOUBLE_EQ(run.exposed_seconds, 2);
  EXPECT_EQ(run.first_step_seconds, 4);
  // Averages are over the two workers: (2000 + 2 · 500) ÷ 3 up and (4000 + 2 · 500) ÷ 3 down. The third node is the
  // aggregator.
  EXPECT_DOUBLE_EQ(run.bytes_up_per_worker, 1000);
  EXPECT_DOUBLE_EQ(run.bytes_down_per_worker, 5000.0 / 3);
}

TEST(Summarise, CountsStepsUpToThePercentile) {
  step::Trajectory trajectory = sample_trajectory();
  const auto with_slow_steps = [&](std::size_t slow) {
    trajectory.steps.assign(100 - slow, 1);
    trajectory.steps.insert(trajectory.steps.begin() + 3, slow, 0);
    return summarise(sample_spec("dad", "dad"), trajectory, sample_timings(), 2, 0.95);
  };
  EXPECT_EQ(with_slow_steps(5).step_seconds_p95, 2.5);
  EXPECT_EQ(with_slow_steps(5).step_seconds_p99, 4);
  EXPECT_EQ(with_slow_steps(6).step_seconds_p95, 4);
  EXPECT_EQ(with_slow_steps(1).step_seconds_p99, 2.5);
  EXPECT_EQ(with_slow_steps(1).slowest_step_seconds, 4);
}

TEST(Summarise, AddsUpTheCriticalPathByResourceAndKind) {
  const RunResult run = sample_run("dad", "dad");
  ASSERT_EQ(run.bounds.size(), 4U);
  // Seconds per step are (1 + 2 · 1) ÷ 3 = 1 for site-1, 3 ÷ 3 = 1 for up, 2 ÷ 3 for down, and 2 · 0.5 ÷ 3 for the
  // latency of up. Ties are sorted by name.
  EXPECT_EQ(run.bounds[0].resource, "site-1");
  EXPECT_EQ(run.bounds[1].resource, "up");
  EXPECT_EQ(run.bounds[1].kind, "bandwidth");
  EXPECT_EQ(run.bounds[2].resource, "down");
  EXPECT_EQ(run.bounds[3].kind, "latency");
  EXPECT_DOUBLE_EQ(run.bounds[0].seconds, 1);
  EXPECT_DOUBLE_EQ(run.bounds[3].seconds, 1.0 / 3);
  double seconds = 0;
  double share = 0;
  for (const step::Bound& bound : run.bounds) {
    seconds += bound.seconds;
    share += bound.share;
  }
  EXPECT_DOUBLE_EQ(seconds, run.step_seconds);
  EXPECT_DOUBLE_EQ(share, 1);
}

TEST(Summarise, PartsStandForAsManyStepsAsASampleSays) {
  // The second step is interpolated and has only seconds and bytes. The first step gives the parts of all three steps.
  std::vector<step::StepTiming> timings = sample_timings();
  const step::StepTiming whole = timings[0];
  timings[1].seconds = 4;
  timings[1].compute_seconds = timings[1].exposed_seconds = 0;
  timings[1].bounds.clear();
  const auto with = [&](const std::optional<step::StepTiming>& first) {
    return summarise(sample_spec("dad", "dad"), sample_trajectory(), timings, 2, 0.95, first, {3, 0});
  };
  const RunResult run = with({});
  EXPECT_DOUBLE_EQ(run.step_seconds, 4);
  EXPECT_DOUBLE_EQ(run.compute_seconds, 1);
  EXPECT_DOUBLE_EQ(run.exposed_seconds, 3);
  EXPECT_DOUBLE_EQ(run.bytes_up_per_worker, 1000);
  EXPECT_EQ(run.total_bytes, 16000);
  ASSERT_EQ(run.bounds.size(), 2U);
  EXPECT_DOUBLE_EQ(run.bounds[0].seconds, 3);
  EXPECT_DOUBLE_EQ(run.bounds[0].share, 0.75);
  // A first step that was timed separately replaces one of the three steps.
  step::StepTiming slower = whole;
  slower.seconds = 7;
  slower.exposed_seconds = 6;
  slower.bounds[0].seconds = 6;
  const RunResult cold = with(slower);
  EXPECT_DOUBLE_EQ(cold.step_seconds, 5);
  EXPECT_EQ(cold.slowest_step_seconds, 7);
  EXPECT_DOUBLE_EQ(cold.exposed_seconds, (6 + 2 * 3) / 3.0);
  EXPECT_DOUBLE_EQ(cold.bounds[0].share, 0.8);
  EXPECT_THROW(summarise(sample_spec("dad", "dad"), sample_trajectory(), timings, 2, 0.95, {}, {3, 0, 0}),
               std::logic_error);
}

TEST(Summarise, LeavesOutTimingsThatNeverOccur) {
  step::Trajectory trajectory = sample_trajectory();
  trajectory.steps = {1, 1, 1};
  const RunResult run = summarise(sample_spec("dad", "dad"), trajectory, sample_timings(), 2, 0.95);
  EXPECT_EQ(run.bounds.size(), 3U);
  EXPECT_EQ(run.first_step_seconds, 2.5);
}

TEST(Summarise, FindsTheFirstEvaluationThatReachesTheTarget) {
  const RunResult run = sample_run("dad", "dad", 0.95);
  EXPECT_TRUE(run.target_reached);
  EXPECT_EQ(run.target_step, 2);
  EXPECT_EQ(run.target_seconds, 6.5);
  EXPECT_EQ(run.best_accuracy, 0.96);
  EXPECT_EQ(run.final_accuracy, 0.94);
  EXPECT_EQ(run.final_auc, 0.985);

  EXPECT_TRUE(sample_run("dad", "dad", 0.96).target_reached) << "exactly at the target";
  EXPECT_FALSE(sample_run("dad", "dad", 0.961).target_reached);

  const RunResult at_once = sample_run("dad", "dad", 0.1);
  EXPECT_TRUE(at_once.target_reached);
  EXPECT_EQ(at_once.target_step, 0);
  EXPECT_EQ(at_once.target_seconds, 0);
}

TEST(Summarise, TheSlowestStepIsOneThatOccurred) {
  std::vector<step::StepTiming> timings = sample_timings();
  step::Trajectory trajectory = sample_trajectory();
  const auto slowest = [&] {
    return summarise(sample_spec("dad", "dad"), trajectory, timings, 2, 0.95).slowest_step_seconds;
  };
  EXPECT_EQ(slowest(), 4);
  timings[1].seconds = 5;
  EXPECT_EQ(slowest(), 5);
  timings.push_back(timings[1]);
  timings.back().seconds = 100;
  trajectory.distinct_steps.emplace_back();
  EXPECT_EQ(slowest(), 5) << "the longest never occurs";
}

TEST(Summarise, HasNoMeansWithoutSteps) {
  step::Trajectory trajectory = sample_trajectory();
  trajectory.steps.clear();
  trajectory.curve.resize(1);
  const RunResult run = summarise(sample_spec("dad", "dad"), trajectory, sample_timings(), 2, 0.1);
  EXPECT_TRUE(std::isnan(run.step_seconds));
  EXPECT_TRUE(std::isnan(run.slowest_step_seconds));
  EXPECT_TRUE(std::isnan(run.bytes_up_per_worker));
  EXPECT_TRUE(run.bounds.empty());
  EXPECT_EQ(run.total_seconds, 0);
}

TEST(Summarise, RefusesHalvesThatDoNotFit) {
  const spec::RunSpec spec = sample_spec("dad", "dad");
  const step::Trajectory good = sample_trajectory();
  const std::vector<step::StepTiming> timings = sample_timings();
  EXPECT_THROW(summarise(spec, good, {timings[0]}, 2, 0.95), std::logic_error);
  EXPECT_THROW(summarise(spec, good, timings, 0, 0.95), std::logic_error);
  EXPECT_THROW(summarise(spec, good, timings, 4, 0.95), std::logic_error);
  step::Trajectory wrong = good;
  wrong.steps.back() = 2;
  EXPECT_THROW(summarise(spec, wrong, timings, 2, 0.95), std::logic_error);
  wrong = good;
  wrong.curve.back().step = 4;
  EXPECT_THROW(summarise(spec, wrong, timings, 2, 0.95), std::logic_error);
  wrong = good;
  std::swap(wrong.curve[0].step, wrong.curve[1].step);
  EXPECT_THROW(summarise(spec, wrong, timings, 2, 0.95), std::logic_error);
  wrong = good;
  wrong.curve.clear();
  EXPECT_THROW(summarise(spec, wrong, timings, 2, 0.95), std::logic_error);
}

TEST(Summarise, AveragesAnEventDrivenRunOverItsUpdates) {
  const RunResult run = sample_event_driven_run();
  EXPECT_EQ(run.steps, 3);
  EXPECT_EQ(run.workers, 2U);
  EXPECT_EQ(run.total_seconds, 30);
  EXPECT_EQ(run.total_bytes, 9000);  // bytes of all three nodes
  EXPECT_EQ(run.step_seconds, 10);
  EXPECT_EQ(run.compute_seconds, 2);  // (9 s + 3 s) ÷ (2 workers · 3 updates)
  EXPECT_EQ(run.exposed_seconds, 8);
  EXPECT_TRUE(std::isnan(run.compression_seconds) && std::isnan(run.waiting_seconds));
  EXPECT_EQ(run.first_step_seconds, 7);
  EXPECT_EQ(run.bytes_up_per_worker, 500);
  EXPECT_EQ(run.bytes_down_per_worker, 500);
  EXPECT_EQ(run.busy_seconds, (std::vector<double>{3, 1, 0}));
  EXPECT_TRUE(run.target_reached);
  EXPECT_EQ(run.target_step, 3);
  EXPECT_EQ(run.target_seconds, 30);
  EXPECT_EQ(run.best_accuracy, 0.96);
  EXPECT_EQ(run.final_auc, 0.99);
}

TEST(Summarise, KnowsTheEvaluationBeforeTheTarget) {
  EXPECT_EQ(sample_event_driven_run().arrival(), (estimate::Arrival{7, 30, 3}));
  RunResult run = sample_event_driven_run();
  run.target_reached = false;
  EXPECT_FALSE(run.arrival());
  EventDrivenRun at_once;
  at_once.event_driven.workers = 1;
  at_once.event_driven.log.nodes.resize(1);
  at_once.curve = {{0, 0, 1, 0.99, 1, 0}, {1, 5, 1, 0.99, 1, 0}};
  EXPECT_EQ(summarise(sample_spec("fedavg", "a"), at_once, 0.95).arrival(), (estimate::Arrival{0, 0, 0}));
}

TEST(Summarise, AddsUpWhatTheNodesOfAnEventDrivenRunDid) {
  const EventDrivenResult event_driven = *sample_event_driven_run().event_driven;
  EXPECT_EQ(event_driven.busy_seconds(), 12);
  EXPECT_EQ(event_driven.down_seconds(), 6);
  EXPECT_EQ(event_driven.idle_seconds(), 2 * 30 - 12 - 6);
  EXPECT_EQ(event_driven.bytes_sent(), event_driven.bytes_received() + event_driven.bytes_lost());
  EXPECT_EQ(event_driven.wasted_bytes(), 500 + 500);  // bytes without use, and lost bytes
  EXPECT_EQ(event_driven.outages(), 1);
  EXPECT_EQ(event_driven.participation.share_used(), 4.0 / 6);
  EXPECT_EQ(event_driven.participation.mean_staleness(), 0.5);
  EXPECT_TRUE(std::isnan(step::Participation{}.share_used()));
  EXPECT_TRUE(std::isnan(step::Participation{}.mean_staleness()));
}

TEST(Summarise, AddsWhatProtocolAndSimulationCountOfCheckpointsAndWaste) {
  EventDrivenResult event_driven;
  event_driven.participation.restored = 1;
  event_driven.participation.lost_work = 2;
  event_driven.participation.wasted_seconds = 4;
  event_driven.log.nodes = {{.cut_short = 8, .restored = 2, .lost_work = 16}, {.cut_short = 32}};
  EXPECT_EQ(event_driven.restored(), 3);
  EXPECT_EQ(event_driven.lost_work(), 18);
  EXPECT_EQ(event_driven.wasted_seconds(), 44);
}

TEST(Summarise, TakesLinksOfAnEventDrivenRunPerUpdate) {
  EventDrivenRun run;
  run.event_driven.participation.updates = 4;
  run.event_driven.log.nodes.resize(1);
  run.event_driven.workers = 1;
  run.network.link_use.resize(1);
  run.network.link_use[0].bytes_per_step = 100;
  run.curve = {{}};
  EXPECT_EQ(summarise(sample_spec("fedavg", "a"), run, 0.95).network.link_use[0].bytes_per_step, 25);
  run.curve.clear();
  EXPECT_THROW(summarise(sample_spec("fedavg", "a"), run, 0.95), std::logic_error);
}

}  // namespace
}  // namespace dadsim::report
