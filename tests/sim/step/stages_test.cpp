#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sim/declared.hpp"
#include "sim/fidelity_notes.hpp"
#include "sim/simulator.hpp"
#include "sim/star.hpp"

// Tests replicas that consist of several devices: pipeline stages and tensor groups, by message and by flow.

namespace dadsim::sim {
namespace {

using schedule::Among;
using step::CollectiveKind;
using test::same;

/// Builds a schedule of replicas of several devices, task by task.
class Parallel {
 public:
  Parallel(std::size_t replicas, std::int32_t tensor, std::int32_t pipeline) {
    schedule_.workers = replicas * static_cast<std::size_t>(tensor * pipeline);
    schedule_.tensor = tensor;
    schedule_.pipeline = pipeline;
  }
  void compute(std::int32_t stage, schedule::PerWorker seconds) {
    schedule_.tasks.push_back(
        {"layer",
         schedule::ComputeTask{step::Phase::forward, step::Role::workers, same(0), same(0), std::move(seconds)},
         stage});
  }
  std::int32_t send(std::int32_t from, std::int32_t to, schedule::PerWorker bytes) {
    schedule::CollectiveTask task{CollectiveKind::stage_send, std::move(bytes)};
    task.among = Among::stages;
    task.to_stage = to;
    return add(std::move(task), from);
  }
  std::int32_t collective(std::int32_t stage, Among among, CollectiveKind kind, schedule::PerWorker bytes,
                          const std::string& algorithm = "ring") {
    schedule::CollectiveTask task{kind, std::move(bytes), algorithm};
    task.among = among;
    return add(std::move(task), stage);
  }
  void wait(std::int32_t stage, std::int32_t collective) {
    schedule_.tasks.push_back({"layer", schedule::WaitTask{step::Role::workers, collective}, stage});
  }
  /// Adds an all-reduce and a wait for it.
  void all_reduce(std::int32_t stage, Among among, double bytes) {
    wait(stage, collective(stage, among, CollectiveKind::all_reduce, same(bytes)));
  }
  const schedule::Schedule& schedule() const { return schedule_; }

 private:
  std::int32_t add(schedule::CollectiveTask task, std::int32_t stage) {
    schedule_.tasks.push_back({"layer", std::move(task), stage});
    return static_cast<std::int32_t>(schedule_.tasks.size()) - 1;
  }
  schedule::Schedule schedule_;
};

/// A step of micro-batches through pipeline stages.
struct Pipelined {
  std::int32_t stages = 4, micro_batches = 8;
  bool gpipe = false;
  double forward = 1, backward = 2;  ///< seconds of a stage
  double bytes = 0;                  ///< bytes that a stage sends to the next one per micro-batch
  double tensor_bytes = 0;           ///< bytes of each of the two all-reduces of the tensor group per pass
  std::int32_t tensor = 1;
  std::size_t replicas = 1;
  double gradient_bytes = 0;  ///< gradient bytes per device, all-reduced among replicas
  double tied_bytes = 0;      ///< gradient bytes of a table (tied embeddings) that the first and the last stage
                              ///< exchange
  schedule::PerWorker slower = same(1);

  /// Returns the order of each stage's passes: m is micro-batch m forward, ~m is micro-batch m backward.
  std::vector<std::deque<std::int32_t>> orders() const {
    std::vector<std::deque<std::int32_t>> result(static_cast<std::size_t>(stages));
    for (std::int32_t stage = 0; stage < stages; ++stage) {
      const std::int32_t ahead = gpipe ? micro_batches : std::min(stages - stage, micro_batches);
      auto& order = result[static_cast<std::size_t>(stage)];
      for (std::int32_t m = 0; m < ahead; ++m) order.push_back(m);
      for (std::int32_t m = 0; m < micro_batches; ++m) {
        order.push_back(~m);
        if (m + ahead < micro_batches) order.push_back(m + ahead);
      }
    }
    return result;
  }

