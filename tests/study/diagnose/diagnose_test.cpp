// Tests the diagnosis of measured times: it must name the fault that was simulated.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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
  EXPECT_EQ(diagnosis.verdict, report::Diagnosis::SpeedVerdict::as_expected);
  EXPECT_EQ(answer_of(diagnosis).front().kind, "diagnosed-normal");
  for (const report::Suspicion& one : diagnosis.suspicions) EXPECT_TRUE(one.explains);
}

TEST(Diagnose, FaultsAreNamed) {
  const double slow = step_with({"platform.gpu-cluster.nic=ethernet-10g", "platform.gpu-cluster.rails=1"});
  const report::Diagnosis diagnosis = diagnose_step(slow);
  EXPECT_EQ(diagnosis.verdict, report::Diagnosis::SpeedVerdict::slower);
  EXPECT_EQ(first_cause(diagnosis), "slow-interface");
  EXPECT_NEAR(diagnosis.suspicions.front().seconds.front(), slow, 0.02 * slow);
  EXPECT_TRUE(diagnosis.suspicions.front().explains);
  EXPECT_EQ(first_cause(diagnose_step(step_with({"timed-as.precision=tf32"}))), "wide-precision");
  EXPECT_EQ(diagnose_step(step_with({}) / 3).verdict, report::Diagnosis::SpeedVerdict::quicker);
}

TEST(Diagnose, CollectivesAreOfTheNetworkAlone) {
  const scenario::Scenario scenario = three_nodes();
  Measurement measured{.source = "--bus-bandwidth"};
  measured.collectives.push_back({.bytes = 1e9, .bus_bandwidth = 23e9});  // the model expects 92 GB/s
  const report::Diagnosis diagnosis = diagnose_scenario(scenario, measured, false);
  EXPECT_EQ(diagnosis.verdict, report::Diagnosis::SpeedVerdict::slower);
  EXPECT_EQ(first_cause(diagnosis), "one-adapter");
  EXPECT_NEAR(diagnosis.times.front().measured, 2 * 11.0 / 12 * 1e9 / 23e9, 1e-9);
}

std::vector<std::string> causes_of(const report::Diagnosis& diagnosis) {
  std::vector<std::string> causes;
  for (const report::Suspicion& one : diagnosis.suspicions) causes.push_back(one.cause.text("cause"));
  return causes;
}

std::size_t place_of(const report::Diagnosis& diagnosis, const std::string& cause) {
  const std::vector<std::string> causes = causes_of(diagnosis);
  return static_cast<std::size_t>(std::ranges::find(causes, cause) - causes.begin());
}

// Every operation is recognised, and bus bandwidth is converted to time by its own factor.
TEST(Diagnose, EveryCollectiveIsTimedAsWhatItIs) {
  using report::Operation;
  for (const auto& [operation, factor, words] : std::vector<std::tuple<Operation, double, std::string>>{
           {Operation::broadcast, 1, "A broadcast"},
           {Operation::reduce, 1, "A reduce"},
           {Operation::gather, 11.0 / 12, "A gather"},
           {Operation::scatter, 11.0 / 12, "A scatter"},
           {Operation::all_to_all, 11.0 / 12, "An all-to-all"},
           {Operation::neighbour_exchange, 1, "A send to the next"}}) {
    SCOPED_TRACE(words);
    Measurement measured{.source = "--bus-bandwidth", .operation = operation};
    measured.collectives.push_back({.bytes = 1e8, .bus_bandwidth = 5e9});
    const report::Diagnosis diagnosis = diagnose_scenario(three_nodes(), measured, false);
    EXPECT_NEAR(diagnosis.times.front().measured, factor * 1e8 / 5e9, 1e-9);
    EXPECT_EQ(diagnosis.of, words + " among 12 devices");
    Measurement again{.source = "--bus-bandwidth", .operation = operation};
    again.collectives.push_back({.bytes = 1e8, .seconds = diagnosis.expected()});
    const report::Diagnosis normal = diagnose_scenario(three_nodes(), again, false);
    EXPECT_NEAR(normal.expected(), diagnosis.expected(), 0.5 * diagnosis.expected());
    EXPECT_EQ(normal.verdict, report::Diagnosis::SpeedVerdict::as_expected);
  }
}

