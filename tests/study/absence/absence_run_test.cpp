// Tests whole runs, learned and timed, whose sites fail.
#include "study/absence/absence_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "algorithms/registry.hpp"
#include "report/run/answer.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

report::Result result_of(const std::string& text) {
  const test::TemporaryFolder folder;
  return run_experiment(scenario::load_scenario(folder.write("absence.xml", text), {}, make_catalog()), false);
}

std::string scenario_of(std::uint64_t seed, const std::string& failures, const std::string& runs,
                        const std::string& training = "<sgd learning-rate=\"0.1\"/>") {
  return "<scenario name=\"absence\" seed=\"" + std::to_string(seed) + R"(">
  <platform>
    <federation>
      <sites name="site" count="4" up="10Mbps" down="20Mbps" latency="5ms" transport="plain"/>
      <hub up="1Gbps" down="1Gbps" latency="1ms"/>
    </federation>
  </platform>
  <workers><worker hosts="site-[1-4]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>
)" + failures +
         R"(  <data><digits train="90" test="20"/><split by="dirichlet" alpha="0.5"/></data>
  <model><dense units="8" activation="relu"/><dense units="10"/></model>
  <training batch="4" epochs="2" target-accuracy="0.99">)" +
         training + "</training>\n" + runs + "</scenario>\n";
}

void expect_balanced(const report::RunResult& run, const std::string& what) {
  ASSERT_TRUE(run.event_driven.has_value()) << what;
  const report::EventDrivenResult& counted = *run.event_driven;
  const double sent = counted.bytes_sent();
  EXPECT_NEAR(sent, counted.bytes_received() + counted.bytes_lost(), 1e-6 * sent + 1e-3) << what;
  EXPECT_NEAR(run.total_bytes, sent, 1e-9 * sent) << what;
  EXPECT_NEAR(run.total_seconds, counted.log.seconds, 1e-9 * run.total_seconds) << what;
  EXPECT_EQ(counted.participation.asked, counted.participation.answered + counted.participation.failed) << what;
  EXPECT_EQ(counted.participation.updates, run.steps) << what;
  EXPECT_TRUE(std::isfinite(run.curve.back().loss)) << what;
  for (const report::EventDrivenResult::Worker& worker : counted.per_worker())
    EXPECT_LE(worker.busy + worker.down, counted.log.seconds * (1 + 1e-9)) << what;
}

// A node leaves in the first step: no step is taken, the work so far is counted, and idle time is not negative. Runs
// that go on without the node, and workers of several devices, are tested too.
TEST(AbsenceRun, WhoLeavesInTheFirstStepBreaksItOff) {
  const auto leaves = [](const std::string& cluster, const std::string& workers, const std::string& run) {
    return result_of("<scenario name=\"leaves\" seed=\"1\"><platform><gpu-cluster " + cluster +
                     " nic=\"ib-hdr\"/></platform>" + workers +
                     "<timing-only/><failures><leaves hosts=\"gpu-0\" at=\"1ms\"/></failures>" + run + "</scenario>")
        .runs.front();
  };
  const std::string bert = R"(<timed-as workload="bert-large" batch="8" precision="bf16")";
  const std::string two = R"(<workers><worker hosts="gpu-[0-1]" device="a100-sxm4-80"/></workers>)" + bert + "/>";
  const report::RunResult wait =
      leaves(R"(nodes="2" gpus="1" rails="1")", two, R"(<run algorithm="gradient-sharing"/>)");
  EXPECT_EQ(wait.steps, 0);
  const report::EventDrivenResult& counted = wait.event_driven.value();
  EXPECT_TRUE(counted.stopped);
  EXPECT_NEAR(counted.log.seconds, 1e-3, 1e-12);
  EXPECT_GT(counted.busy_seconds(), 0);
  EXPECT_GE(counted.idle_seconds(), 0);
  EXPECT_NEAR(counted.busy_seconds() + counted.down_seconds() + counted.idle_seconds(), 2e-3, 1e-12);
  EXPECT_NEAR(wait.total_bytes, counted.bytes_sent(), 1e-9 * counted.bytes_sent());
  for (const char* algorithm : {"gradient-sharing", "d-psgd"}) {
    const report::RunResult without = leaves(R"(nodes="2" gpus="1" rails="1")", two,
                                             std::string("<run algorithm=\"") + algorithm + R"(" absent="without"/>)");
    EXPECT_GT(without.steps, 0);
    const report::EventDrivenResult& goes_on = without.event_driven.value();
    EXPECT_EQ(goes_on.participation.failed, 2) << algorithm << ": the first step of both";
    EXPECT_EQ(goes_on.participation.took_part[0], 0) << algorithm;
    EXPECT_GE(goes_on.idle_seconds(), 0) << algorithm;
    EXPECT_NEAR(goes_on.down_seconds(), goes_on.log.seconds - 1e-3, 1e-9) << algorithm;
  }
  const report::RunResult divided =
      leaves(R"(nodes="4" gpus="2" rails="1" inside="nvlink-3")",
             R"(<workers><worker hosts="gpu-[0-7]" device="a100-sxm4-80"/></workers>)" + bert + R"( tensor="2"/>)",
             R"(<run algorithm="gradient-sharing" absent="without"/>)");
  ASSERT_EQ(divided.event_driven->per_worker().size(), 4U);
  for (const report::EventDrivenResult::Worker& worker : divided.event_driven->per_worker())
    EXPECT_LE(worker.busy + worker.down, divided.event_driven->log.seconds * (1 + 1e-9));
}

