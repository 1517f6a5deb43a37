#include "step/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sim/declared.hpp"
#include "sim/fidelity_notes.hpp"
#include "sim/star.hpp"
#include "sim/step/timeline_recorder.hpp"

namespace dadsim::sim {
namespace {

using test::cluster_on;
using test::Script;
using test::Star;
using test::TemporaryFile;

/// Returns a run with a trace of everything, including the first step.
TimedRun traced(const Cluster& cluster, const std::vector<schedule::Schedule>& schedules,
                std::size_t most_spans = 100'000) {
  TimingRequest request;
  request.trace.resize(schedules.size());
  std::iota(request.trace.begin(), request.trace.end(), std::size_t{0});
  request.trace_first = true;
  request.most_spans = most_spans;
  return time_schedules(cluster, schedules, {}, request);
}

/// Checks the form of a timeline, and that its sums equal the reported ones.
void expect_consistent(const step::Timeline& timeline, const step::StepTiming& step) {
  EXPECT_EQ(timeline.seconds, step.seconds);
  std::map<std::int32_t, double> end;
  double computing = 0;
  double waiting = 0;
  for (const step::Timeline::Span& span : timeline.spans) {
    const auto& track = timeline.tracks.at(static_cast<std::size_t>(span.track));
    const auto& label = timeline.labels.at(static_cast<std::size_t>(span.label));
    EXPECT_GT(span.seconds, 0) << label.name;
    EXPECT_GE(span.begin, end[span.track] - 1e-12) << track.name << ", " << label.name;
    end[span.track] = span.begin + span.seconds;
    EXPECT_LE(end[span.track], step.seconds * (1 + 1e-9)) << label.name;
    if (track.stream != step::Timeline::Stream::compute || track.node != timeline.last) continue;
    (label.activity == step::Timeline::Activity::computing ? computing : waiting) += span.seconds;
  }
  EXPECT_NEAR(computing, step.compute_seconds, 1e-9 * step.seconds);
  EXPECT_NEAR(waiting, step.exposed_seconds, 1e-9 * step.seconds);
}

/// Returns a step that computes gradients of three layers in sequence and shares each while it computes the next.
schedule::Schedule overlapping(std::size_t workers) {
  Script script(workers, false);
  std::vector<std::int32_t> shared;
  for (const double bytes : {4e5, 1e6, 2e6}) {
    script.compute(1);
    shared.push_back(script.all_reduce(bytes));
  }
  for (const std::int32_t one : shared) script.wait(one).compute(0.125);
  return script.schedule();
}

std::vector<const step::Timeline::Span*> on_track(const step::Timeline& timeline, const std::string& name) {
  std::vector<const step::Timeline::Span*> spans;
  for (const step::Timeline::Span& span : timeline.spans) {
    if (timeline.tracks[static_cast<std::size_t>(span.track)].name == name) spans.push_back(&span);
  }
  return spans;
}

double seconds_of(const std::vector<const step::Timeline::Span*>& spans) {
  double seconds = 0;
  for (const step::Timeline::Span* span : spans) seconds += span->seconds;
  return seconds;
}

TEST(Timeline, AddsUpToWhatIsReported) {
  const TemporaryFile file(Star{.workers = 4, .hub_rate = 1.7e6}.xml());
  Script star(4);
  star.compute(schedule::PerWorker({0.5, 0.25, 1, 0.75}));
  star.wait(star.gather(schedule::PerWorker({1e5, 2e5, 3e5, 0})), step::Role::aggregator)
      .compute(0.1, step::Role::aggregator);
  star.wait(star.broadcast(4e5)).compute(0.05);
  Cluster cluster = cluster_on(file.path(), 4);
  const std::vector<schedule::Schedule> schedules{overlapping(4), star.schedule()};
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    cluster.network.fidelity = fidelity;
    for (const schedule::Schedule& schedule :
         fidelity == spec::Fidelity::message ? schedules : std::vector{overlapping(4)}) {
      const TimedRun run = traced(cluster, {schedule});
      ASSERT_EQ(run.network.fidelity, to_string(fidelity)) << test::notes_of(run.network);
      ASSERT_EQ(run.timelines.size(), 1U);
      EXPECT_EQ(run.timelines[0]->fidelity, run.network.fidelity);
      expect_consistent(*run.timelines[0], run.steps[0]);
    }
  }
}

TEST(Timeline, ShowsWhatIsHiddenBehindComputing) {
  const TemporaryFile file(Star{.workers = 4}.xml());
  Cluster cluster = cluster_on(file.path(), 4, false);
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    cluster.network.fidelity = fidelity;
    const TimedRun run = traced(cluster, {overlapping(4)});
    const double communicating = seconds_of(on_track(*run.timelines[0], "worker 0 (w0) network"));
    EXPECT_LT(run.steps[0].exposed_seconds, communicating - 1);  // the first all-reduce and a part of the second
                                                                 // overlap with computing
    EXPECT_GT(run.steps[0].exposed_seconds, 0);
  }
}