TEST(Diagnose, OfALogTheTestIsTakenAndAsManyDevices) {
  const auto log_of = [](const std::string& test, int ranks) {
    std::string text;
    for (int i = 0; i < ranks; ++i) text += fmt::format("# Rank {} Group 0 Pid 7 on n device 0 [0x07]\n", i);
    return text + "# Collective test starting: " + test +
           "\n# size count type redop root time algbw busbw #wrong\n1000000000 250000000 float sum -1 100000 10.00 "
           "10.00 0\n";
  };
  Measurement measured = read_log("a.log", log_of("broadcast_perf", 4));
  EXPECT_TRUE(take_collectives(measured, std::nullopt, 12).empty());
  EXPECT_EQ(measured.operation, report::Operation::broadcast);
  EXPECT_EQ(measured.ranks, 4U);
  EXPECT_EQ(diagnose_scenario(three_nodes(), measured, false).of, "A broadcast among 4 devices");
  measured = read_log("a.log", log_of("broadcast_perf", 4) + log_of("reduce_perf", 4));
  EXPECT_THROW(take_collectives(measured, std::nullopt, 12), InputError);
  measured = read_log("a.log", log_of("broadcast_perf", 4) + log_of("reduce_perf", 4));
  take_collectives(measured, report::Operation::reduce, 12);
  EXPECT_EQ(measured.operation, report::Operation::reduce);
  measured = read_log("a.log", log_of("hypercube_perf", 4));
  EXPECT_THROW(take_collectives(measured, std::nullopt, 12), InputError);
  measured = read_log("a.log", log_of("broadcast_perf", 24));
  EXPECT_THROW(take_collectives(measured, std::nullopt, 12), InputError);
  measured = read_log("a.log", "# size count type time algbw busbw error\n1000 250 float 1.00 1.00 1.83 0\n");
  ASSERT_EQ(take_collectives(measured, std::nullopt, 12).size(), 1U);  // a table that does not name its operation
                                                                       // counts as all-reduce
}

scenario::Scenario load(const std::string& text) {
  return scenario::ScenarioSource("x.xml", text).load({}, make_catalog_without_learning());
}

// In horovod/horovod#476, one node is as fast as expected and two nodes are slow. The cause was TCP instead of RDMA.
TEST(Diagnose, WhatSlowsAllSizesAlikeDoesNotExplainOne) {
  const scenario::Scenario scenario = load(
      R"(<scenario name="two" seed="1"><platform><gpu-cluster nodes="2" gpus="8" inside="pcie-3" rails="1" nic="ib-edr"/>
         </platform><workers><worker hosts="gpu-[0-15]" device="v100-sxm2"/></workers><timing-only/>
         <timed-as workload="resnet-101" batch="64" precision="fp32"/>
         <run algorithm="gradient-sharing" exchange="peer" bucket="64MB"/></scenario>)");
  const report::Diagnosis diagnosis = diagnose_scenario(
      scenario,
      {.source = "x",
       .steps = {{.devices = 16, .samples_per_second = 745}, {.devices = 8, .samples_per_second = 1188.5}}},
      false);
  EXPECT_EQ(diagnosis.verdict, report::Diagnosis::SpeedVerdict::slower);
  EXPECT_LT(std::min(place_of(diagnosis, "slow-interface"), place_of(diagnosis, "tcp-for-rdma")), 2U);
  for (const char* cause : {"low-clock", "blocks-again"})
    EXPECT_GT(place_of(diagnosis, cause), place_of(diagnosis, "slow-interface")) << cause;
}

