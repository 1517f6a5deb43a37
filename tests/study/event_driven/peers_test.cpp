// Tests rounds without a server, in which the collective library sums models on a simulated cluster.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>

#include "scenario/document/load.hpp"
#include "sim/simulator.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

struct PeersDraft {
  std::string run = R"(<run algorithm="diloco" period="4" rounds="3" to="peers"/>)";
  std::string aggregator = {}, beside = {}, timed = {};
  std::string workers = "a.gpu-[0-1] b.gpu-[0-1]";

  std::string xml() const {
    return fmt::format(R"(<scenario name="peers" seed="1">
  <platform>
    <gpu-cluster name="a" nodes="2" gpus="1" inside="nvlink-4" nic="10Gbps"><one-switch/></gpu-cluster>
    <gpu-cluster name="b" nodes="3" gpus="1" inside="nvlink-4" nic="10Gbps"><one-switch/></gpu-cluster>
    <pair from="a" to="b" bandwidth="1Gbps" round-trip="20ms"/>
  </platform>
  <workers><worker hosts="{}" device="h100-sxm5"/>{}</workers>
  <data><digits train="96" test="10"/><split by="dirichlet" alpha="0.5"/></data>
  <model><dense units="30"/><dense units="10"/></model>
  <training batch="8" epochs="2"><sgd learning-rate="0.1"/></training>
  {}{}{}
</scenario>
)",
                       workers, aggregator, timed, beside, run);
  }
};

scenario::Scenario loaded(const PeersDraft& draft) {
  const test::TemporaryFolder folder;
  return scenario::load_scenario(folder.write("peers.xml", draft.xml()), {}, make_catalog());
}

std::string refusal(const PeersDraft& draft) {
  try {
    static_cast<void>(loaded(draft));
    return {};
  } catch (const InputError& error) {
    return error.diagnostics().front().what + "; " + error.diagnostics().front().remedy;
  }
}

report::RunResult result_of(const PeersDraft& draft) { return run_experiment(loaded(draft), false).runs.at(0); }

TEST(Peers, LearnWhatAnAggregatorWouldAndSendAnAllReduce) {
  const report::RunResult peers =
      result_of(PeersDraft{.run = R"(<run algorithm="diloco" period="4" rounds="3" to="peers" all-reduce="ring"/>)"});
  PeersDraft star{.run = R"(<run algorithm="diloco" period="4" rounds="3"/>)",
                  .aggregator = R"(<aggregator host="b.gpu-2" device="xeon-8380"/>)"};
  const report::RunResult server = result_of(star);
  ASSERT_EQ(peers.curve.size(), server.curve.size());
  for (std::size_t i = 0; i < peers.curve.size(); ++i)
    EXPECT_NEAR(peers.curve[i].loss, server.curve[i].loss, 1e-5 * server.curve[i].loss);
  const double numbers = 785 * 30 + 31 * 10;
  EXPECT_NEAR(peers.total_bytes, 3 * 2 * 3 * 4 * numbers, 1) << "2 (n - 1) / n d of each of n, three times";
  EXPECT_EQ(peers.event_driven->participation.facts.at("collectives among participants"), 3);
  EXPECT_GT(peers.total_seconds, 0);
}

TEST(Peers, TakeWhatTheCollectiveTakesAlone) {
  for (const char* algorithm : {"ring", "auto"}) {
    PeersDraft draft{
        .run = fmt::format(R"(<run algorithm="diloco" period="1" rounds="2" to="peers" all-reduce="{}"/>)", algorithm)};
    draft.timed = R"(<timed-as workload="resnet-50" batch="8"/>)";
    const scenario::Scenario scenario = loaded(draft);
    sim::CollectiveJob job{.request = {}, .algorithm = algorithm};
    job.request.bytes = {4 * 25557032.0};
    const sim::CollectiveTiming alone = sim::time_collectives(cluster_of(scenario), std::span(&job, 1)).timings.at(0);
    const double both = alone.cold_seconds + alone.seconds;  // the first all-reduce opens new connections
    const report::RunResult run = run_experiment(scenario, false).runs.at(0);
    double computing = 0;
    for (const step::EventLog::NodeUse& node : run.event_driven->log.nodes) computing = std::max(computing, node.busy);
    EXPECT_GE(run.total_seconds - computing, both) << algorithm;
    EXPECT_LE(run.total_seconds - computing, 1.05 * both) << algorithm << ", with waits for sites with more samples";
  }
}