TEST(Timeline, ChangesNoBitOfTheResult) {
  const TemporaryFile file(Star{.workers = 4, .hub_rate = 1.7e6}.xml());
  Cluster cluster = cluster_on(file.path(), 4);
  cluster.platform = {"", spec::PlatformFileSpec{file.path(), spec::Transport::tcp}, {}, {}};
  Script star(4);
  star.compute(schedule::PerWorker({0.5, 0.25, 1, 0.75}));
  star.wait(star.gather(schedule::PerWorker({1e5, 2e5, 3e5, 0})), step::Role::aggregator).wait(star.broadcast(4e5));
  const std::vector<schedule::Schedule> schedules{star.schedule(), overlapping(4), star.schedule()};
  const TimedRun plain = time_schedules(cluster, schedules);
  const TimedRun with = traced(cluster, schedules);
  ASSERT_TRUE(plain.first && with.first);
  const auto expect_identical = [](const step::StepTiming& a, const step::StepTiming& b) {
    EXPECT_EQ(a.seconds, b.seconds);
    EXPECT_EQ(a.compute_seconds, b.compute_seconds);
    EXPECT_EQ(a.exposed_seconds, b.exposed_seconds);
    EXPECT_EQ(a.waiting_seconds, b.waiting_seconds);
    EXPECT_EQ(a.bytes_sent, b.bytes_sent);
    ASSERT_EQ(a.bounds.size(), b.bounds.size());
    for (std::size_t i = 0; i < a.bounds.size(); ++i) EXPECT_EQ(a.bounds[i].seconds, b.bounds[i].seconds);
  };
  expect_identical(*plain.first, *with.first);
  for (std::size_t i = 0; i < schedules.size(); ++i) expect_identical(plain.steps[i], with.steps[i]);
  ASSERT_EQ(plain.network.link_use.size(), with.network.link_use.size());
  for (std::size_t i = 0; i < plain.network.link_use.size(); ++i) {
    EXPECT_EQ(plain.network.link_use[i].busy_share, with.network.link_use[i].busy_share);
  }
  EXPECT_TRUE(plain.timelines.empty());
  // The first step opens new connections. Later equal steps have the same timeline.
  ASSERT_EQ(with.timelines.size(), 3U);
  EXPECT_EQ(with.timelines[0], with.timelines[2]);
  expect_consistent(*with.first_timeline, *with.first);
  expect_consistent(*with.timelines[0], with.steps[0]);
  expect_consistent(*with.timelines[1], with.steps[1]);
  EXPECT_NE(with.first_timeline->seconds, with.timelines[0]->seconds);
}

TEST(Timeline, TheFirstStepIsLikeOthersWhereConnectionsDoNotMatter) {
  const TemporaryFile file(Star{}.xml());
  TimingRequest request;
  request.trace_first = true;
  const TimedRun run = time_schedules(cluster_on(file.path(), 2, false), std::vector{overlapping(2)}, {}, request);
  EXPECT_FALSE(run.first);
  EXPECT_TRUE(run.timelines.empty());
  ASSERT_TRUE(run.first_timeline);
  expect_consistent(*run.first_timeline, run.steps[0]);
}

TEST(Timeline, LinksCarryWhatTheyAreSaidTo) {
  const TemporaryFile file(Star{.workers = 3}.xml());
  const TimedRun run = traced(cluster_on(file.path(), 3, false), {overlapping(3)});
  const step::Timeline& timeline = *run.timelines[0];
  EXPECT_EQ(timeline.cut, 0U);
  EXPECT_EQ(timeline.links, 6U);
  EXPECT_EQ(timeline.links_shown, 6U);
  for (const step::LinkUse& use : run.network.link_use) {
    const auto spans = on_track(timeline, use.link);
    double bytes = 0;
    for (const step::Timeline::Span* span : spans) {
      bytes += span->amount;
      EXPECT_LE(span->amount, use.bandwidth * span->seconds * (1 + 1e-9));
    }
    EXPECT_NEAR(bytes, use.bytes_per_step, 1e-9 * bytes);
    EXPECT_NEAR(seconds_of(spans), use.busy_share * timeline.seconds, 1e-9);  // no other messages use these links
  }
}