// Runs with and without failures share a table. A run that waits for absent sites learns the same and takes longer.
TEST(AbsenceRun, WithAndWithoutFailuresStandInOneTable) {
  const report::Result result = result_of(
      scenario_of(3,
                  "<failures><fails hosts=\"site-*\" mtbf=\"1s\" mttr=\"300ms\"/>"
                  "<checkpoint every=\"20ms\" size=\"1MB\" storage=\"1GBps\"/></failures>\n",
                  "<run algorithm=\"dad\" label=\"none\" failures=\"none\"/>\n<run algorithm=\"dad\" label=\"wait\"/>\n"
                  "<run algorithm=\"dad\" label=\"restart\" absent=\"restart\"/>\n"
                  "<run algorithm=\"dad\" label=\"without\" absent=\"without\"/>\n"));
  const report::RunResult& none = result.runs[0];
  EXPECT_FALSE(none.event_driven.has_value());
  for (const std::size_t i : {1U, 2U}) {
    const report::RunResult& run = result.runs[i];
    expect_balanced(run, run.spec.label);
    EXPECT_GT(run.event_driven->outages(), 0);
    EXPECT_GT(run.total_seconds, none.total_seconds);
    ASSERT_EQ(run.curve.size(), none.curve.size());
    for (std::size_t p = 0; p < run.curve.size(); ++p) EXPECT_EQ(run.curve[p].loss, none.curve[p].loss);
  }
  expect_balanced(result.runs[3], "without");
  EXPECT_NE(result.runs[3].curve.back().loss, none.curve.back().loss);
  EXPECT_LT(result.runs[3].total_seconds, result.runs[1].total_seconds);
}

