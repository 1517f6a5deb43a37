#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "report/run/answer.hpp"
#include "report/run/result_document.hpp"
#include "scenario/document/load.hpp"
#include "sim/simulator.hpp"
#include "spec/timed_workload.hpp"
#include "study/explain/explain.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/setting/timed_as.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kShipped = DADSIM_SOURCE_DIR "/scenarios/gpt2-medium.xml";

scenario::Scenario shipped(const std::vector<std::string>& overrides = {}) {
  return load_scenario(kShipped, overrides, make_catalog());
}

TEST(TimingOnly, AnswersAQuestionThatAsksForNoAccuracy) {
  const report::Result result = run_experiment(shipped(), false);
  EXPECT_TRUE(result.timing_only);
  ASSERT_EQ(result.runs.size(), 2U);
  const report::RunResult& plain = result.runs[0];
  EXPECT_TRUE(std::isnan(plain.final_accuracy));
  EXPECT_GT(plain.step_seconds, plain.compute_seconds);
  ASSERT_TRUE(plain.throughput);
  EXPECT_DOUBLE_EQ(plain.throughput->samples, 64 * 8 / plain.step_seconds);
  EXPECT_DOUBLE_EQ(plain.throughput->tokens.value(), 1024 * plain.throughput->samples);
  // A single worker has no exposed communication, and no communication slows its computing; the efficiency compares
  // with it.
  const double computing = (plain.step_seconds - plain.exposed_seconds) / plain.step_seconds;
  EXPECT_LT(plain.throughput->scaling_efficiency.value(), computing);
  EXPECT_GT(plain.throughput->scaling_efficiency.value(), computing / 1.189);
  EXPECT_GT(plain.throughput->model_flops_utilisation.value(), 0.05);
  EXPECT_LT(plain.throughput->model_flops_utilisation.value(), 0.7);
  EXPECT_EQ(plain.at_scale.value().relative.ratio.value().value, 1) << "by definition";
  EXPECT_FALSE(result.runs[1].at_scale.value().relative.ratio) << "nobody has learned with it";
  const std::string table = to_table(document_of(result));
  EXPECT_EQ(table.find("nan"), std::string::npos) << table;
  EXPECT_NE(table.find("tokens/s"), std::string::npos) << table;
}

/// If one all-reduce sums all gradients after the backward pass, the exposed time is that of this all-reduce.
TEST(TimingOnly, AgreesWithTheCollectiveAlone) {
  const scenario::Scenario scenario =
      shipped({"run[gradient-sharing].bucket=100GB", "run[gradient-sharing].first-bucket=100GB"});
  const report::Result result = run_experiment(scenario, false);
  sim::Cluster cluster = cluster_of(scenario);
  sim::CollectiveJob job;
  job.request.kind = step::CollectiveKind::all_reduce;
  const auto parameters = static_cast<double>(spec::shape_of_workload(*scenario.timed_as).parameters());
  job.request.bytes = {2 * parameters};  // 2 bytes per parameter in bf16
  const sim::TimedCollectives alone = time_collectives(cluster, std::vector<sim::CollectiveJob>{job}, nullptr);
  EXPECT_NEAR(result.runs[0].exposed_seconds / alone.timings[0].seconds, 1, 0.01);
}

// However sequences are divided among devices, MFU counts the same flops per sample, with and without a mask.
TEST(TimingOnly, CountsTheSameFlopsHoweverSequencesAreDivided) {
  for (const std::string attention : {"plain", "flash-3"}) {
    std::vector<double> flops, masked;  // flops per sample ÷ a device's peak
    for (const std::string context : {"1", "2", "4"}) {
      const std::string text =
          R"(<scenario name="x" seed="1"><platform><gpu-cluster nodes="1" gpus="4" inside="nvlink-4" rails="1" nic="ib-ndr"/>
             </platform><workers memory="ignore"><worker hosts="gpu-*" device="h100-sxm5"/></workers><timing-only/>
             <training><adam/></training><timed-as workload="llama-3.2-1b" sequence="32768" batch="1" precision="bf16" attention=")" +
          attention + "\" context=\"" + context +
          R"("/><run algorithm="gradient-sharing" exchange="peer"/></scenario>)";
      const scenario::Scenario scenario = scenario::ScenarioSource("x.xml", text).load({}, make_catalog());
      const report::RunResult run = run_experiment(scenario, false).runs.front();
      const report::Throughput& done = run.throughput.value();
      EXPECT_LE(done.model_flops_utilisation.value(), 1) << attention << ' ' << context;
      flops.push_back(4 * *done.model_flops_utilisation / done.samples);
      masked.push_back(4 * done.masked_flops_utilisation.value_or(*done.model_flops_utilisation) / done.samples);
    }
    for (std::size_t i = 1; i < flops.size(); ++i) {
      EXPECT_NEAR(flops[i] / flops[0], 1, 1e-9) << attention;
      EXPECT_NEAR(masked[i] / masked[0], 1, 1e-9) << attention;
    }
    EXPECT_EQ(masked[0] < flops[0], attention != "plain");
  }
}