TEST(Timeline, NamesWhatItShows) {
  const TemporaryFile file(Star{.workers = 2}.xml());
  Script script(2);
  script.compute(1).gather_and_answer(1e6);
  schedule::Schedule schedule = script.schedule();
  for (schedule::Task& task : schedule.tasks) task.layer = "fc1";
  std::get<schedule::ComputeTask>(schedule.tasks[0].what).phase = step::Phase::weight_gradient;
  const TimedRun run = traced(cluster_on(file.path(), 2), {schedule});
  std::vector<std::string> labels;
  for (const step::Timeline::Label& label : run.timelines[0]->labels) labels.push_back(label.name);
  EXPECT_EQ(labels, (std::vector<std::string>{"fc1 weight gradient", "gather fc1 (flat)", "wait for gather fc1 (flat)",
                                              "broadcast fc1 (flat)", "wait for broadcast fc1 (flat)", "carrying"}));
  std::vector<std::string> tracks;
  for (const step::Timeline::Track& track : run.timelines[0]->tracks) tracks.push_back(track.name);
  EXPECT_EQ(tracks, (std::vector<std::string>{"worker 0 (w0) compute", "worker 0 (w0) network",
                                              "worker 0 (w0) network, receiving", "worker 1 (w1) compute",
                                              "worker 1 (w1) network", "worker 1 (w1) network, receiving",
                                              "aggregator (hub) compute", "aggregator (hub) network",
                                              "aggregator (hub) network, receiving", "up0", "up1"}));
  // A worker's message is in transit until it has arrived; the empty answer takes its latency.
  EXPECT_NEAR(seconds_of(on_track(*run.timelines[0], "worker 0 (w0) network")), Star{}.to_hub(1e6), 1e-9);
  EXPECT_NEAR(seconds_of(on_track(*run.timelines[0], "worker 1 (w1) network, receiving")), Star{}.to_hub(0), 1e-9);
}

TEST(Timeline, WhatGoesOnAfterTheStepIsCutOff) {
  const TemporaryFile file(Star{.workers = 2}.xml());
  Script script(2);
  script.compute(1);
  script.gather(5e6);
  script.compute(0.5);
  const TimedRun run = traced(cluster_on(file.path(), 2), {script.schedule()});
  expect_consistent(*run.timelines[0], run.steps[0]);
  EXPECT_NEAR(run.steps[0].seconds, 1.5, 1e-9);
  EXPECT_GT(run.timelines[0]->cut, 0U);
  const auto spans = on_track(*run.timelines[0], "up0");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_TRUE(spans[0]->cut);
  EXPECT_NEAR(spans[0]->seconds, 0.5, 1e-9);
}

TEST(Timeline, OfManyWorkersShowsSomeAndWhoEndsLast) {
  spec::PlatformSpec platform;
  platform.what = test::cluster_of(200, 1, test::line(1e9, 1e-6), test::line(1e8, 1e-5));
  Cluster cluster = test::workers_on(platform, spec::Fidelity::message);
  cluster.devices.assign(200, test::clockwork());
  Script script(200, false);
  std::vector<double> seconds(200, 1);
  seconds[118] = 2;
  script.wait(script.all_reduce(1e6)).compute(schedule::PerWorker(seconds));
  const auto workers_of = [](const step::Timeline& timeline) {
    std::vector<std::int32_t> workers;
    for (const step::Timeline::Track& track : timeline.tracks) {
      if (track.stream == step::Timeline::Stream::compute) workers.push_back(track.node);
    }
    return workers;
  };
  for (const std::size_t most : {100'000, 40}) {
    const TimedRun run = traced(cluster, {script.schedule()}, most);
    const step::Timeline& timeline = *run.timelines[0];
    expect_consistent(timeline, run.steps[0]);
    const std::vector<std::int32_t> workers = workers_of(timeline);
    EXPECT_EQ(timeline.workers, 200U);
    EXPECT_EQ(timeline.workers_shown, most == 40 ? 10U : 64U);
    EXPECT_EQ(workers.size(), timeline.workers_shown);
    EXPECT_EQ(workers.front(), 0);
    EXPECT_EQ(workers.back(), 199);
    EXPECT_EQ(timeline.last, 118);
    EXPECT_EQ(std::ranges::count(workers, 118), 1);
    EXPECT_LE(timeline.spans.size(), most);
    EXPECT_EQ(timeline.links, 400U);
    EXPECT_LT(timeline.links_shown, 400U);
    EXPECT_EQ(timeline.links_shown > 0, most != 40);  // every link has hundreds of spans
  }
}

TEST(LinkTrace, SpansThatTouchBecomeOne) {
  LinkTrace trace;
  trace.carried(1, 0, 1, 10);
  trace.carried(1, 2, 3, 10);
  trace.carried(1, 2.5, 4, 10);
  trace.carried(1, 4, 5, 10);
  trace.carried(1, 6, 6, 10);  // a span of no time
  trace.carried(1, 6, 7, 10);
  trace.carried(1, 0.5, 8, 10);
  ASSERT_EQ(trace.spans().size(), 2U);
  EXPECT_TRUE(trace.spans()[0].empty());
  ASSERT_EQ(trace.spans()[1].size(), 1U);
  EXPECT_EQ(trace.spans()[1][0].begin, 0);
  EXPECT_EQ(trace.spans()[1][0].end, 8);
  EXPECT_EQ(trace.spans()[1][0].bytes, 60);
}

}  // namespace
}  // namespace dadsim::sim
