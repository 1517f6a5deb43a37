#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "sim/declared.hpp"
#include "sim/fidelity_notes.hpp"
#include "sim/network/network_use.hpp"
#include "sim/star.hpp"

// Tests the reported bytes of links and the reported parts of steps.

namespace dadsim::sim {
namespace {

using test::cluster_on;
using test::same;
using test::Script;
using test::Star;
using test::TemporaryFile;

std::map<std::string, step::LinkUse> by_name(const step::NetworkUse& use) {
  std::map<std::string, step::LinkUse> result;
  for (const step::LinkUse& one : use.link_use) result[one.link] = one;
  return result;
}

double sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

TEST(LinkUse, OfAStarIsWhatWasSent) {
  const Star star{.workers = 3, .hub_rate = 1.5e6};
  const TemporaryFile file(star.xml());
  Script script(3);
  script.compute(0.25).wait(script.gather(schedule::PerWorker({1e6, 2e6, 5e5})), step::Role::aggregator);
  script.wait(script.broadcast(3e5));
  const TimedRun run = time_schedules(cluster_on(file.path(), 3), std::vector<schedule::Schedule>{script.schedule()});
  const step::StepTiming& step = run.steps.at(0);
  const auto use = by_name(run.network);
  ASSERT_EQ(run.network.links_used, 8);  // two directions of three workers and of the hub
  ASSERT_EQ(use.size(), 8U);
  for (std::size_t w = 0; w < 3; ++w) {
    EXPECT_DOUBLE_EQ(use.at("up" + std::to_string(w)).bytes_per_step, step.bytes_sent[w]);
    EXPECT_DOUBLE_EQ(use.at("down" + std::to_string(w)).bytes_per_step, step.bytes_received[w]);
  }
  EXPECT_DOUBLE_EQ(use.at("hub-in").bytes_per_step, 3.5e6);
  EXPECT_DOUBLE_EQ(use.at("hub-out").bytes_per_step, 9e5);
  EXPECT_DOUBLE_EQ(use.at("hub-in").busy_share, 3.5e6 / 1.5e6 / step.seconds);
  EXPECT_EQ(use.at("hub-in").bandwidth, 1.5e6);
  EXPECT_EQ(use.at("up0").latency, 0.01);
  EXPECT_EQ(run.network.link_use.front().link, "hub-in");
  EXPECT_TRUE(
      std::ranges::is_sorted(run.network.link_use, {}, [](const step::LinkUse& one) { return -one.busy_share; }));
}

TEST(LinkUse, IsTheMeanOverTheStepsOfTheRun) {
  const TemporaryFile file(Star{}.xml());
  const auto step = [](double bytes) {
    Script script(2);
    script.gather_and_answer(bytes);
    return script.schedule();
  };
  const std::vector<schedule::Schedule> schedules{step(1e6), step(4e6)};
  TimingRequest request;
  request.occurrences = {3, 1};
  const TimedRun run = time_schedules(cluster_on(file.path(), 2), schedules, {}, request);
  const step::LinkUse up = by_name(run.network).at("up0");
  EXPECT_DOUBLE_EQ(up.bytes_per_step, (3 * 1e6 + 4e6) / 4);
  EXPECT_DOUBLE_EQ(up.busy_share, 7.0 / (3 * run.steps[0].seconds + run.steps[1].seconds));
  // Three equal schedules give the same result as one schedule with three occurrences.
  const std::vector<schedule::Schedule> all{schedules[0], schedules[1], schedules[0], schedules[0]};
  EXPECT_EQ(by_name(time_schedules(cluster_on(file.path(), 2), all).network).at("up0").busy_share, up.busy_share);
}

/// Times all-reduces on a fat tree of eight nodes with two GPUs each.
TimedRun on_a_fat_tree(spec::Fidelity fidelity, const spec::LinkSpec& port, const spec::LinkSpec& nic) {
  spec::GpuClusterSpec gpus = test::cluster_of(8, 2, port, nic);
  spec::LinkSpec trunk = nic;
  trunk.name = "trunk";
  gpus.fabric = test::fat_tree(2, trunk, 2);
  spec::PlatformSpec platform;
  platform.what = gpus;
  Cluster cluster = test::workers_on(platform, fidelity);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  Script script(16, false);
  script.compute(5);
  script.wait(script.all_reduce(3e6));
  script.wait(script.collective(step::CollectiveKind::all_reduce, same(2e6), "hierarchical"));
  script.wait(script.all_reduce(3e6));
  script.wait(script.collective(step::CollectiveKind::all_gather, same(1e5), "bruck"));
  return time_schedules(cluster, std::vector<schedule::Schedule>{script.schedule()});
}

TEST(LinkUse, IsConservedOnAFatTreeAndTheSameByFlow) {
  spec::LinkSpec port = test::line(1e9, 1e-6);
  port.name = "port";
  spec::LinkSpec nic = test::line(1e8, 1e-5, spec::Transport::rdma, 0.8);
  nic.name = "nic";
  const TimedRun exact = on_a_fat_tree(spec::Fidelity::message, port, nic);
  ASSERT_EQ(exact.network.fidelity, "message");
  const auto use = by_name(exact.network);
  double out = 0;  // bytes that GPUs send: over their ports inside nodes, over adapters between nodes
  double in = 0;
  for (const auto& [name, one] : use) {
    if (one.link_class != "trunk") (name.ends_with("_UP") ? out : in) += one.bytes_per_step;
    if (one.link_class == "nic") {
      // Headers and protocols add bytes, so links are busy for longer than the payload takes.
      EXPECT_GE(one.busy_share, (1 - 1e-12) * one.bytes_per_step / 0.8e8 / exact.steps[0].seconds) << name;
    }
  }
  EXPECT_NEAR(out, sum(exact.steps[0].bytes_sent), 1e-6);
  EXPECT_NEAR(in, sum(exact.steps[0].bytes_received), 1e-6);
  for (const spec::Fidelity fidelity : {spec::Fidelity::flow, spec::Fidelity::closed_form}) {
    const TimedRun coarse = on_a_fat_tree(fidelity, port, nic);
    ASSERT_EQ(coarse.network.fidelity, to_string(fidelity)) << test::notes_of(coarse.network);
    const auto other = by_name(coarse.network);
    ASSERT_EQ(other.size(), use.size());
    for (const auto& [name, one] : use) {
      EXPECT_NEAR(other.at(name).bytes_per_step, one.bytes_per_step, 1e-9 * one.bytes_per_step) << name;
      EXPECT_NEAR(other.at(name).busy_share * coarse.steps[0].seconds, one.busy_share * exact.steps[0].seconds,
                  1e-9 * exact.steps[0].seconds)
          << name;
    }
  }
}

TEST(LinkUse, ListsTheBusiestOfMany) {
  // Each of 2,100 hosts sends and receives, so 4,200 links are used.
  spec::PlatformSpec platform;
  platform.what = test::cluster_of(2100, 1, test::line(1e9, 1e-6), test::line(1e8, 1e-5));
  Cluster cluster = test::workers_on(platform, spec::Fidelity::flow);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  Script script(2100, false);
  script.wait(script.all_reduce(1e6));
  const TimedRun run = time_schedules(cluster, std::vector<schedule::Schedule>{script.schedule()});
  EXPECT_EQ(run.network.links_used, 4200);
  EXPECT_EQ(run.network.link_use.size(), step::NetworkUse::kMostLinks);
}

TEST(StepParts, WaitingIsUntilTheLastHasIssued) {
  const Star star{.workers = 2};
  Script script(2, false);
  script.compute(schedule::PerWorker({1, 3})).wait(script.all_reduce(1e6)).compute(schedule::PerWorker({1, 0}));
  const step::StepTiming step = test::time_on(star, script.schedule());
  EXPECT_NEAR(step.waiting_seconds, 2, 1e-9);
  // Worker 0 waits 2 s. Its first part has then been sent, so only the latency and transfer of worker 1's parts remain.
  EXPECT_NEAR(step.exposed_seconds, 2 + 2 * star.transfer(5e5) + 2 * star.latency, 1e-9);
  EXPECT_EQ(step.compression_seconds, 0);
  // The last worker to issue the all-reduce waits for nobody.
  Script other(2, false);
  other.compute(schedule::PerWorker({1, 3})).wait(other.all_reduce(1e6)).compute(schedule::PerWorker({0, 1}));
  const step::StepTiming late = test::time_on(star, other.schedule());
  EXPECT_EQ(late.waiting_seconds, 0);
  EXPECT_NEAR(late.exposed_seconds, 2 * star.between(5e5), 1e-9);
}

TEST(StepParts, WhatAnAggregatorTakesIsWaitedFor) {
  const Star star{.workers = 2};
  Script script(2);
  script.compute(1).wait(script.gather(1e6), step::Role::aggregator).compute(0.5, step::Role::aggregator);
  script.wait(script.broadcast(5e5));
  const step::StepTiming step = test::time_on(star, script.schedule());
  EXPECT_NEAR(step.waiting_seconds, star.to_hub(1e6) + 0.5, 1e-9);
  EXPECT_NEAR(step.exposed_seconds, star.to_hub(1e6) + 0.5 + star.to_hub(5e5), 1e-9);
}

TEST(StepParts, WaitingByFlowIsThatByMessage) {
  const Star star{.workers = 4};
  const TemporaryFile file(star.xml());
  Script script(4, false);
  script.compute(schedule::PerWorker({10, 10.01, 10.02, 10}))
      .wait(script.all_reduce(1e6))
      .compute(schedule::PerWorker({1, 0, 0, 0}));
  Cluster cluster = cluster_on(file.path(), 4, false);
  double waiting[2];
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    cluster.network.fidelity = fidelity;
    const TimedRun run = time_schedules(cluster, std::vector<schedule::Schedule>{script.schedule()});
    ASSERT_EQ(run.network.fidelity, to_string(fidelity)) << test::notes_of(run.network);
    waiting[fidelity == spec::Fidelity::flow ? 1 : 0] = run.steps[0].waiting_seconds;
  }
  EXPECT_NEAR(waiting[0], 0.02, 1e-9);
  EXPECT_NEAR(waiting[1], 0.02, 1e-9);
}

TEST(StepParts, CompressionIsWhatAnAlgorithmComputesBesideAPlainStep) {
  Script script(2, false);
  script.compute(1).compute(0.5).compute(0.25).compute(0.125).wait(script.all_reduce(1e6));
  schedule::Schedule schedule = script.schedule();
  std::get<schedule::ComputeTask>(schedule.tasks[1].what).phase = step::Phase::factorise;
  std::get<schedule::ComputeTask>(schedule.tasks[2].what).phase = step::Phase::add;
  std::get<schedule::ComputeTask>(schedule.tasks[3].what).phase = step::Phase::update;
  const Star star;
  const TemporaryFile file(star.xml());
  Cluster cluster = cluster_on(file.path(), 2, false);
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    cluster.network.fidelity = fidelity;
    const step::StepTiming step = time_schedules(cluster, std::vector<schedule::Schedule>{schedule}).steps[0];
    EXPECT_NEAR(step.compute_seconds, 1.875, 1e-9);
    EXPECT_NEAR(step.compression_seconds, 0.75, 1e-9);
  }
}

