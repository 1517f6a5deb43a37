// Expects that points of a sweep time common parts once, and get the same bits as points that run alone.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/results/throughput.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::study {
namespace {

scenario::Scenario gpus(const std::vector<std::string>& overrides) {
  const scenario::ScenarioSource source(
      "gpus.xml",
      R"(<scenario name="gpus" seed="1"><platform><gpu-cluster nodes="2" gpus="2" inside="nvlink-3" rails="1" nic="25Gbps"/></platform>
         <workers><worker hosts="gpu-*" device="a100-sxm4-80"/></workers><timing-only/>
         <timed-as workload="resnet-18-cifar10" batch="16" precision="bf16"/>
         <run algorithm="gradient-sharing" exchange="peer"/><costs/></scenario>)");
  return source.load(overrides, make_catalog());
}

TEST(StepAlone, DoesNotDependOnLinesAndIsTimedOnceForAllOfThem) {
  int timed = 0;
  const TimeAnother count = [&](const scenario::Scenario& alone) {
    ++timed;
    return run_experiment(alone, false);
  };
  std::set<double> seconds;
  for (const char* nic : {"1Gbps", "25Gbps", "400Gbps", "9Mbps"}) {
    const scenario::Scenario scenario = gpus({std::string("platform.gpu-cluster.nic=") + nic});
    const StepAlone step = time_step_alone(scenario, count);
    seconds.insert(step.step_seconds);
    EXPECT_NEAR(step.step_seconds, step.compute_seconds, 1e-9 * step.compute_seconds);
  }
  EXPECT_EQ(seconds.size(), 1U);
  EXPECT_LE(timed, 1);  // one of these calls timed it, or an earlier test of this process
  time_step_alone(gpus({"timed-as.batch=17"}), count);
  time_step_alone(gpus({"timed-as.batch=17", "platform.gpu-cluster.nic=100Gbps"}), count);
  EXPECT_LE(timed, 2);
}

TEST(TimingMemory, SimulatesOnceWhatDiffersInPricesAndBudgetsAlone) {
  TimingMemory memory;
  int simulated = 0;
  const auto ask = [&](const std::vector<std::string>& overrides) {
    return memory.of(gpus(overrides), 0, [&] {
      ++simulated;
      sim::TimedRun run;
      run.stand_for = {static_cast<double>(simulated)};
      return run;
    });
  };
  EXPECT_EQ(ask({}).stand_for.front(), 1);
  EXPECT_EQ(ask({"costs.electricity=0.2"}).stand_for.front(), 1);
  EXPECT_EQ(ask({"timed-as.samples=1000000"}).stand_for.front(), 1);
  EXPECT_EQ(ask({"platform.gpu-cluster.nic=26Gbps"}).stand_for.front(), 2);
  EXPECT_EQ(ask({"timed-as.batch=8"}).stand_for.front(), 3);
  EXPECT_EQ(ask({"run[1].bucket=1MB"}).stand_for.front(), 4);
  EXPECT_EQ(ask({"seed=2"}).stand_for.front(), 5);
  EXPECT_EQ(ask({"network.fidelity=flow"}).stand_for.front(), 6);
  EXPECT_EQ(simulated, 6);
}

}  // namespace
}  // namespace dadsim::study
