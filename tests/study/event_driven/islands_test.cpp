// Tests islands: participants that are groups of devices. The devices of an island take synchronous steps; for other
// participants an island is one node.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "scenario/document/load.hpp"
#include "spec/timed_workload.hpp"
#include "study/learning/learned.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/cluster_of.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

struct IslandDraft {
  std::string hosts = "a.gpu-[0-3] b.gpu-[0-3]";
  std::string aggregator = R"(<aggregator host="a.gpu-4" device="xeon-8380"/>)";
  std::string timed = R"(tensor="2")";
  std::string runs = R"(<run algorithm="local-sgd" period="3" rounds="4" islands="2"/>)";
  std::string beside = {}, network = {}, worker = {};
  std::int64_t samples = 32;
  std::string pair = R"(bandwidth="1Gbps" round-trip="20ms")", split = {};

  std::string xml() const {
    return fmt::format(
        R"(<scenario name="islands" seed="1">
  <platform>
    <gpu-cluster name="a" nodes="3" gpus="2" inside="nvlink-4" nic="ib-ndr"><one-switch/></gpu-cluster>
    <gpu-cluster name="b" nodes="2" gpus="2" inside="nvlink-4" nic="ib-ndr"><one-switch/></gpu-cluster>
    <pair from="a" to="b" {}/>
  </platform>
  <network>{}</network>
  <workers><worker hosts="{}" device="h100-sxm5"{}/>{}</workers>
  <data><digits train="{}" test="10"/>{}</data>
  <model><dense units="10"/></model>
  <training batch="4" batches="equal" epochs="1"><sgd learning-rate="0.1"/></training>
  <timed-as workload="decoder" layers="4" hidden="256" heads="4" kv-heads="4" feed-forward="512" vocabulary="1000" sequence="128" batch="4" precision="bf16" {}/>
  {}{}
</scenario>
)",
        pair, network, hosts, worker, aggregator, samples, split, timed, beside, runs);
  }
};

scenario::Scenario loaded(const IslandDraft& draft) {
  const test::TemporaryFolder folder;
  return scenario::load_scenario(folder.write("islands.xml", draft.xml()), {}, make_catalog());
}

std::string refusal(const IslandDraft& draft) {
  try {
    static_cast<void>(loaded(draft));
    return {};
  } catch (const InputError& error) {
    return error.diagnostics().front().what + "; " + error.diagnostics().front().remedy;
  }
}

report::RunResult result_of(const IslandDraft& draft) { return run_experiment(loaded(draft), false).runs.at(0); }

double local_step(const report::RunResult& run) {
  return run.event_driven->participation.facts.at("seconds of a local step, the longest");
}

TEST(Islands, TakeTheStepOfTheirDevicesAlone) {
  for (const std::string timed :
       {R"(tensor="2")", R"(tensor="2" sequence-parallel="true" micro-batch="2")", R"(pipeline="2" micro-batch="1")",
        R"(sharding="parameters")", R"(sharding="optimizer" tensor="2")", R"(context="2")", ""}) {
    IslandDraft islands{.timed = timed};
    IslandDraft alone{.hosts = "b.gpu-[0-3]",
                      .aggregator = "",
                      .timed = timed,
                      .runs = R"(<run algorithm="gradient-sharing" exchange="peer"/>)",
                      .samples = 16};
    const report::RunResult run = result_of(islands);
    EXPECT_NEAR(local_step(run) / result_of(alone).step_seconds, 1, 1e-9) << timed;
    EXPECT_EQ(run.event_driven->participation.facts.at("devices of a participant"), 4) << timed;
    EXPECT_EQ(run.event_driven->participation.facts.at("seconds of a local step, the shortest"), local_step(run));
  }
}