TEST(TimingOnly, ComparedWithAWiderAdapterSaysAFactorAndItsReason) {
  const report::Comparison comparison =
      compare_scenarios(shipped(), shipped({"platform.gpu-cluster.nic=roce-400"}), "nic=roce-400", false);
  const std::vector<report::Compared> runs =
      compared_runs(comparison, answer_to(comparison.before), answer_to(comparison.after));
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].metric, report::Metric::time_per_step);
  EXPECT_GT(*runs[0].before.seconds / *runs[0].after.seconds, 1.1);
  EXPECT_LE(*runs[0].before.seconds / *runs[0].after.seconds, 4.0 + 1e-9)
      << "four times the bandwidth is four times at most";
  EXPECT_NE(report::in_words(statement_on(runs[0], comparison.name)).find(") faster: a step"), std::string::npos);
  EXPECT_NE(runs[0].before.causes.find("bandwidth"), std::string::npos);
  ASSERT_EQ(comparison.differences.size(), 1U);
  EXPECT_EQ(comparison.differences[0].path, "platform.gpu-cluster.nic");
  EXPECT_EQ(comparison.differences[0].before, "roce-100");
  EXPECT_EQ(comparison.differences[0].after, "roce-400");
}

/// Times a federation of twenty clients with equal lines and devices, only some of which take part in a round.
report::Result federation(const std::vector<std::string>& overrides, const std::string& run = "fedavg",
                          const std::string& timed = "payload=\"54.5MB\" step-time=\"24.6s\"") {
  const std::string text = fmt::format(
      R"(<scenario name="clients" seed="1"><platform><federation><sites name="client" count="20" up="100Mbps" down="100Mbps"
         latency="10ms"/><hub up="10Gbps" down="10Gbps" latency="1ms"/></federation></platform>
         <workers><worker hosts="client-[1-20]" device="rtx-4090"/><aggregator host="hub" device="xeon-8380"/></workers>
         <timing-only {}/><run algorithm="{}" rounds="10"/></scenario>)",
      timed, run);
  return run_experiment(scenario::ScenarioSource("clients.xml", text).load(overrides, make_catalog()), false);
}

TEST(TimingOnly, FiguresOfARoundAreThoseOfClientsThatTakePart) {
  const report::Result all = federation({"run[fedavg].fraction=1"});
  for (const double fraction : {0.1, 0.35}) {
    const report::Result some = federation({fmt::format("run[fedavg].fraction={}", fraction)});
    const report::RunResult& run = some.runs.front();
    EXPECT_NEAR(run.event_driven->taking_part(), 20 * fraction, 1e-9);
    EXPECT_NEAR(run.compute_seconds, all.runs.front().compute_seconds, 1e-6) << fraction;
    EXPECT_NEAR(run.compute_seconds, 24.6, 0.001) << fraction;  // 24.6 s; the time to unpack is within the tolerance
    EXPECT_NEAR(run.compute_seconds + run.exposed_seconds, run.step_seconds, 1e-9);
    for (const auto bytes : {&report::RunResult::bytes_up_per_worker, &report::RunResult::bytes_down_per_worker})
      EXPECT_NEAR(run.*bytes, all.runs.front().*bytes, 0.001 * run.*bytes) << fraction;
    EXPECT_NEAR(run.bytes_up_per_worker, 54.5e6, 0.001 * 54.5e6);
    const std::string said = report::as_paragraph(report::answer_to(some).statements);
    EXPECT_NE(said.find(fmt::format("the {:.3g} of 20 workers that take part; {:.3g} sit idle", 20 * fraction,
                                    20 - 20 * fraction)),
              std::string::npos)
        << said;
    EXPECT_NE(to_table(document_of(some)).find("workers that take part 7"), std::string::npos)
        << to_table(document_of(some));
  }
  EXPECT_EQ(report::as_paragraph(report::answer_to(all).statements).find("idle"), std::string::npos)
      << report::as_paragraph(report::answer_to(all).statements);
}