// A run that waits for a site that never returns stops and reports its result so far.
TEST(AbsenceRun, ARunThatWaitsForWhoHasLeftStopsAndAnswers) {
  const report::Result result = result_of(
      scenario_of(3, "<failures><leaves hosts=\"site-2\" at=\"100ms\"/></failures>\n",
                  "<run algorithm=\"dad\" label=\"none\" failures=\"none\"/>\n<run algorithm=\"dad\" label=\"wait\"/>\n"
                  "<run algorithm=\"dad\" label=\"without\" absent=\"without\"/>\n"
                  "<run algorithm=\"choco-sgd\"/>\n<run algorithm=\"fedavg\" rounds=\"10\"/>\n"));
  const report::RunResult& none = result.runs[0];
  const report::RunResult& wait = result.runs[1];
  ASSERT_TRUE(wait.event_driven && wait.event_driven->stopped);
  EXPECT_NE(wait.event_driven->stopped->text("fault").find("site-2 will not come back"), std::string::npos);
  EXPECT_GT(wait.steps, 0);
  EXPECT_LT(wait.steps, none.steps);
  EXPECT_EQ(wait.curve.back().step, wait.steps) << "it is evaluated as it is left";
  EXPECT_LE(wait.total_seconds, wait.event_driven->log.seconds);
  EXPECT_NEAR(wait.total_bytes, wait.event_driven->bytes_received() + wait.event_driven->bytes_lost(), 1e-3);
  EXPECT_NEAR(wait.total_bytes, wait.event_driven->bytes_sent(), 1e-3);
  EXPECT_EQ(result.runs[2].steps, none.steps);
  EXPECT_FALSE(result.runs[2].event_driven->stopped);
  EXPECT_TRUE(result.runs[3].event_driven->stopped) << "neighbours wait for each other";
  EXPECT_FALSE(result.runs[4].event_driven->stopped) << "a server hears of it and goes on without";
  EXPECT_EQ(result.runs[4].steps, 10);
  const report::Answer answer = report::answer_to(result);
  EXPECT_EQ(std::ranges::count(answer.statements, std::string("stopped"), &report::Statement::kind), 2);
}

TEST(AbsenceRun, WithoutItsAggregatorARunStopsBeforeItsFirstStep) {
  const report::Result result = result_of(scenario_of(
      3, "<failures><outage hosts=\"hub\"/></failures>\n",
      "<run algorithm=\"dad\"/>\n<run algorithm=\"rank-dad\" absent=\"without\"/>\n<run algorithm=\"fedavg\"/>\n"
      "<run algorithm=\"async-sgd\"/>\n<run algorithm=\"gradient-sharing\" exchange=\"peer\"/>\n"));
  for (std::size_t i = 0; i < 4; ++i) {
    SCOPED_TRACE(result.runs[i].spec.label);
    EXPECT_EQ(result.runs[i].steps, 0);
    ASSERT_TRUE(result.runs[i].event_driven && result.runs[i].event_driven->stopped);
    EXPECT_EQ(result.runs[i].curve.size(), 1U) << "before training";
  }
  EXPECT_FALSE(result.runs[4].event_driven->stopped) << "peers have no use for it";
}

// The hub comes back again and again, but never for as long as a message takes.
TEST(AbsenceRun, OutagesCloserTogetherThanAMessageTakesStopARun) {
  const report::Result result =
      result_of(scenario_of(3, "<failures><fails hosts=\"hub\" mtbf=\"2ms\" mttr=\"2ms\"/></failures>\n",
                            "<run algorithm=\"async-sgd\"/>\n<run algorithm=\"dad\"/>\n"));
  for (const report::RunResult& run : result.runs) {
    ASSERT_TRUE(run.event_driven && run.event_driven->stopped) << run.spec.label;
    EXPECT_EQ(run.steps, 0) << run.spec.label << ": the first is broken off too";
    EXPECT_GE(run.event_driven->outages(), 999) << run.spec.label << ": the thousandth begins as the run ends";
  }
}

TEST(AbsenceRun, WithoutAnOutageInItNothingIsDifferent) {
  const report::Result result = result_of(scenario_of(
      3, "<failures><outage hosts=\"site-2\" from=\"100h\"/></failures>\n",
      "<run algorithm=\"rank-dad\" failures=\"none\"/>\n<run algorithm=\"rank-dad\"/>\n"
      "<run algorithm=\"rank-dad\" absent=\"without\"/>\n<run algorithm=\"gradient-sharing\" exchange=\"peer\"/>\n"
      "<run algorithm=\"gradient-sharing\" exchange=\"peer\" absent=\"without\"/>\n"));
  for (const auto& [a, b] : {std::pair{0, 1}, {0, 2}, {3, 4}}) {
    const report::RunResult& one = result.runs[static_cast<std::size_t>(a)];
    const report::RunResult& other = result.runs[static_cast<std::size_t>(b)];
    EXPECT_NEAR(other.total_seconds, one.total_seconds, 1e-9 * one.total_seconds) << b;
    EXPECT_EQ(other.total_bytes, one.total_bytes) << b;
    ASSERT_EQ(other.curve.size(), one.curve.size());
    for (std::size_t p = 0; p < one.curve.size(); ++p) EXPECT_EQ(other.curve[p].loss, one.curve[p].loss) << b;
  }
}