// Runs and what-ifs reuse an island's step time unless something inside the island differs. Results equal those of
// timing each alone.
TEST(Islands, ShareStepsWhereNothingInsideDiffers) {
  IslandDraft draft;
  draft.runs += R"(<run algorithm="diloco" period="3" rounds="4" islands="2"/>)";
  const scenario::Scenario scenario = loaded(draft);
  const Learned shared = learn_scenario(scenario, nullptr, false);
  struct Steps {
    double shortest = 0, longest = 0, round = 0;
    bool operator==(const Steps&) const = default;
  };
  const auto steps = [&](const Learned& learned, const std::string& link, double device) {
    sim::Cluster cluster = cluster_of(scenario);
    if (!link.empty()) cluster.changes.push_back({link, 0.01, 1});
    for (spec::DeviceSpec& one : cluster.devices) one.bf16_flops *= device;
    std::vector<Steps> all;
    for (const report::RunResult& run : time_scenario(scenario, learned, cluster, false).runs) {
      const auto& facts = run.event_driven->participation.facts;
      all.push_back({facts.at("seconds of a local step, the shortest"), local_step(run), run.total_seconds});
    }
    return all;
  };
  const std::vector<Steps> before = steps(shared, "", 1);
  EXPECT_EQ(before[0].shortest, before[0].longest);
  EXPECT_EQ(before[0].longest, before[1].longest);
  for (const auto& [link, device] : std::vector<std::pair<std::string, double>>{
           {"a -> b", 1}, {"b -> a", 1}, {"b.*", 1}, {"a.*", 1}, {"*", 1}, {"", 4}, {"", 1}}) {
    const std::vector<Steps> together = steps(shared, link, device);
    EXPECT_EQ(together, steps(learn_scenario(scenario, nullptr, false), link, device)) << link;
    const bool inside_one = link == "a.*" || link == "b.*";
    EXPECT_EQ(together[0].shortest < together[0].longest, inside_one) << link;
    EXPECT_EQ(together[0].longest > before[0].longest, inside_one || link == "*") << link;
    EXPECT_EQ(together[0].longest<before[0].longest, device> 1) << link;
  }
}

// However its devices divide the model, an island sends and receives the whole model once a round.
TEST(Islands, SendTheWholeModelAndComputeItsSteps) {
  for (const std::string timed : {R"(tensor="2")", R"(pipeline="2" micro-batch="1")", R"(sharding="parameters")"}) {
    for (const char* method : {"local-sgd", "diloco"}) {
      IslandDraft draft{.timed = timed};
      draft.runs = fmt::format(R"(<run algorithm="{}" period="3" rounds="4" islands="2"/>)", method);
      const scenario::Scenario scenario = loaded(draft);
      spec::TimedAsSpec whole = *scenario.timed_as;
      whole.parallelism = {};
      const double model = 2 * static_cast<double>(spec::shape_of_workload(whole).parameters());
      const report::RunResult run = run_experiment(scenario, false).runs.at(0);
      // All participants start with the same weights, so two islands send in four rounds and receive in three.
      EXPECT_DOUBLE_EQ(run.total_bytes, 2 * (4 + 3) * model) << timed << ' ' << method;
      const double computed = run.event_driven->log.nodes.at(1).busy;
      EXPECT_GE(computed, 12 * local_step(run)) << timed;
      EXPECT_LE(computed, 1.2 * 12 * local_step(run)) << timed;  // plus work that is done once per round
    }
  }
}

TEST(Islands, OfOneDeviceAreItsWorkers) {
  IslandDraft workers{.timed = "", .runs = R"(<run algorithm="diloco" period="2"/>)"};
  IslandDraft islands{.timed = "", .runs = R"(<run algorithm="diloco" period="2" islands="8"/>)"};
  const report::RunResult a = result_of(workers), b = result_of(islands);
  EXPECT_EQ(a.total_seconds, b.total_seconds);
  EXPECT_EQ(a.total_bytes, b.total_bytes);
  ASSERT_EQ(a.curve.size(), b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) EXPECT_EQ(a.curve[i].loss, b.curve[i].loss);
}