// With several sizes measured, the diagnosis names the simulated fault first, and lists causes in the table's order.
TEST(Diagnose, SeveralSizesAreRankedByWhatIsShown) {
  const auto steps_with = [](const std::vector<std::string>& overrides) {
    std::vector<MeasuredStep> steps;
    for (const std::string workers : {"0-3", "0-11"}) {
      std::vector<std::string> all = overrides;
      all.push_back("workers.worker.hosts=gpu-[" + workers + "]");
      steps.push_back({.devices = workers == "0-3" ? 4 : 12, .step_seconds = step_with(all)});
    }
    return steps;
  };
  for (const auto& [overrides, cause] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"platform.gpu-cluster.nic=ethernet-10g", "platform.gpu-cluster.rails=1"}, "slow-interface"},
           {{"timed-as.precision=tf32"}, "wide-precision"}}) {
    SCOPED_TRACE(cause);
    const report::Diagnosis diagnosis =
        diagnose_scenario(three_nodes(), {.source = "x", .steps = steps_with(overrides)}, false);
    EXPECT_EQ(first_cause(diagnosis), cause);
    const auto ranked = [](const report::Suspicion& one) { return std::pair{!one.explains, one.distance}; };
    EXPECT_TRUE(std::ranges::is_sorted(diagnosis.suspicions, {}, ranked));
    const std::string shown = summary_of(document_of(diagnosis), true).all();
    EXPECT_NE(shown.find("at 4     at 12  distance  possible causes"), std::string::npos) << shown;
    // The headline names exactly the causes that the table ticks.
    const std::string headline = report::as_paragraph(answer_of(diagnosis));
    for (std::size_t i = 0; i < std::min(report::kMostSuspicions, diagnosis.suspicions.size()); ++i) {
      const report::Suspicion& one = diagnosis.suspicions[i];
      EXPECT_EQ(headline.find(report::in_words(one.cause)) != std::string::npos, one.explains) << headline;
    }
  }
}

// Adapters of 50 GB/s are 2, 7 or 18 times slower than expected, as with NCCL without GPUDirect RDMA.
TEST(Diagnose, APathThroughTheProcessorMayBeShared) {
  const scenario::Scenario scenario = load(
      R"(<scenario name="two" seed="1"><platform><gpu-cluster nodes="2" gpus="8" inside="nvlink-4" rails="8" nic="ib-ndr">
         <one-switch/></gpu-cluster></platform><workers><worker hosts="gpu-[0-15]" device="h100-sxm5"/></workers>
         <timing-only/><timed-as workload="bert-base" batch="8" precision="bf16"/>
         <run algorithm="gradient-sharing" exchange="peer"/></scenario>)");
  const auto diagnosed = [&](double seconds) {
    Measurement measured{.source = "x"};
    measured.collectives.push_back({.bytes = 4294967296, .seconds = seconds});
    return diagnose_scenario(scenario, measured, false);
  };
  const double expected = diagnosed(1).expected();
  for (const double slower : {2.0, 7.0, 18.0}) {
    const report::Diagnosis diagnosis = diagnosed(slower * expected);
    const std::size_t place = place_of(diagnosis, "through-the-cpu");
    ASSERT_LT(place, diagnosis.suspicions.size()) << slower;
    EXPECT_TRUE(diagnosis.suspicions[place].explains) << slower;
    EXPECT_EQ(std::ranges::count(causes_of(diagnosis), "through-the-cpu"), 1) << slower;
  }
}