TEST(Peers, AreTimedWithoutLearningAndFailTogether) {
  scenario::Scenario timed = loaded(PeersDraft{});
  timed.timing_only = true;
  EXPECT_EQ(run_experiment(timed, false).runs.at(0).total_seconds, result_of(PeersDraft{}).total_seconds);
  PeersDraft fails;
  fails.run = R"(<run algorithm="local-sgd" period="4" rounds="6" to="peers"/>)";
  fails.beside = R"(<failures><outage hosts="b.gpu-1" from="1ms" for="2s"/></failures>)";
  const report::RunResult cut = result_of(fails);
  EXPECT_EQ(cut.event_driven->outages(), 1);
  EXPECT_EQ(cut.event_driven->participation.updates, 6);
  EXPECT_LE(cut.event_driven->participation.answered, cut.event_driven->participation.asked);
}

TEST(Peers, ByRegionSendAChangeOnceForAllWorkersOfIt) {
  const auto to = [](const std::string& to, const std::string& aggregator = {}) {
    return result_of(PeersDraft{.run = fmt::format(R"(<run algorithm="diloco" period="4" rounds="3" to="{}"/>)", to),
                                .aggregator = aggregator});
  };
  const report::RunResult region = to("region"), flat = to("peers");
  const report::RunResult server = to("aggregator", R"(<aggregator host="b.gpu-2" device="xeon-8380"/>)");
  ASSERT_EQ(region.curve.size(), flat.curve.size());
  for (std::size_t i = 0; i < region.curve.size(); ++i)
    EXPECT_NEAR(region.curve[i].loss, flat.curve[i].loss, 1e-5 * flat.curve[i].loss);
  const double model = 4 * (785 * 30 + 31 * 10), between = 3 * 2 * model;
  EXPECT_NEAR(region.event_driven->participation.facts.at("bytes between regions"), between, 1e-6);
  EXPECT_NEAR(region.total_bytes - between, 3 * 2 * 2 * model, 1) << "up and down, in two regions of two";
  const auto& nodes = server.event_driven->log.nodes;
  double over_the_line = 0;  // bytes that workers of region a send and receive
  for (std::size_t worker = 0; worker < 2; ++worker) over_the_line += nodes[worker].sent + nodes[worker].received;
  EXPECT_NEAR(over_the_line + 2 * model, 2 * between, 1) << "twice, with two workers in a region";
}

TEST(Peers, ByRegionTakeWhatTheirCollectivesTakeAlone) {
  PeersDraft draft{.run = R"(<run algorithm="diloco" period="1" rounds="2" to="region"/>)"};
  draft.timed = R"(<timed-as workload="resnet-50" batch="8"/>)";
  const scenario::Scenario scenario = loaded(draft);
  const auto alone = [&](step::CollectiveKind kind, std::vector<std::size_t> ranks) {
    sim::CollectiveJob job{.request = {}, .ranks = std::move(ranks)};
    job.request.kind = kind;
    job.request.bytes = {4 * 25557032.0};
    sim::Cluster cluster = cluster_of(scenario);
    cluster.aggregator_host.clear();
    return sim::time_collectives(cluster, std::span(&job, 1)).timings.at(0);
  };
  const sim::CollectiveTiming up = alone(step::CollectiveKind::reduce, {0, 1});
  const sim::CollectiveTiming between = alone(step::CollectiveKind::all_reduce, {0, 2});
  const sim::CollectiveTiming down = alone(step::CollectiveKind::broadcast, {0, 1});
  const double both =
      up.cold_seconds + between.cold_seconds + down.seconds + up.seconds + between.seconds + down.seconds;
  const report::RunResult run = run_experiment(scenario, false).runs.at(0);
  double computing = 0;
  for (const step::EventLog::NodeUse& node : run.event_driven->log.nodes) computing = std::max(computing, node.busy);
  EXPECT_GE(run.total_seconds - computing, both);
  EXPECT_LE(run.total_seconds - computing, 1.05 * both);
}

TEST(Peers, PassThroughAFramework) {
  const auto with = [](const std::string& framework, const std::string& all_reduce) {
    PeersDraft draft{
        .run = fmt::format(R"(<run algorithm="diloco" period="1" rounds="2" to="peers" all-reduce="{}"/>)", all_reduce),
        .beside = framework};
    draft.timed = R"(<timed-as workload="resnet-50" batch="8"/>)";
    return result_of(draft);
  };
  const report::RunResult alone = with("", "ring");
  const report::RunResult own =
      with(R"(<framework serialise="100MBps" deserialise="200MBps" round="2s" per-client="500ms"/>)", "ring");
  const double sent = 1.5 * 4 * 25557032, packing = sent / 100e6 + sent / 200e6;
  EXPECT_NEAR(own.total_seconds - alone.total_seconds, 2 * (2 + 4 * 0.5 + packing), 1e-6);
  const std::string fact = "seconds of the framework, mean of clients";
  EXPECT_NEAR(own.event_driven->participation.facts.at(fact), 2 * packing, 1e-6);
  EXPECT_EQ(own.total_bytes, alone.total_bytes);
  EXPECT_EQ(own.curve.back().loss, alone.curve.back().loss);
  // Lines within a cluster are ten times as fast as lines between clusters, so seven tenths of hivemind's packing are
  // not hidden.
  const double hivemind = 2 * sent / 517.6e6 + sent / 1.5 / 139.4e6;
  EXPECT_NEAR(with(R"(<framework name="hivemind"/>)", "direct").total_seconds - with("", "direct").total_seconds,
              2 * (1.048 + 4 * 0.592 + 0.7 * hivemind), 0.02 * 2 * hivemind);
  EXPECT_EQ(with(R"(<framework name="hivemind"/>)", "auto").total_seconds,
            with(R"(<framework name="hivemind"/>)", "direct").total_seconds);
}

