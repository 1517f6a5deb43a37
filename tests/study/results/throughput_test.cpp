// Tests the number of samples of a step: those that it takes, not the upper limit in <training>.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::study {
namespace {

report::Result result_of(const std::string& split, const std::string& training, const std::string& more,
                         const std::string& runs, const std::vector<std::string>& overrides = {}) {
  const std::string text = R"(<scenario name="rows" seed="4">
  <platform><federation><sites name="s" count="4" up="50Mbps" down="50Mbps" latency="2ms"/></federation></platform>
  <workers><worker hosts="s-[1-4]" device="rtx-3090"/><aggregator host="hub" device="xeon-8380"/></workers>)" +
                           more + R"(<data><digits train="64" test="20"/><split )" + split +
                           R"(/></data><model><dense units="8"/><dense units="10"/></model>
  <training batch="5" epochs="2" )" +
                           training + R"(><sgd learning-rate="0.05"/></training>)" + runs + "</scenario>";
  return run_experiment(scenario::ScenarioSource("rows.xml", text).load(overrides, make_catalog()), false);
}

double rows_of(const report::RunResult& run) { return run.throughput->samples * run.step_seconds; }

const std::string kRuns = R"(<run algorithm="gradient-sharing"/><run algorithm="pooled"/><run algorithm="d-psgd"/>)";
const std::string kSkewed = R"(by="dirichlet" alpha="0.3" size-spread="0.8")";

// 64 samples with a limit of 20 per step make four steps of 16, however the samples are distributed.
TEST(Throughput, IsOfTheRowsThatStepsHave) {
  for (const std::string& split : {std::string(R"(by="iid")"), kSkewed}) {
    const report::Result result = result_of(split, "", "", kRuns);
    for (const report::RunResult& run : result.runs) EXPECT_NEAR(rows_of(run), 16, 1e-9) << split << run.spec.label;
  }
}

// A step of another network takes the batch given for it, on average. The learned network, timed with a larger batch,
// takes the same fraction of it as when it learned: 16 of 20 samples become 32 of 40.
TEST(Throughput, OfAnotherNetworkIsOfItsBatch) {
  const std::string other = R"(<timed-as workload="resnet-18" batch="8"/>)";
  for (const report::RunResult& run : result_of(R"(by="iid")", "", other, kRuns).runs)
    EXPECT_NEAR(rows_of(run), 32, 1e-9) << run.spec.label;
  for (const report::RunResult& run : result_of(kSkewed, "", other, kRuns).runs)
    EXPECT_NEAR(rows_of(run), 32, 1) << run.spec.label << ": rounded at each site";
  const std::string same = R"(<timed-as batch="10" precision="fp16"/>)";
  for (const report::RunResult& run : result_of(R"(by="iid")", "", same, kRuns).runs)
    EXPECT_NEAR(rows_of(run), 32, 1e-9) << run.spec.label;
}

// A site takes at most the samples that it has, and none while absent.
TEST(Throughput, OfUnequalSitesIsOfWhatTheyHave) {
  const report::Result equal = result_of(R"(by="sizes" sizes="2 3 9 50")", R"(batches="equal")", "", kRuns);
  for (const report::RunResult& run : equal.runs) EXPECT_NEAR(rows_of(run), 2 + 3 + 5 + 5, 1e-9) << run.spec.label;
  const report::Result some =
      result_of(kSkewed, "", R"(<availability hosts="s-*" by="steps" chance="0.5"/>)",
                R"(<run algorithm="gradient-sharing" absent="without"/><run algorithm="d-psgd" absent="without"/>)");
  for (const report::RunResult& run : some.runs) {
    EXPECT_NEAR(rows_of(run), run.event_driven->participation.samples / static_cast<double>(run.steps), 1e-9);
    EXPECT_LT(rows_of(run), 15) << run.spec.label;
  }
}

// Client batches keep the size set in <training>: 16 samples per client count as 64 of ResNet-18, and 20 as 80. If
// batches of 5, 5, 5 and 1 counted by their mean of four, 16 samples would also count as 80.
TEST(Throughput, LeavesBatchesOfClientsAsTheyAre) {
  const auto busy_of = [](const std::string& samples) {
    return result_of(R"(by="iid")", "", R"(<timed-as workload="resnet-18" batch="20"/>)",
                     R"(<run algorithm="fedavg" rounds="1"/>)", {"data.digits.train=" + samples})
        .runs.front()
        .event_driven->busy_seconds();
  };
  EXPECT_NEAR(busy_of("80") / busy_of("64"), 1.25, 0.12);
}

}  // namespace
}  // namespace dadsim::study