// An island learns from the data of all its workers, and its batch is their batches together.
TEST(Islands, LearnWithTheDataOfTheirWorkers) {
  for (const char* method : {"local-sgd", "diloco", "streaming-diloco", "fedavg", "fedbuff", "scaffold"}) {
    IslandDraft draft{.timed = ""};
    std::string options;
    if (std::string(method).find("lo") != std::string::npos) options = R"( period="2")";
    if (std::string(method) == "streaming-diloco") options += R"( fragments="2")";
    draft.runs = fmt::format(R"(<run algorithm="{}"{} islands="2"/>)", method, options);
    const report::RunResult run = result_of(draft), again = result_of(draft);
    EXPECT_EQ(run.event_driven->workers, 2U) << method;
    EXPECT_GT(run.curve.back().epochs.value_or(0), 0) << method;
    EXPECT_EQ(run.curve.back().loss, again.curve.back().loss) << method;
    EXPECT_EQ(run.total_seconds, again.total_seconds) << method;
    scenario::Scenario timed = loaded(draft);
    timed.timing_only = true;
    EXPECT_EQ(run_experiment(timed, false).runs.at(0).total_seconds, run.total_seconds) << method;
  }
  // One island that holds all data and takes one step a round does plain training on the pooled data.
  IslandDraft one{.timed = "", .runs = R"(<run algorithm="local-sgd" period="1" islands="1"/>)"};
  IslandDraft all{.timed = "", .runs = R"(<run algorithm="pooled"/>)"};
  const report::RunResult island = result_of(one), pooled = result_of(all);
  EXPECT_NEAR(island.curve.back().loss, pooled.curve.back().loss, 1e-4 * pooled.curve.back().loss);
}

/// Returns a synchronous method on two islands of two replicas, whose sites have unequal shares of each class.
IslandDraft every_step(const std::string& run, const std::string& timed = R"(tensor="2")") {
  return {.timed = timed, .runs = fmt::format("<run {}/>", run), .split = R"(<split by="dirichlet" alpha="0.5"/>)"};
}

double bytes_of_model(const IslandDraft& draft) {
  spec::TimedAsSpec whole = *loaded(draft).timed_as;
  whole.parallelism = {};
  return 2 * static_cast<double>(spec::shape_of_workload(whole).parameters());
}

// One island of all devices exchanges nothing, and its step takes as long as in a run without islands.
TEST(Islands, TakeEachStepOfAllDevicesAsOne) {
  for (const std::string timed : {R"(tensor="2")", R"(pipeline="2" micro-batch="1")", R"(sharding="optimizer")"}) {
    const auto in_one_cluster = [&](const char* islands) {
      IslandDraft draft = every_step(fmt::format(R"(algorithm="gradient-sharing" exchange="peer" {})", islands), timed);
      draft.hosts = "a.gpu-[0-3]";  // in one cluster, no first step is slowed by new connections between clusters
      return result_of(draft);
    };
    const report::RunResult one = in_one_cluster(R"(islands="1")"), all = in_one_cluster("");
    EXPECT_NEAR(one.step_seconds / all.step_seconds, 1, 1e-6) << timed;
    EXPECT_EQ(one.total_bytes, 0) << timed;
    EXPECT_EQ(one.workers, 1U) << timed;
    EXPECT_NEAR(one.throughput->samples / all.throughput->samples, 1, 1e-6) << timed;
  }
}

// In an all-reduce of two peers, each sends the summed data once. Bytes that devices exchange inside an island do not
// count.
TEST(Islands, ExchangeOnceAStepWhatAMethodSends) {
  const IslandDraft draft = every_step(R"(algorithm="gradient-sharing" exchange="peer" islands="2" bucket="0")");
  const double model = bytes_of_model(draft);
  const report::RunResult run = result_of(draft);
  EXPECT_NEAR(run.total_bytes / (2 * model * static_cast<double>(run.steps)), 1, 1e-9);
  EXPECT_GT(run.step_seconds, model / 125e6);  // the line has 1 Gbit/s
  for (const char* method : {"power-sgd", "rank-dad", "dad", "acp-sgd", "sign-sgd", "top-k"}) {
    const report::RunResult other =
        result_of(every_step(fmt::format(R"(algorithm="{}" exchange="peer" islands="2")", method)));
    EXPECT_EQ(other.workers, 2U) << method;
    EXPECT_NE(other.total_bytes, run.total_bytes) << method;
    EXPECT_GT(other.step_seconds, 0) << method;
  }
}