TEST(AbsenceRun, TheSameSeedGivesTheSameBitsAndAnotherOneOtherOutages) {
  const auto run = [](std::uint64_t seed) {
    return result_of(scenario_of(seed, "<failures><fails hosts=\"site-*\" mtbf=\"400ms\" mttr=\"200ms\"/></failures>\n",
                                 "<run algorithm=\"power-sgd\" absent=\"without\"/>\n"))
        .runs.front();
  };
  const report::RunResult first = run(5);
  const report::RunResult again = run(5);
  EXPECT_EQ(first.total_seconds, again.total_seconds);
  EXPECT_EQ(first.curve.back().loss, again.curve.back().loss);
  EXPECT_EQ(first.event_driven->participation.took_part, again.event_driven->participation.took_part);
  EXPECT_NE(first.event_driven->participation.took_part, run(6).event_driven->participation.took_part);
}

TEST(AbsenceRun, ASiteBehindALineThatIsCutIsMissedAndKeepsItsModel) {
  const report::Result result =
      result_of(scenario_of(3, "<failures><outage links=\"site-2 up\" from=\"20ms\" for=\"400ms\"/></failures>\n",
                            "<run algorithm=\"gradient-sharing\" absent=\"without\"/>\n<run "
                            "algorithm=\"gradient-sharing\" label=\"wait\"/>\n"));
  for (const report::RunResult& run : result.runs) expect_balanced(run, run.spec.label);
  const auto& took_part = result.runs[0].event_driven->participation.took_part;
  EXPECT_LT(took_part[1], took_part[0]);
  EXPECT_EQ(took_part[0], result.runs[0].steps);
  EXPECT_EQ(result.runs[1].event_driven->participation.facts.count("times that a site was handed the model"), 0U)
      << "who is cut off for a while loses nothing of its memory";
}

// After missed steps, neighbours' copies differ, so each edge needs a copy at both of its ends.
TEST(AbsenceRun, WhatASiteKeepsOfItsNeighboursIsInItsMemory) {
  const auto floats = [](const std::string& run) {
    const report::Result result =
        result_of(scenario_of(1, "<failures><outage hosts=\"site-1\" from=\"1s\" for=\"1s\"/></failures>\n", run));
    const double parameters = 785.0 * 8 + 9 * 10;
    return result.runs.front().memory.algorithm / (4 * parameters);
  };
  EXPECT_DOUBLE_EQ(floats("<run algorithm=\"choco-sgd\"/>"), 3);
  EXPECT_DOUBLE_EQ(floats("<run algorithm=\"choco-sgd\" absent=\"without\"/>"), 3 * 2) << "two neighbours in a ring";
  EXPECT_DOUBLE_EQ(floats("<run algorithm=\"choco-sgd\" graph=\"complete\" absent=\"without\"/>"), 3 * 3);
  EXPECT_DOUBLE_EQ(floats("<run algorithm=\"sparse-push\" graph=\"ring\" absent=\"without\"/>"), 1 + 4);
  EXPECT_DOUBLE_EQ(floats("<run algorithm=\"sparse-push\" form=\"shared-mask\" absent=\"without\"/>"), 2);
}

/// A run of a synchronous method, with the <training> that the method needs.
struct Drawn {
  std::string run, training;
};