  schedule::Schedule schedule() const {
    Parallel made(replicas, tensor, stages);
    std::vector<std::deque<std::int32_t>> left = orders();
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> to_come;  // number of the send task, by receiving
                                                                            // stage and pass
    for (bool more = true; more;) {
      more = false;
      for (std::int32_t stage = 0; stage < stages; ++stage) {
        auto& order = left[static_cast<std::size_t>(stage)];
        if (order.empty()) continue;
        more = true;
        const std::int32_t pass = order.front();
        const bool is_forward = pass >= 0;
        if (stage != (is_forward ? 0 : stages - 1)) {
          const auto found = to_come.find({stage, pass});
          if (found == to_come.end()) continue;
          made.wait(stage, found->second);
        }
        order.pop_front();
        for (int half = 0; half < 2; ++half) {
          made.compute(stage, slower.scaled((is_forward ? forward : backward) / 2));
          if (tensor_bytes > 0) made.all_reduce(stage, Among::tensor, tensor_bytes);
        }
        const std::int32_t next = is_forward ? stage + 1 : stage - 1;
        if (next >= 0 && next < stages) to_come[{next, pass}] = made.send(stage, next, same(bytes));
      }
    }
    if (tied_bytes > 0) {
      const std::int32_t first = made.send(stages - 1, 0, same(tied_bytes));
      const std::int32_t last = made.send(0, stages - 1, same(tied_bytes));
      made.wait(0, first);
      made.wait(stages - 1, last);
    }
    for (std::int32_t stage = 0; stage < stages; ++stage) {
      if (gradient_bytes > 0) made.all_reduce(stage, Among::replicas, gradient_bytes);
    }
    return made.schedule();
  }
};

TimedRun timed(Cluster cluster, const schedule::Schedule& schedule, spec::Fidelity fidelity,
               const TimingRequest& request = {}) {
  cluster.network.fidelity = fidelity;
  const std::vector<schedule::Schedule> schedules{schedule};
  return time_schedules(cluster, schedules, {}, request);
}

/// Times schedules on a star in which every device has its own links.
class OnAStar {
 public:
  OnAStar(std::size_t devices, double rate, double latency)
      : star_{.workers = devices, .rate = rate, .latency = latency},
        file_(star_.xml()),
        cluster_(test::cluster_on(file_.path(), devices, false)) {}
  TimedRun run(const schedule::Schedule& schedule, spec::Fidelity fidelity, const TimingRequest& request = {}) const {
    return timed(cluster_, schedule, fidelity, request);
  }
  step::StepTiming time(const schedule::Schedule& schedule, spec::Fidelity fidelity) const {
    const TimedRun run = timed(cluster_, schedule, fidelity);
    EXPECT_EQ(run.network.fidelity, to_string(fidelity)) << test::notes_of(run.network);
    return run.steps.at(0);
  }
  const test::Star& star() const { return star_; }