// On a fast line, a step takes as long as that of one island alone, but processes the samples of both.
TEST(Islands, HideAQuickExchangeOfEveryStep) {
  IslandDraft draft = every_step(R"(algorithm="gradient-sharing" exchange="peer" islands="2")");
  draft.pair = R"(bandwidth="400Gbps" round-trip="1us")";
  IslandDraft alone = every_step(R"(algorithm="gradient-sharing" exchange="peer")");
  alone.hosts = "b.gpu-[0-3]";
  alone.aggregator = "";
  alone.samples = 16;
  const report::RunResult run = result_of(draft), one = result_of(alone);
  EXPECT_GE(run.step_seconds, one.step_seconds);
  EXPECT_LE(run.step_seconds, one.step_seconds + 4 * bytes_of_model(draft) / 50e9 + 1e-3);
  draft.worker = R"( speed-spread="0.5")";
  EXPECT_GT(result_of(draft).step_seconds, run.step_seconds);
}

TEST(Islands, OfOneDeviceThatTakeEachStepAreWorkers) {
  for (const char* method : {"gradient-sharing", "power-sgd", "dad"}) {
    const report::RunResult workers =
        result_of(every_step(fmt::format(R"(algorithm="{}" exchange="peer")", method), ""));
    const report::RunResult islands =
        result_of(every_step(fmt::format(R"(algorithm="{}" exchange="peer" islands="8")", method), ""));
    EXPECT_EQ(workers.total_seconds, islands.total_seconds) << method;
    EXPECT_EQ(workers.total_bytes, islands.total_bytes) << method;
    EXPECT_EQ(workers.curve.back().loss, islands.curve.back().loss) << method;
  }
}

// The mean gradient of all samples does not depend on how samples are grouped.
TEST(Islands, LearnTheGradientOfAllSamples) {
  for (const char* method : {"gradient-sharing", "dad"}) {
    const std::string run = fmt::format(R"(algorithm="{}" exchange="peer" islands="1")", method);
    IslandDraft draft = every_step(run, "");
    draft.split = {};  // so that one step covers all samples
    const report::RunResult island = result_of(draft);
    draft.runs = R"(<run algorithm="pooled"/>)";
    const report::RunResult pooled = result_of(draft);
    EXPECT_NEAR(island.curve.back().loss, pooled.curve.back().loss, 1e-4 * pooled.curve.back().loss) << method;
  }
}

// Workers of several devices can gossip and can send to an aggregator: each worker is an island of one replica.
TEST(Islands, LetWorkersOfSeveralDevicesGossipAndSendToAnAggregator) {
  const double model = bytes_of_model(every_step(R"(algorithm="gradient-sharing")"));
  for (const std::string timed : {R"(tensor="2")", R"(pipeline="2" micro-batch="2")"}) {
    const report::RunResult ring = result_of(every_step(R"(algorithm="d-psgd" graph="ring")", timed));
    // Each of four workers sends to two neighbours.
    EXPECT_NEAR(ring.total_bytes / (8 * model * static_cast<double>(ring.steps)), 1, 1e-9) << timed;
    const report::RunResult star =
        result_of(every_step(R"(algorithm="gradient-sharing" exchange="aggregator")", timed));
    EXPECT_NEAR(star.total_bytes / (8 * model * static_cast<double>(star.steps)), 1, 1e-9) << timed;
    EXPECT_GT(star.step_seconds, 2 * model / 125e6) << timed;
  }
}

// An island computes a gradient in one step and sends it whole, however its devices divide the network.
TEST(Islands, SendGradientsWhenTheyAreReady) {
  for (const std::string timed : {R"(tensor="2")", R"(pipeline="2" micro-batch="2")"}) {
    IslandDraft draft = every_step(R"(algorithm="async-sgd" updates="6" islands="2")", timed);
    IslandDraft alone = every_step(R"(algorithm="gradient-sharing" exchange="peer")", timed);
    alone.hosts = "b.gpu-[0-3]";
    alone.aggregator = "";
    alone.samples = 16;
    const report::RunResult run = result_of(draft), one = result_of(alone);
    EXPECT_EQ(run.event_driven->workers, 2U) << timed;
    EXPECT_NEAR(local_step(run) / one.step_seconds, 1, 1e-9) << timed;
    EXPECT_GE(run.total_bytes, 6 * bytes_of_model(draft)) << timed;
    draft.runs = R"(<run algorithm="ad-psgd" islands="4"/>)";
    EXPECT_EQ(result_of(draft).event_driven->workers, 4U) << timed;
  }
}