TEST(Peers, SayWhichPeriodsNoRoundHas) {
  const auto remarks = [](const std::string& run) {
    std::string all;
    const report::RunResult result = result_of(PeersDraft{.run = run});
    for (const report::Statement& note : result.notes) {
      if (note.kind == "remark") all += note.text("text") + '\n';
    }
    return all;
  };
  // 96 samples, of which four workers take eight each in a step: six steps in two epochs.
  const std::string late = remarks(R"(<run algorithm="diloco" period="2" periods="3:1 40:4" to="peers"/>)");
  EXPECT_TRUE(late.starts_with("periods=\"40:4\" needs a round that begins there, in a run of 6 steps")) << late;
  EXPECT_EQ(late.find("3:1"), std::string::npos) << late;
  EXPECT_EQ(remarks(R"(<run algorithm="diloco" period="2" periods="3:1 5:4" to="peers"/>)"), "");
  const std::string slow = remarks(R"(<run algorithm="local-sgd" period="3" period-by-rate="0.1" to="peers"/>)");
  EXPECT_NE(slow.find("period-by-rate=\"0.1\" needs 0.202 or more"), std::string::npos) << slow;
  EXPECT_EQ(remarks(R"(<run algorithm="local-sgd" period="3" period-by-rate="0.202" to="peers"/>)"), "");
}

TEST(Peers, SayWhatTheyCannotBe) {
  const auto said = [](const std::string& run, const std::string& beside = {}) {
    return refusal({.run = run, .beside = beside});
  };
  EXPECT_NE(said(R"(<run algorithm="diloco"/>)").find(R"(to="peers")"), std::string::npos);
  EXPECT_EQ(said(R"(<run algorithm="noloco"/>)"), "");
  EXPECT_NE(said(R"(<run algorithm="diloco" to="peers" all-reduce="nonsense"/>)").find("is unknown"),
            std::string::npos);
  EXPECT_NE(said(R"(<run algorithm="noloco" all-reduce="ring"/>)").find("has no effect with"), std::string::npos);
  EXPECT_NE(said(R"(<run algorithm="des-loc"/>)").find("adam"), std::string::npos);
  EXPECT_NE(said(R"(<run algorithm="sparta"/>)", R"(<framework name="flower"/>)").find(R"(name="hivemind")"),
            std::string::npos);
  EXPECT_EQ(said(R"(<run algorithm="sparta"/>)", R"(<framework name="hivemind"/>)"), "");
  EXPECT_NE(said(R"(<run algorithm="diloco" to="peers" encoding="int8-ring" all-reduce="double-binary-tree"/>)")
                .find(R"(all-reduce="ring")"),
            std::string::npos);
  EXPECT_EQ(said(R"(<run algorithm="diloco" to="region" encoding="int8-ring" periods="100:16 400:64"/>)"), "");
  EXPECT_EQ(said(R"(<run algorithm="sparta"/>)", R"(<framework serialise="100MBps" round="2s"/>)"), "");
  PeersDraft near{.run = R"(<run algorithm="diloco" to="region"/>)", .workers = "a.gpu-[0-1]"};
  EXPECT_NE(refusal(near).find("needs workers in several regions, but all are in one; set to=\"peers\""),
            std::string::npos)
      << refusal(near);
  near.run = R"(<run algorithm="diloco" to="peers"/>)";
  EXPECT_EQ(refusal(near), "");
  near = {.run = R"(<run algorithm="diloco" to="region"/>)", .workers = "a.gpu-[0-1] b.gpu-0"};
  EXPECT_EQ(refusal(near), "");
  for (const char* attribute : {R"(aggregate="5MBps")", R"(polling="5s")", R"(idle-cut="5s")"})
    EXPECT_NE(
        said(R"(<run algorithm="sparta"/>)", fmt::format("<framework {}/>", attribute)).find("no run has a server"),
        std::string::npos)
        << attribute;
}

}  // namespace
}  // namespace dadsim::study