std::vector<Drawn> all_methods() {
  std::vector<Drawn> all;
  for (const algorithms::SynchronousMethod& method : algorithms::algorithm_registry().all()) {
    if (!method.communicates()) continue;
    const bool adam = method.optimizer == algorithms::Needs::adam;
    const std::string training = adam                                          ? "<adam learning-rate=\"0.001\"/>"
                                 : method.optimizer == algorithms::Needs::muon ? "<muon/>"
                                                                               : "<sgd learning-rate=\"0.02\"/>";
    for (const char* exchange : {"aggregator", "peer"}) {
      if (method.decentralised() && std::string(exchange) == "aggregator") continue;
      std::string run = "<run algorithm=\"" + method.name + "\"";
      if (!method.decentralised()) run += " exchange=\"" + std::string(exchange) + "\"";
      // In 1-bit Adam among peers, each site owns a part of the parameters, so a step cannot go on without a site.
      const bool goes_without = !(adam && std::string(exchange) == "peer");
      all.push_back({run + (goes_without ? " absent=\"without\"" : ""), training});
      if (goes_without) all.push_back({run + " absent=\"retry\" absent-patience=\"100ms\"", training});
      all.push_back({run, training});
      all.push_back({run + " absent=\"restart\"", training});
    }
  }
  // Compressors run with and without error memory, in some of the methods.
  for (const char* compress : {"int8", "top-k", "qsgd", "sign", "dgc", "random-k", "natural", "fp16"}) {
    const std::string with = std::string("><compress method=\"") + compress + "\"/></run>\n";
    all.push_back({"<run algorithm=\"gradient-sharing\" absent=\"without\"" + with, "<sgd learning-rate=\"0.02\"/>"});
    if (std::string(compress) != "dgc")
      all.push_back({"<run algorithm=\"ef21\" absent=\"without\"" + with, "<sgd learning-rate=\"0.02\"/>"});
    all.push_back({"<run algorithm=\"gradient-sharing\" exchange=\"peer\" absent=\"without\"" + with,
                   "<sgd learning-rate=\"0.02\"/>"});
  }
  return all;
}

// All draws would take too long, so the suite runs every seventh. DADSIM_ALL_DRAWN=1 runs all 1,000.
TEST(AbsenceRun, EveryMethodGoesThroughDrawnOutagesAndItsBytesBalance) {
  const std::vector<Drawn> methods = all_methods();
  const bool all = std::getenv("DADSIM_ALL_DRAWN") != nullptr;
  const std::size_t runs = all ? 1000 : methods.size() / 7;
  std::size_t with_outages = 0;
  for (std::size_t i = 0; i < runs; ++i) {
    const Drawn& drawn = methods[(all ? i : 7 * i + 3) % methods.size()];
    const std::uint64_t seed = 1 + i;
    const std::string run = drawn.run.ends_with(">\n") ? drawn.run : drawn.run + "/>\n";
    const std::string what = run + " of seed " + std::to_string(seed);
    const std::string failures =
        "<failures><fails hosts=\"*\" mtbf=\"" + std::to_string(150 + 90 * (i % 7)) + "ms\" mttr=\"" +
        std::to_string(30 + 40 * (i % 3)) + "ms\" shape=\"0.8\"/>" +
        (i % 4 == 1 ? "<fails links=\"site-* up\" mtbf=\"900ms\" mttr=\"60ms\"/>" : "") +
        (i % 5 == 2 ? "<joins hosts=\"site-3\" at=\"250ms\"/>" : "") +
        (run.find("restart") == std::string::npos
             ? ""
             : "<checkpoint every=\"50us\" size=\"100kB\" storage=\"1GBps\" restore=\"2ms\"/>") +
        "</failures>\n" + (i % 3 == 0 ? "<availability hosts=\"site-1\" drop-out=\"0.02\" returns=\"200ms\"/>\n" : "");
    const report::Result result = result_of(scenario_of(seed, failures, run, drawn.training));
    expect_balanced(result.runs.front(), what);
    with_outages += result.runs.front().event_driven->outages() > 0 ? 1 : 0;
  }
  EXPECT_GT(with_outages, runs * 9 / 10);
}

}  // namespace
}  // namespace dadsim::study