TEST(Islands, ThatTakeEachStepRefuseAbsence) {
  IslandDraft draft = every_step(R"(algorithm="gradient-sharing" exchange="peer" islands="2")");
  draft.beside = R"(<failures><outage hosts="b.gpu-3" from="1ms" for="20s"/></failures>)";
  EXPECT_NE(refusal(draft).find("cannot be absent"), std::string::npos) << refusal(draft);
  draft.runs = R"(<run algorithm="gradient-sharing" exchange="peer" islands="2" failures="none"/>)";
  EXPECT_EQ(refusal(draft), "");
}

TEST(Islands, GoDownWithAnyOfTheirDevicesAndSlowDownWithTheSlowest) {
  IslandDraft draft;
  const report::RunResult whole = result_of(draft);
  draft.beside = R"(<failures><outage hosts="b.gpu-3" from="1ms" for="20s"/></failures>)";
  const report::RunResult cut = result_of(draft);
  EXPECT_EQ(cut.event_driven->outages(), 1);
  EXPECT_GT(cut.event_driven->log.nodes.at(1).down, 0);
  EXPECT_EQ(cut.event_driven->log.nodes.at(0).down, 0);
  draft.beside = "";
  draft.worker = R"( speed="0.5")";
  EXPECT_GT(local_step(result_of(draft)), 1.2 * local_step(whole));
  draft.worker = "";
  draft.network = R"(<jitter spatial="0.3" temporal="0.3"/>)";
  const report::RunResult jittered = result_of(draft);
  EXPECT_GT(local_step(jittered),
            jittered.event_driven->participation.facts.at("seconds of a local step, the shortest"));
}

TEST(Islands, ArePaidForDeviceByDevice) {
  IslandDraft draft;
  draft.beside =
      R"(<costs currency="EUR"><price device="h100-sxm5" per-hour="3.6"/><price device="xeon-8380" per-hour="0"/></costs>)";
  const report::RunResult run = result_of(draft);
  ASSERT_TRUE(run.costs && run.costs->whole.money);
  EXPECT_EQ(run.busy_seconds.size(), 9U);
  EXPECT_NEAR(*run.costs->whole.money, 8 * 0.001 * run.total_seconds, 1e-9);
}

TEST(Islands, SayWhatTheyCannotBe) {
  const auto said = [](const std::string& timed, const std::string& runs) {
    IslandDraft draft;
    draft.timed = timed;
    draft.runs = runs;
    return refusal(draft);
  };
  EXPECT_NE(said("", R"(<run algorithm="diloco" islands="3"/>)").find("does not divide the 8 workers"),
            std::string::npos);
  for (const char* method : {"pooled", "flexible", "flare", "partial-dad"}) {
    EXPECT_NE(said("", fmt::format(R"(<run algorithm="{}" islands="2"/>)", method)).find("islands"), std::string::npos)
        << method;
  }
  EXPECT_NE(said(R"(tensor="2")", R"(<run algorithm="flare"/>)").find("participants of several devices"),
            std::string::npos);
  EXPECT_NE(said(R"(sharding="optimizer")", R"(<run algorithm="diloco"/>)").find(R"(islands="1")"), std::string::npos);
  EXPECT_NE(said(R"(sharding="parameters" sharding-group="4")", R"(<run algorithm="diloco" islands="4"/>)")
                .find("participants of 2 replicas, not a multiple of sharding-group=\"4\""),
            std::string::npos);
  EXPECT_EQ(said(R"(sharding="parameters" sharding-group="2")", R"(<run algorithm="diloco" islands="4"/>)"), "");
}

}  // namespace
}  // namespace dadsim::study
