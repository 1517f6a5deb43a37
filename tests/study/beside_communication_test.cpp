// Tests how overlapping communication, recomputation and the training software change the step time on catalogue
// devices.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::study {
namespace {

/// Returns a step of GPT-2 medium on two nodes of `gpus` A100 with one adapter per GPU.
report::RunResult gpt_step(const std::string& timed_as, const std::string& others = "", int gpus = 2,
                           const char* fidelity = "flow", const char* device = "a100-sxm4-80",
                           const char* nic = "ib-hdr") {
  const std::string text = fmt::format(
      R"(<scenario name="step" seed="1"><platform><gpu-cluster nodes="2" gpus="{}" inside="nvlink-3" nic="{}"
          rails="{}"/></platform><workers memory="ignore"><worker hosts="gpu-[0-{}]" device="{}"/></workers>
        <network fidelity="{}"/>{}<timing-only/><training><adamw/></training>
        <timed-as workload="gpt-2-medium" attention="flash" batch="4" {}/>
        <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
      gpus, nic, gpus, 2 * gpus - 1, device, fidelity, others, timed_as);
  return run_experiment(scenario::ScenarioSource("step.xml", text).load({}, make_catalog()), false).runs.front();
}

TEST(BesideCommunication, ComputingIsSlowerByAtMostItsShareAndAsMuchByFlowAsByMessages) {
  // On a slow line, all-reduces overlap the whole backward pass, which is at least two thirds of the computing.
  const double quick = gpt_step("precision=\"bf16\"").compute_seconds;
  const double slow = gpt_step("precision=\"bf16\"", "", 2, "flow", "a100-sxm4-80", "10Gbps").compute_seconds;
  EXPECT_GT(slow, 1.05 * quick);
  EXPECT_LT(slow, 1.19 * quick);
  EXPECT_NEAR(gpt_step("precision=\"fp16\"", "", 2, "flow", "a100-sxm4-80", "10Gbps").compute_seconds /
                  gpt_step("precision=\"fp16\"").compute_seconds,
              1, 1e-9)
      << "constants of whole trainings have it in them";
  for (const char* how :
       {"", "sharding=\"optimizer\"", "sharding=\"parameters\"", "sharding=\"parameters\" sharding-group=\"2\"",
        "sharding=\"parameters\" recompute=\"full\"", "tensor=\"2\"", "pipeline=\"2\" micro-batch=\"2\""}) {
    SCOPED_TRACE(how);
    const std::string timed_as = std::string("precision=\"bf16\" ") + how;
    const report::RunResult flow = gpt_step(timed_as);
    const report::RunResult messages = gpt_step(timed_as, "", 2, "message");
    EXPECT_NEAR(flow.step_seconds / messages.step_seconds, 1, 1e-9);
    EXPECT_NEAR(flow.compute_seconds / messages.compute_seconds, 1, 1e-9);
  }
}

TEST(BesideCommunication, WhatIsKeptIsComputedOnceAndWhatIsNotTwice) {
  std::vector<double> seconds, bytes;
  for (const char* how : {"none", "operations", "full"}) {
    const report::RunResult run = gpt_step(fmt::format("precision=\"bf16\" recompute=\"{}\"", how), "", 1);
    seconds.push_back(run.compute_seconds);
    bytes.push_back(run.memory.activations);
  }
  EXPECT_LT(seconds[0], seconds[1]);
  EXPECT_LT(seconds[1], seconds[2]);
  EXPECT_GT(bytes[0], bytes[1]);
  EXPECT_GT(bytes[1], bytes[2]);
}

TEST(BesideCommunication, ScalesOfEightBitsTakeTheirTime) {
  const auto seconds = [](const char* precision) {
    return gpt_step(fmt::format("precision=\"{}\"", precision), "", 1, "flow", "h100-sxm5").compute_seconds;
  };
  EXPECT_LT(seconds("fp8"), seconds("fp8-current"));
  EXPECT_LT(seconds("fp8"), seconds("fp8-block"));
  EXPECT_LT(seconds("fp8-current"), seconds("bf16"));
}

TEST(BesideCommunication, AFrameworkThatTrainsMakesComputingLongerAndNothingElse) {
  const std::string timed_as = "precision=\"fp16\"";
  const report::RunResult without = gpt_step(timed_as);
  const report::RunResult with = gpt_step(timed_as, "<framework computing=\"1.5\"/>");
  EXPECT_NEAR(with.compute_seconds / without.compute_seconds, 1.5, 1e-9);
  EXPECT_EQ(with.bytes_up_per_worker, without.bytes_up_per_worker);
  EXPECT_GT(gpt_step(timed_as, "<framework name=\"ngc-pytorch\"/>").compute_seconds, 1.3 * without.compute_seconds);
}

}  // namespace
}  // namespace dadsim::study