TEST(TimingOnly, AFederationSaysRoundsBytesAndCosts) {
  const report::Result result = federation({"run[fedavg].fraction=0.1", "costs.currency=EUR"});
  const report::Statement said = answer_to(result).statements.front();
  EXPECT_EQ(said.kind, "rounds");
  EXPECT_NEAR(said.number("per_hour") * result.runs.front().step_seconds, 3600, 1e-6);
  EXPECT_NEAR(said.number("computing") + said.number("waiting") + (said.has("server") ? said.number("server") : 0) +
                  (said.has("framework") ? said.number("framework") : 0),
              said.number("seconds"), 1e-9);
  EXPECT_EQ(said.text("currency"), "EUR") << report::as_paragraph(report::answer_to(result).statements);
  // `taking_part` is the number of clients that work at a time, not of clients that work all of the time.
  const report::RunResult buffered =
      federation({"run[fedbuff].concurrency=5", "run[fedbuff].rounds=", "run[fedbuff].updates=20"}, "fedbuff")
          .runs.front();
  EXPECT_NEAR(buffered.event_driven->taking_part(), 5, 0.05);
  EXPECT_GT(buffered.exposed_seconds, 0);
  EXPECT_LT(buffered.exposed_seconds, 0.5 * buffered.step_seconds);
}

TEST(TimingOnly, ComparedRoundsHaveNoEmptyNames) {
  const report::Comparison comparison{.name = "fraction=1",
                                      .before = federation({"run[fedavg].fraction=0.1"}),
                                      .after = federation({"run[fedavg].fraction=1"}),
                                      .differences = {}};
  const std::string said = report::in_words(statement_on(
      compared_runs(comparison, answer_to(comparison.before), answer_to(comparison.after)).front(), comparison.name));
  EXPECT_NE(said.find("a round takes"), std::string::npos) << said;
  for (const char* empty : {"  ", "()", " of takes", "nan"}) EXPECT_EQ(said.find(empty), std::string::npos) << said;
}

TEST(TimingOnly, TakesRanksToBeAtTheirCap) {
  const std::vector<std::string> two_nodes{"platform.gpu-cluster.nodes=2", "workers.worker.hosts=gpu-[0-15]",
                                           "run[2].algorithm=rank-dad", "run[2].rank=", "run[2].label=rank-dad"};
  std::vector<double> bytes;
  for (const char* cap : {"2", "4", "6"}) {
    std::vector<std::string> overrides = two_nodes;
    overrides.push_back(std::string("run[2].cap=") + cap);
    const report::Result result = run_experiment(shipped(overrides), false);
    bytes.push_back(result.runs[1].bytes_up_per_worker);
    const auto& notes = result.runs[1].notes;
    EXPECT_TRUE(std::ranges::any_of(notes, [&](const report::Statement& note) {
      return report::in_words(note).find("at their cap, " + std::string(cap)) != std::string::npos;
    }));
  }
  // Tables and other parameters that are not matrices send equal bytes in all three runs; only ranks differ. With the
  // ranks of the small network, all bytes would be equal.
  EXPECT_GT(bytes[1] - bytes[0], 1e6);
  EXPECT_NEAR((bytes[2] - bytes[1]) / (bytes[1] - bytes[0]), 1, 0.01);
}

TEST(TimingOnly, RefusesSizesThatComeOutOfNumbers) {
  try {
    shipped({"platform.gpu-cluster.nodes=1", "workers.worker.hosts=gpu-[0-7]",
             "run[gradient-sharing].compress.method=sidco"});
    FAIL() << "it was let in";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("depends on learned numbers"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace dadsim::study
