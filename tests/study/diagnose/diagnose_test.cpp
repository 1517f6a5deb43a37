// Whether a measured time is normal: of times that were simulated with a fault, that fault is named.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "study/diagnose/diagnose_scenario.hpp"
#include "study/diagnose/read_log.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

scenario::Scenario three_nodes(const std::vector<std::string>& overrides = {}) {
  const scenario::ScenarioSource source(
      "three.xml",
      R"(<scenario name="three" seed="1"><platform><gpu-cluster nodes="3" gpus="4" inside="nvlink-3" rails="4" nic="ib-hdr">
         <one-switch/></gpu-cluster></platform>
         <workers><worker hosts="gpu-[0-11]" device="a100-sxm4-80"/></workers><timing-only/>
         <training><adam learning-rate="1e-3"/></training>
         <timed-as workload="gpt-2-medium" batch="4" precision="bf16"/>
         <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)");
  return source.load(overrides, make_catalog_without_learning());
}

report::Diagnosis diagnose_step(double seconds) {
  return diagnose_scenario(three_nodes(), {.source = "--step", .steps = {{.step_seconds = seconds}}}, false);
}

double step_with(const std::vector<std::string>& overrides) {
  return run_experiment(three_nodes(overrides), false).runs.front().step_seconds;
}

std::string first_cause(const report::Diagnosis& diagnosis) {
  return diagnosis.suspicions.empty() ? "" : diagnosis.suspicions.front().cause.text("cause");
}

TEST(Diagnose, WhatIsExpectedIsNormal) {
  const report::Diagnosis diagnosis = diagnose_step(step_with({}));
  EXPECT_EQ(diagnosis.verdict, report::Diagnosis::Verdict::as_expected);
  EXPECT_EQ(answer_of(diagnosis).front().kind, "diagnosed-normal");
  for (const report::Suspicion& one : diagnosis.suspicions) EXPECT_TRUE(one.explains);
}

TEST(Diagnose, FaultsAreNamed) {
  const double slow = step_with({"platform.gpu-cluster.nic=ethernet-10g", "platform.gpu-cluster.rails=1"});
  const report::Diagnosis diagnosis = diagnose_step(slow);
  EXPECT_EQ(diagnosis.verdict, report::Diagnosis::Verdict::slower);
  EXPECT_EQ(first_cause(diagnosis), "slow-interface");
  EXPECT_NEAR(diagnosis.suspicions.front().seconds.front(), slow, 0.02 * slow);
  EXPECT_TRUE(diagnosis.suspicions.front().explains);
  EXPECT_EQ(first_cause(diagnose_step(step_with({"timed-as.precision=tf32"}))), "wide-precision");
  EXPECT_EQ(diagnose_step(step_with({}) / 3).verdict, report::Diagnosis::Verdict::quicker);
}

TEST(Diagnose, CollectivesAreOfTheNetworkAlone) {
  const scenario::Scenario scenario = three_nodes();
  Measurement measured{.source = "--bus-bandwidth"};
  measured.collectives.push_back({.test = "all_reduce_perf", .bytes = 1e9, .bus_bandwidth = 23e9});  // of 92
  const report::Diagnosis diagnosis = diagnose_scenario(scenario, measured, false);
  EXPECT_EQ(diagnosis.verdict, report::Diagnosis::Verdict::slower);
  EXPECT_EQ(first_cause(diagnosis), "one-adapter");
  EXPECT_NEAR(diagnosis.times.front().measured, 2 * 11.0 / 12 * 1e9 / 23e9, 1e-9);
}

TEST(Diagnose, RatesAreTimes) {
  const report::RunResult run = run_experiment(three_nodes(), false).runs.front();
  const double tokens = *run.throughput->tokens;
  const auto measured = [&](const MeasuredStep& one) {
    return diagnose_scenario(three_nodes(), {.source = "x", .steps = {one}}, false).times.front().measured /
           run.step_seconds;
  };
  EXPECT_NEAR(measured({.tokens_per_second = tokens / 1.5}), 1.5, 1e-9);
  EXPECT_NEAR(measured({.tokens_per_second_per_device = tokens / 12 / 1.5}), 1.5, 1e-9);
  EXPECT_NEAR(measured({.utilisation = *run.throughput->model_flops_utilisation / 1.5}), 1.5, 1e-9);
}

TEST(DiagnoseLog, ReadsWhatFrameworksWrite) {
  const Measurement titan = read_log("a.log",
                                     "[titan] step:  1  loss: 12.2  tps: 712  mfu: 4.31%\n"
                                     "[titan] step: 10  loss: 10.8  memory: 40.1GiB(50%)  tps: 5,762  mfu: 34.6%\n"
                                     "[titan] step: 20  loss:  9.8  memory: 40.1GiB(50%)  tps: 5,802  mfu: 34.9%\n");
  EXPECT_DOUBLE_EQ(titan.steps.at(0).tokens_per_second_per_device.value(), (5762 + 5802) / 2.0);
  const Measurement megatron =
      read_log("b.log",
               " iteration        1/     500 | elapsed time per iteration (ms): 9000.1 | global batch size: 64 |\n"
               " iteration        2/     500 | elapsed time per iteration (ms): 1234.5 | global batch size: 64 |\n"
               " iteration        3/     500 | elapsed time per iteration (ms): 1236.5 | global batch size: 64 |\n");
  EXPECT_DOUBLE_EQ(megatron.steps.at(0).step_seconds.value(), 1.2355);
  EXPECT_THROW(read_log("c.log", "nothing of it\n"), InputError);
}

TEST(DiagnoseLog, ReadsProfiles) {
  const Measurement trace = read_log("t.json", R"({"traceEvents": [
      {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "ts": 0, "dur": 1000},
      {"ph": "X", "cat": "kernel", "name": "sgemm", "ts": 100, "dur": 300},
      {"ph": "X", "cat": "kernel", "name": "sgemm", "ts": 200, "dur": 300},
      {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": 450, "dur": 250}]})");
  EXPECT_NEAR(trace.steps.at(0).step_seconds.value(), 1e-3, 1e-12);
  EXPECT_NEAR(trace.profile->computing, 400e-6, 1e-12);
  EXPECT_NEAR(trace.profile->communicating, 200e-6, 1e-12);
  EXPECT_NEAR(trace.profile->idle.value(), 400e-6, 1e-12);
  const Measurement table =
      read_log("t.txt",
               "Name                     Self CPU    CPU total  CPU time avg  Self CUDA  # of Calls\n"
               "ProfilerStep*            10.000ms    40.000ms   20.000ms      0.000us    2\n"
               "aten::mm                 5.000ms     6.000ms    3.000ms       18.000ms   2\n"
               "ampere_bf16_s16816gemm   0.000us     0.000us    0.000us       18.000ms   2\n"
               "nccl:all_reduce          1.000ms     1.000ms    0.500ms       6.000ms    2\n"
               "ncclDevKernel_AllReduce  0.000us     0.000us    0.000us       6.000ms    2\n"
               "Self CPU time total: 40.000ms\n");
  EXPECT_NEAR(table.steps.at(0).step_seconds.value(), 20e-3, 1e-12);
  EXPECT_NEAR(table.profile->computing, 9e-3, 1e-12);
  EXPECT_NEAR(table.profile->communicating, 3e-3, 1e-12);
  EXPECT_THROW(read_log("t.json", R"({"traceEvents": []})"), InputError);
}

}  // namespace
}  // namespace dadsim::study