// Advice must fit the devices' collective library.
TEST(Diagnose, NoAdviceOnNcclForATpu) {
  const auto shown_of = [](const std::string& device, const std::string& cluster) {
    const scenario::Scenario scenario =
        load("<scenario name=\"x\" seed=\"1\"><platform><gpu-cluster nodes=\"16\" gpus=\"1\" " + cluster +
             "</gpu-cluster></platform><workers><worker hosts=\"gpu-[0-15]\" device=\"" + device +
             "\"/></workers><timing-only/><training><adam learning-rate=\"1e-3\"/></training><timed-as "
             "workload=\"gpt-2-medium\" batch=\"4\" precision=\"bf16\"/><run algorithm=\"gradient-sharing\" "
             "exchange=\"peer\"/></scenario>");
    return summary_of(document_of(diagnose_scenario(scenario, {.source = "x", .steps = {{.step_seconds = 3}}}, false)),
                      true)
        .all();
  };
  const std::string tpu =
      shown_of("tpu-v6e", "nic=\"ici-v6e\" rails=\"4\"><torus link=\"ici-v6e\" dimensions=\"4x4\"/>");
  for (const char* word : {"NCCL", "nvidia", "ibstat", "dcgmi", "CUDA", "TCP", "flash_fwd", "rocm"})
    EXPECT_EQ(tpu.find(word), std::string::npos) << word << " in " << tpu;
  EXPECT_NE(tpu.find("clocks"), std::string::npos);
  EXPECT_NE(shown_of("h100-sxm5", "nic=\"ib-ndr\"><one-switch/>").find("nvidia-smi"), std::string::npos);
  const std::string amd = shown_of("mi300x", "nic=\"ib-ndr\"><one-switch/>");
  EXPECT_NE(amd.find("rocm-smi"), std::string::npos);
  EXPECT_EQ(amd.find("nvidia-smi"), std::string::npos) << amd;
}

