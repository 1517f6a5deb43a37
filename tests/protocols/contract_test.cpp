#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "compress/registry.hpp"
#include "protocols/simulating.hpp"

// Tests laws of every registered event-driven algorithm.

namespace dadsim::test {
namespace {

/// Returns a run without added noise, in which the little that four sites learn would be lost.
spec::RunSpec quiet_run_of(const std::string& protocol) {
  const protocols::EventDrivenMethod& info = protocols::protocol_registry().at(protocol);
  return run_of(protocol, info.perturbs ? info.lossless : spec::ParameterValues());
}

class ProtocolContract : public ::testing::TestWithParam<std::string> {
 protected:
  /// Simulates a run of two epochs on four sites of unequal speed.
  static Simulated simulated(const spec::RunSpec& run, History& history, SmallProblem small = SmallProblem(4)) {
    Learning learning(small.problem(), history);
    auto world = closed_form(4, [](world::Node node) { return 0.1 + 0.03 * static_cast<double>(node); },
                             {.latency = 0.01, .bandwidth = 1e6});
    return simulate(world, small, learning, run);
  }
  static double total(const step::EventLog& log, double step::EventLog::NodeUse::*what) {
    return std::accumulate(log.nodes.begin(), log.nodes.end(), 0.0,
                           [what](double sum, const auto& node) { return sum + node.*what; });
  }
};

TEST_P(ProtocolContract, ParametersHaveMeaningsAndDefaults) {
  const protocols::EventDrivenMethod& info = protocols::protocol_registry().at(GetParam());
  for (const spec::ParameterSpec& parameter : info.parameters) {
    EXPECT_FALSE(parameter.description.empty()) << parameter.name;
    EXPECT_FALSE(parameter.default_value.empty()) << parameter.name;
  }
}

TEST_P(ProtocolContract, PlaysToTheEndOfItsBudgetAndLearns) {
  History history(1, nullptr);
  const Simulated loop = simulated(quiet_run_of(GetParam()), history);
  EXPECT_GT(loop.protocol_log.updates, 0);
  EXPECT_GT(loop.log.seconds, 0);
  ASSERT_GE(loop.qualities.size(), 2U);
  EXPECT_LT(loop.qualities.back()[0], loop.qualities.front()[0]);  // quality 0 is the loss
  for (std::size_t i = 1; i < loop.protocol_log.versions.size(); ++i) {
    EXPECT_GE(loop.protocol_log.versions[i].at, loop.protocol_log.versions[i - 1].at);
    EXPECT_GE(loop.protocol_log.versions[i].updates, loop.protocol_log.versions[i - 1].updates);
    EXPECT_GE(loop.protocol_log.versions[i].bytes, loop.protocol_log.versions[i - 1].bytes);
  }
}

TEST_P(ProtocolContract, LearnsFromBatchesThatAreDrawnByChance) {
  if (protocols::protocol_registry().at(GetParam()).draws_samples) GTEST_SKIP() << "it draws its samples as it goes";
  SmallProblem small(4);
  small.training.batches = spec::TrainingSpec::Batches::poisson;
  History history(1, nullptr);
  const Simulated loop = simulated(quiet_run_of(GetParam()), history, small);
  ASSERT_GE(loop.qualities.size(), 2U);
  EXPECT_LT(loop.qualities.back()[0], loop.qualities.front()[0]);
}

TEST_P(ProtocolContract, WhatIsSentArrivesOrIsLost) {
  History history(1, nullptr);
  const Simulated loop = simulated(quiet_run_of(GetParam()), history);
  EXPECT_DOUBLE_EQ(
      total(loop.log, &step::EventLog::NodeUse::sent),
      total(loop.log, &step::EventLog::NodeUse::received) + total(loop.log, &step::EventLog::NodeUse::lost));
}

TEST_P(ProtocolContract, TheSameSeedGivesTheSameNumbers) {
  History one(1, nullptr);
  History other(1, nullptr);
  const Simulated a = simulated(quiet_run_of(GetParam()), one);
  const Simulated b = simulated(quiet_run_of(GetParam()), other);
  EXPECT_EQ(a.qualities, b.qualities);
  EXPECT_EQ(a.log.seconds, b.log.seconds);
  EXPECT_EQ(a.log.events, b.log.events);
}

/// Tests algorithms whose messages a compressor can encode.
class CompressedProtocolContract : public ProtocolContract {};

TEST_P(CompressedProtocolContract, ComposesWithACompressor) {
  spec::RunSpec run = quiet_run_of(GetParam());
  run.compress.method = "int8";
  for (const spec::ParameterSpec& parameter : compress::compressors().at("int8").parameters) {
    run.compress.parameters[parameter.name] = parameter.default_value;
  }
  History history(1, nullptr);
  const Simulated plain = simulated(quiet_run_of(GetParam()), history);
  const Simulated loop = simulated(run, history);
  EXPECT_LT(loop.qualities.back()[0], loop.qualities.front()[0]);
  EXPECT_LT(total(loop.log, &step::EventLog::NodeUse::sent) / static_cast<double>(loop.protocol_log.updates),
            total(plain.log, &step::EventLog::NodeUse::sent) / static_cast<double>(plain.protocol_log.updates));
}

TEST_P(ProtocolContract, ASitesOutageIsSurvived) {
  SmallProblem small(4);
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto inner = closed_form(4, [](world::Node node) { return 0.1 + 0.03 * static_cast<double>(node); },
                           {.latency = 0.01, .bandwidth = 1e6});
  // A world with an outage of half a second from 0.35 s on.
  struct OneOutage final : world::World {
    explicit OneOutage(world::World& in) : inner(in), next_change(in.timer(0.35)) {}
    world::Activity compute(world::Node node, const world::Work& work) override { return inner.compute(node, work); }
    world::Activity send(world::Node from, world::Node to, double bytes) override {
      return inner.send(from, to, bytes);
    }
    world::Activity collective(const world::Collective& what, world::CollectiveTraffic& traffic) override {
      return inner.collective(what, traffic);
    }
    world::Activity timer(double seconds) override { return inner.timer(seconds); }
    void cancel(world::Activity activity) override { inner.cancel(activity); }
    void set_host(world::Node node, bool up) override { inner.set_host(node, up); }
    void set_link(const std::string& link, bool up) override { inner.set_link(link, up); }
    std::optional<world::Event> next() override {
      for (;;) {
        const std::optional<world::Event> event = inner.next();
        if (!event || event->activity != next_change || event->kind != world::Event::Kind::done) return event;
        inner.set_host(1, changes++ > 0);
        next_change = changes == 1 ? inner.timer(0.5) : 0;
      }
    }
    double now() const override { return inner.now(); }
    bool is_up(world::Node node) const override { return inner.is_up(node); }
    double seconds_of(world::Node node, const world::Work& work) override { return inner.seconds_of(node, work); }
    world::World& inner;
    world::Activity next_change;
    int changes = 0;
  } world(inner);
  const Simulated simulated = simulate(world, small, learning, quiet_run_of(GetParam()));
  EXPECT_EQ(world.changes, 2);
  EXPECT_EQ(simulated.log.nodes[1].outages, 1);
  EXPECT_LT(simulated.qualities.back()[0], simulated.qualities.front()[0]);
  EXPECT_DOUBLE_EQ(
      total(simulated.log, &step::EventLog::NodeUse::sent),
      total(simulated.log, &step::EventLog::NodeUse::received) + total(simulated.log, &step::EventLog::NodeUse::lost));
}

std::vector<std::string> protocol_names(bool (*applies)(const protocols::EventDrivenMethod&)) {
  std::vector<std::string> names;
  for (const protocols::EventDrivenMethod& info : protocols::protocol_registry().all()) {
    if (applies(info)) names.push_back(info.name);
  }
  return names;
}

bool every(const protocols::EventDrivenMethod& /*info*/) { return true; }
bool may_be_compressed(const protocols::EventDrivenMethod& info) {
  return info.compresses(run_of(info.name).parameters);
}

const auto kNamed = [](const auto& tested) {
  std::string name = tested.param;
  std::erase(name, '-');
  return name;
};

INSTANTIATE_TEST_SUITE_P(All, ProtocolContract, ::testing::ValuesIn(protocol_names(every)), kNamed);
INSTANTIATE_TEST_SUITE_P(All, CompressedProtocolContract, ::testing::ValuesIn(protocol_names(may_be_compressed)),
                         kNamed);

}  // namespace
}  // namespace dadsim::test