// Each of three all-reduces follows 0.1 s of computing. The network is busy from the first one on, so later computing
// delays nothing.
TEST(StepParts, WhatIsComputedBesideABusyNetworkIsOnNoCriticalPath) {
  const TemporaryFile file(Star{.workers = 2}.xml());
  Script script(2, false);
  std::int32_t last = 0;
  for (int i = 0; i < 3; ++i) last = script.compute(0.1).all_reduce(5e5);
  script.wait(last);
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    Cluster cluster = cluster_on(file.path(), 2, false);
    cluster.network.fidelity = fidelity;
    const step::StepTiming step = time_schedules(cluster, std::vector<schedule::Schedule>{script.schedule()}).steps[0];
    double computing = 0;
    double path = 0;
    for (const step::Bound& bound : step.bounds) {
      path += bound.seconds;
      if (bound.kind == "compute") computing += bound.seconds;
    }
    EXPECT_NEAR(step.compute_seconds, 0.3, 1e-9) << to_string(fidelity);
    EXPECT_NEAR(computing, 0.1, 1e-9) << to_string(fidelity);
    EXPECT_NEAR(path, step.seconds, 1e-9) << to_string(fidelity);
  }
}

TEST(StepParts, AWaitWithoutLatencyIsOnTheCriticalPath) {
  Script script(1);
  script.compute(0.5).gather_and_answer(1e6);
  const step::StepTiming step = test::time_on({.workers = 1, .latency = 0}, script.schedule());
  double path = 0;
  for (const step::Bound& bound : step.bounds) path += bound.seconds;
  EXPECT_NEAR(path, step.seconds, 1e-9);
  EXPECT_EQ(step.bounds.at(0).resource, "up0");
}

}  // namespace
}  // namespace dadsim::sim