// NVIDIA/Megatron-LM#2762 is such a case.
TEST(Diagnose, OfExpertsThereAreCauses) {
  const scenario::Scenario scenario = load(
      R"(<scenario name="experts" seed="1"><platform><gpu-cluster nodes="2" gpus="4" inside="nvlink-4" rails="4" nic="ib-ndr">
         <one-switch/></gpu-cluster></platform><workers memory="ignore"><worker hosts="gpu-[0-7]" device="h100-sxm5"/></workers>
         <timing-only/><training><adamw learning-rate="1e-4"/></training>
         <timed-as workload="decoder" layers="4" hidden="2048" heads="32" experts="64"
         experts-per-token="8" expert-feed-forward="768" sequence="4096" batch="1" precision="bf16" attention="flash-3"
         expert-parallel="4" sharding="optimizer"/><run algorithm="gradient-sharing" exchange="peer"/></scenario>)");
  const report::Diagnosis slow = diagnose_scenario(scenario, {.source = "x", .steps = {{.step_seconds = 1}}}, false);
  for (const char* cause : {"experts-one-by-one", "uneven-experts", "very-uneven-experts", "experts-across-nodes"}) {
    const std::size_t place = place_of(slow, cause);
    ASSERT_LT(place, slow.suspicions.size()) << cause;
    // If the measured time is the time that a cause predicts, this cause explains it.
    const double seconds = slow.suspicions[place].seconds.front();
    const report::Diagnosis again =
        diagnose_scenario(scenario, {.source = "x", .steps = {{.step_seconds = seconds}}}, false);
    if (again.verdict == report::Diagnosis::SpeedVerdict::slower) {
      EXPECT_LT(place_of(again, cause), 2U) << cause;
    }
  }
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

/// Returns the seconds of a step that log lines give directly, or as samples or tokens per second and device.
double figure_of(const std::string& text) {
  const MeasuredStep step = read_log("the.log", text).steps.at(0);
  return step.step_seconds.value_or(0) + step.samples_per_second.value_or(0) +
         step.tokens_per_second_per_device.value_or(0) + step.utilisation.value_or(0);
}

TEST(DiagnoseLog, ReadsLinesOfTrainingPrograms) {
  EXPECT_DOUBLE_EQ(
      figure_of("{'loss': 1.12, 'grad_norm': 2.5, 'learning_rate': 1.9e-05, 'epoch': 0.5}\n"
                "100%|##########| 1200/1200 [1:20:00<00:00,  4.00s/it]\n"
                "{'train_runtime': 4800.0, 'train_samples_per_second': 8.0, 'train_steps_per_second': 0.25, "
                "'train_loss': 0.75, 'epoch': 3.0}\n"),
      4);
  // The progress bar of the longest loop counts. Figures that are rounded too coarsely do not count.
  EXPECT_DOUBLE_EQ(figure_of("Loading checkpoint shards: 100%|####| 33/33 [00:10<00:00,  3.30it/s]\n"
                             "  1%| | 1/120 [00:09<19:40,  9.90s/it]\r  2%| | 2/120 [00:14<19:40,  5.00s/it]\r"
                             "  3%| | 3/120 [00:18<19:40,  4.00s/it, loss=1.1]\n"
                             "100%|####| 8/8 [00:04<00:00,  2.00it/s]\n{'train_steps_per_second': 0.012}\n"),
                   4.5);
  EXPECT_DOUBLE_EQ(figure_of("Epoch 0:  22%|##    | 4/18 [00:17<01:02,  1.25it/s, loss=10.072, v_num=193315]\n"), 0.8);
  EXPECT_DOUBLE_EQ(figure_of("[timer.py:260:stop] epoch=0/micro_step=10/global_step=10, RunningAvgSamplesPerSec=7.9, "
                             "CurrSamplesPerSec=8.0, MemAllocated=14.2GB\n"),
                   8);
  EXPECT_DOUBLE_EQ(figure_of("[timer.py:189:stop] 0/40, SamplesPerSec=83.48609168106144, MemAllocated=0.26GB\n"),
                   83.48609168106144);
  EXPECT_DOUBLE_EQ(
      figure_of(" samples/sec: 7.799 | iteration 34/ 10000 | elapsed time per iteration (ms): 4103.1 | lm_loss: 1\n"),
      4.1031);
  EXPECT_DOUBLE_EQ(figure_of("Step 1 | loss:2.08 lr:2e-05 tokens_per_second_per_gpu:57.8\n"
                             "Step 2 | loss:1.87 lr:2e-05 tokens_per_second_per_gpu:405.0\n"
                             "Step 3 | loss:1.17 lr:2e-05 tokens_per_second_per_gpu:415.0\n"),
                   410);
  EXPECT_DOUBLE_EQ(
      figure_of("completed step: 9, seconds: 5.667, TFLOP/s/device: 134.924, Tokens/s/device: 8672.758, loss: 1\n"),
      5.667);
  EXPECT_DOUBLE_EQ(figure_of("iter 100: loss 3.2010, time 123.45ms, mfu 30.51%\n"), 0.12345);
  EXPECT_DOUBLE_EQ(figure_of("step 00010/21400 (0.05%) | loss: 9.1 | dt: 1123.45ms | tok/sec: 466,000 | mfu: 48.1\n"),
                   1.12345);
  EXPECT_DOUBLE_EQ(figure_of("step:10/1390 train_loss:7.1 train_time:1234ms step_avg:123.45ms\n"), 0.12345);
  EXPECT_DOUBLE_EQ(figure_of("Training epoch 0, iteration 10/99 | global_step: 10 | reduced_train_loss: 3 | "
                             "train_step_timing in s: 4.47 | consumed_samples: 512\n"),
                   4.47);
  EXPECT_DOUBLE_EQ(figure_of("\t Train throughput/batches_per_sec: 0.2500\n"), 4);
  EXPECT_DOUBLE_EQ(figure_of("total images/sec: 1,188.50\n"), 1188.5);
  EXPECT_DOUBLE_EQ(figure_of("Epoch: [0][ 10/5005]\tTime  0.123 (  0.456)\tData  0.001 (  0.2)\tLoss 6.9\n"), 0.123);
}

TEST(DiagnoseLog, SaysWhatItKnowsOfALogAndWhatIsMissing) {
  const auto fault_of = [](const std::string& text) {
    try {
      read_log("the.log", text);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(fault_of("{'loss': 1.12, 'learning_rate': 1.9e-05, 'epoch': 0.5}\n")
                .find("the.log: is a log of Hugging Face's Trainer without train_steps_per_second or a progress bar"),
            0U);
  EXPECT_NE(fault_of("[logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05]\n").find("DeepSpeed without"),
            std::string::npos);
  const std::string unknown = fault_of("hello\n");
  for (const char* word : {"torchtitan", "Megatron-LM", "DeepSpeed", "Hugging Face's Trainer", "MaxText",
                           "torch.profiler", "nccl-tests", "OSU", "--step", "--samples-per-second"})
    EXPECT_NE(unknown.find(word), std::string::npos) << word;
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