 private:
  test::Star star_;
  test::TemporaryFile file_;
  Cluster cluster_;
};

constexpr spec::Fidelity kBoth[] = {spec::Fidelity::message, spec::Fidelity::flow};

TEST(Stages, TheBubbleOfAPipelineIsThatOfItsStagesAndMicroBatches) {
  const OnAStar devices(4, 1e12, 0);
  for (const spec::Fidelity fidelity : kBoth) {
    for (const bool gpipe : {false, true}) {
      const Pipelined pipeline{.gpipe = gpipe, .bytes = 1000};
      const step::StepTiming timing = devices.time(pipeline.schedule(), fidelity);
      EXPECT_NEAR(timing.seconds, (8 + 3) * 3, 1e-3 * 33);
      for (std::size_t device = 0; device < 4; ++device) {
        EXPECT_NEAR(1 - timing.busy_seconds.at(device) / timing.seconds, 3.0 / 11, 1e-3 * 3 / 11);
      }
    }
  }
}

TEST(Stages, WhatIsHandedOnTakesItsTimeOnTheWay) {
  const OnAStar devices(2, 1e3, 0.5);
  Parallel script(1, 1, 2);
  script.compute(0, same(1));
  const std::int32_t first = script.send(0, 1, same(2000));
  script.compute(0, same(1));
  const std::int32_t second = script.send(0, 1, same(2000));  // transferred after the first
  script.wait(1, first);
  script.compute(1, same(1));
  script.wait(1, second);
  script.compute(1, same(4));
  script.wait(0, second);  // a rank that only sends waits for nothing
  for (const spec::Fidelity fidelity : kBoth) {
    const step::StepTiming timing = devices.time(script.schedule(), fidelity);
    EXPECT_NEAR(timing.seconds, 1 + 2 + 2 + 1 + 4, 1e-6);
    EXPECT_NEAR(timing.waiting_seconds, 1, 1e-6);  // until the first message was sent
    EXPECT_NEAR(timing.compute_seconds, 5, 1e-6);
    EXPECT_EQ(timing.bytes_sent, (std::vector<double>{4000, 0}));
    EXPECT_EQ(timing.bytes_received, (std::vector<double>{0, 4000}));
    EXPECT_EQ(timing.busy_seconds, (std::vector<double>{2, 5}));
  }
}

TEST(Stages, TheTwoDirectionsAndTheTensorGroupDoNotWaitForOneAnother) {
  // The middle of three stages sends forward for 8 s. Its messages backward and within its tensor group do not wait for
  // that.
  const OnAStar devices(6, 1e3, 0.5);
  Parallel script(1, 2, 3);
  const std::int32_t forward = script.send(1, 2, same(8000));
  const std::int32_t back = script.send(1, 0, same(0));
  const std::int32_t reduced = script.collective(1, Among::tensor, CollectiveKind::all_reduce, same(0));
  script.wait(1, reduced);
  script.wait(0, back);
  script.compute(0, same(1));
  script.wait(2, forward);
  for (const spec::Fidelity fidelity : kBoth) {
    const step::StepTiming timing = devices.time(script.schedule(), fidelity);
    EXPECT_NEAR(timing.seconds, 9, 1e-6);
  }
}

TEST(Stages, WhatGoesToTwoStagesSharesTheWay) {
  // The last of three stages sends a gradient to the second stage and a table to the first. Its link carries both at
  // once.
  const OnAStar devices(3, 1e3, 0);
  Parallel script(1, 1, 3);
  const std::int32_t back = script.send(2, 1, same(1000));
  const std::int32_t table = script.send(2, 0, same(3000));
  script.wait(1, back);
  script.compute(1, same(4));
  script.wait(0, table);
  for (const spec::Fidelity fidelity : kBoth) {
    const step::StepTiming timing = devices.time(script.schedule(), fidelity);
    EXPECT_NEAR(timing.seconds, 2 + 4, 1e-6) << to_string(fidelity);  // in sequence, the messages would end the step
                                                                      // after 1 + 4 s
  }
}

TEST(Stages, ATensorGroupReducesAmongItself) {
  // Each of two all-reduces takes two rounds of half the vector: 2 · (2 · 0.25 s + 1500/1000 s).
  const OnAStar devices(8, 1e3, 0.25);
  Parallel script(2, 2, 2);
  script.compute(schedule::kEveryStage, same(1));
  script.all_reduce(schedule::kEveryStage, Among::tensor, 3000);
  script.compute(schedule::kEveryStage, same(1));
  script.all_reduce(schedule::kEveryStage, Among::tensor, 3000);
  for (const spec::Fidelity fidelity : kBoth) {
    const step::StepTiming timing = devices.time(script.schedule(), fidelity);
    EXPECT_NEAR(timing.seconds, 2 * (1 + 2 * (0.5 + 1.5)), 1e-6);
    EXPECT_EQ(timing.bytes_sent, std::vector<double>(8, 6000));
  }
}

TEST(Stages, ReplicasReduceInEveryPlace) {
  // Each of three replicas has two stages of two devices. An all-reduce takes four rounds of a third of the vector.
  const OnAStar devices(12, 1e3, 0.25);
  Parallel script(3, 2, 2);
  script.compute(schedule::kEveryStage, schedule::PerWorker({1, 2, 3}));
  script.all_reduce(0, Among::replicas, 3000);
  script.compute(1, same(2));
  script.all_reduce(1, Among::replicas, 6000);
  const step::StepTiming timing = devices.time(script.schedule(), spec::Fidelity::message);
  EXPECT_NEAR(timing.seconds, 5 + 4 * (0.5 + 2), 1e-6);
  EXPECT_EQ(timing.busy_seconds, (std::vector<double>{1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5}));
  EXPECT_NEAR(timing.bytes_sent.at(0), 4000, 1e-9);
  EXPECT_NEAR(timing.bytes_sent.at(11), 8000, 1e-9);
}

TEST(Stages, AGroupOfOneIsDoneAtOnce) {
  const OnAStar devices(2, 1e3, 0.25);
  Parallel script(1, 1, 2);
  script.all_reduce(0, Among::replicas, 3000);
  script.all_reduce(schedule::kEveryStage, Among::tensor, 3000);
  script.compute(schedule::kEveryStage, same(1));
  for (const spec::Fidelity fidelity : kBoth) {
    const step::StepTiming timing = devices.time(script.schedule(), fidelity);
    EXPECT_NEAR(timing.seconds, 1, 1e-9);
    EXPECT_EQ(timing.bytes_sent, std::vector<double>(2, 0));
  }
}

TEST(Stages, PlacesThatReduceTogetherShareTheirLinks) {
  // Two nodes have two GPUs and one replica each. Both devices of a replica use the node's adapter at once.
  const spec::PlatformSpec platform{"", test::cluster_of(2, 2, test::line(1e9, 0), test::line(1e3, 0)), {}, {}};
  Cluster cluster = test::workers_on(platform, spec::Fidelity::flow);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  for (const bool stages : {false, true}) {
    // Device t of stage p in replica d has number t + T (d + D p). With two stages, replica 0 has devices 0 and 2,
    // which must be on one node.
    if (stages) cluster.hosts = {cluster.hosts[0], cluster.hosts[2], cluster.hosts[1], cluster.hosts[3]};
    Parallel script(2, stages ? 1 : 2, stages ? 2 : 1);
    script.all_reduce(schedule::kEveryStage, Among::replicas, 2000);
    for (const spec::Fidelity fidelity : kBoth) {
      const TimedRun run = timed(cluster, script.schedule(), fidelity);
      EXPECT_NEAR(run.steps.at(0).seconds, 2 * 2, 4e-3);  // each all-reduce alone takes 2 rounds of 1 s
    }
  }
}

/// Returns nodes of GPUs with NVLink inside and InfiniBand between them.
Cluster gpus(std::int64_t nodes, std::int64_t per_node, std::int64_t rails) {
  spec::GpuClusterSpec nodes_of =
      test::cluster_of(nodes, per_node, test::line(300e9, 1e-6, spec::Transport::nvlink, 0.8),
                       test::line(50e9, 2e-6, spec::Transport::rdma, 0.9));
  nodes_of.rails = rails;
  Cluster cluster = test::workers_on({"", nodes_of, {}, {}}, spec::Fidelity::flow);
  cluster.devices.assign(cluster.hosts.size(), test::clockwork());
  return cluster;
}

TEST(Stages, FlowIsWhatMessagesComeTo) {
  struct Case {
    std::int32_t tensor, stages;
    std::size_t replicas;
    std::int64_t rails;
    bool gpipe;
    double handed_on;  // bytes
  };
  for (const Case& one : {Case{4, 2, 2, 4, false, 1e7}, Case{2, 4, 2, 4, false, 1e7}, Case{2, 4, 2, 1, true, 1e7},
                          Case{1, 4, 4, 1, false, 5e7}, Case{1, 8, 2, 4, true, 1e7}, Case{4, 4, 1, 1, false, 1e7},
                          Case{1, 8, 2, 4, true, 2e8}, Case{4, 4, 1, 1, false, 2e8}}) {
    const Cluster cluster = gpus(4, 4, one.rails);
    const schedule::Schedule schedule = Pipelined{.stages = one.stages,
                                                  .gpipe = one.gpipe,
                                                  .forward = 0.01,
                                                  .backward = 0.02,
                                                  .bytes = one.handed_on,
                                                  .tensor_bytes = one.tensor > 1 ? 2e7 : 0.0,
                                                  .tensor = one.tensor,
                                                  .replicas = one.replicas,
                                                  .gradient_bytes = one.replicas > 1 ? 5e8 : 0.0}
                                            .schedule();
    const TimedRun flow = timed(cluster, schedule, spec::Fidelity::flow);
    const TimedRun message = timed(cluster, schedule, spec::Fidelity::message);
    const std::string which = fmt::format("T {} P {} D {}", one.tensor, one.stages, one.replicas);
    EXPECT_EQ(flow.network.fidelity, "flow") << which << ": " << test::notes_of(flow.network);
    const double seconds = message.steps.at(0).seconds;
    EXPECT_NEAR(flow.steps.at(0).seconds, seconds, 0.005 * seconds) << which;
    const auto expect_bytes = [&](const std::vector<double>& by_flow, const std::vector<double>& by_message) {
      ASSERT_EQ(by_flow.size(), by_message.size());
      for (std::size_t i = 0; i < by_flow.size(); ++i) EXPECT_NEAR(by_flow[i], by_message[i], 1e-9 * by_message[i]);
    };
    expect_bytes(flow.steps.at(0).bytes_sent, message.steps.at(0).bytes_sent);
    expect_bytes(flow.steps.at(0).bytes_received, message.steps.at(0).bytes_received);
  }
}

TEST(Stages, ShareALinkThroughWhichTheyReduceAtOnce) {
  // Two replicas of two stages are on one node each. The gradients of both stages use the node's adapter at once.
  Cluster cluster = gpus(2, 2, 1);
  cluster.hosts = {cluster.hosts[0], cluster.hosts[2], cluster.hosts[1], cluster.hosts[3]};
  Parallel script(2, 1, 2);
  const std::int32_t first = script.collective(0, Among::replicas, CollectiveKind::all_reduce, same(1e9));
  const std::int32_t second = script.collective(1, Among::replicas, CollectiveKind::all_reduce, same(1e9));
  script.wait(0, first);
  script.wait(1, second);
  const TimedRun run = timed(cluster, script.schedule(), spec::Fidelity::flow);
  EXPECT_EQ(run.network.fidelity, "flow");
  EXPECT_NEAR(run.steps.at(0).seconds, 2 * 2 * 0.5e9 / (0.9 * 50e9), 1e-3 * 0.045);
}

TEST(Stages, WhoeverComesLaterHasWhatAnotherLeavesOfALink) {
  // The tensor group alone would use the whole port of 10 GB/s. For 10 s, messages to the next stage leave it nine
  // tenths of the port.
  Cluster cluster = gpus(2, 2, 1);
  auto& nodes = std::get<spec::GpuClusterSpec>(cluster.platform.what);
  nodes.port = test::line(10e9, 0);
  nodes.nic = test::line(1e9, 0);
  Parallel script(1, 2, 2);
  const std::int32_t sent = script.send(0, 1, same(5e9));  // while both are in transit, each gets half of the adapter
  script.all_reduce(0, Among::tensor, 10e9);               // 1 s if alone
  script.compute(0, same(1));
  script.wait(1, sent);
  for (const spec::Fidelity fidelity : kBoth) {
    const TimedRun run = timed(cluster, script.schedule(), fidelity);
    EXPECT_EQ(run.network.fidelity, to_string(fidelity)) << test::notes_of(run.network);
    EXPECT_NEAR(run.steps.at(0).seconds, 10, 1e-2);
    EXPECT_NEAR(run.steps.at(0).busy_seconds.at(0), 1, 1e-9);
  }
}

TEST(Stages, ReplicasComeToTheirGradientsApart) {
  // The second replica computes more slowly. Tensor groups of different replicas share no link; at the end, replica 0
  // waits for replica 1.
  const OnAStar devices(8, 1e9, 1e-6);
  const Pipelined uneven{
      .stages = 2, .tensor_bytes = 1e6, .tensor = 2, .replicas = 2, .slower = schedule::PerWorker({1, 1.01})};
  const double seconds = devices.time(uneven.schedule(), spec::Fidelity::message).seconds;
  EXPECT_NEAR(devices.time(uneven.schedule(), spec::Fidelity::flow).seconds, seconds, 1e-6 * seconds);
  Pipelined reduced = uneven;
  reduced.gradient_bytes = 1e6;
  const double later = devices.time(reduced.schedule(), spec::Fidelity::message).seconds;
  EXPECT_NEAR(devices.time(reduced.schedule(), spec::Fidelity::flow).seconds, later, 1e-3 * later);
}

TEST(Stages, ATimelineShowsEveryLineOfADevice) {
  const OnAStar devices(8, 1e9, 1e-3);
  TimingRequest traced;
  traced.trace = {0};
  const schedule::Schedule schedule = Pipelined{.stages = 2,
                                                .micro_batches = 2,
                                                .bytes = 1e6,
                                                .tensor_bytes = 1e6,
                                                .tensor = 2,
                                                .replicas = 2,
                                                .gradient_bytes = 1e6}
                                          .schedule();
  for (const spec::Fidelity fidelity : kBoth) {
    const TimedRun run = devices.run(schedule, fidelity, traced);
    const step::Timeline& timeline = *run.timelines.at(0);
    EXPECT_EQ(timeline.workers, 8U);
    std::vector<std::string> of_first;
    for (const step::Timeline::Track& track : timeline.tracks) {
      if (track.node == 0) of_first.push_back(track.name);
    }
    EXPECT_EQ(of_first, (std::vector<std::string>{
                            "worker 0 (w0) compute", "worker 0 (w0) network", "worker 0 (w0) network, tensor group",
                            "worker 0 (w0) network, to later stages", "worker 0 (w0) network, from later stages"}));
    std::map<std::int32_t, double> end_of;  // by track
    for (const step::Timeline::Span& span : timeline.spans) {
      EXPECT_GE(span.begin, end_of[span.track] - 1e-9) << timeline.tracks.at(static_cast<std::size_t>(span.track)).name;
      end_of[span.track] = span.begin + span.seconds;
    }
    EXPECT_EQ(timeline.cut, 0U);
  }
}

TEST(Stages, StepsThatAreInterpolatedHaveTheirBytesOnEveryDevice) {
  const test::Star star{.workers = 8, .rate = 1e9, .latency = 1e-4};
  const test::TemporaryFile file(star.xml());
  Cluster cluster = test::cluster_on(file.path(), 8, false);
  std::vector<schedule::Schedule> schedules;
  for (int i = 1; i <= 5; ++i) {
    schedules.push_back(Pipelined{.stages = 2,
                                  .micro_batches = 2,
                                  .bytes = 1e6 * i,
                                  .tensor_bytes = 1e6,
                                  .tensor = 2,
                                  .replicas = 2,
                                  .gradient_bytes = 3e6 * i}
                            .schedule());
  }
  const TimedRun all = time_schedules(cluster, schedules);
  cluster.network.timed_steps = 3;
  const TimedRun some = time_schedules(cluster, schedules);
  ASSERT_TRUE(some.network.sampling.has_value());
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    for (std::size_t device = 0; device < 8; ++device) {
      const double sent = all.steps[i].bytes_sent.at(device);
      EXPECT_NEAR(some.steps[i].bytes_sent.at(device), sent, 1e-9 * sent) << i << " " << device;
      const double received = all.steps[i].bytes_received.at(device);
      EXPECT_NEAR(some.steps[i].bytes_received.at(device), received, 1e-9 * received) << i << " " << device;
    }
  }
}

}  // namespace
}  // namespace dadsim::sim
