// Tests laws of training steps on drawn jobs. The suite draws 24; DADSIM_DRAWS=300 draws 300.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "scenario/document/load.hpp"
#include "study/composition/asking.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::study {
namespace {

/// A training job; the laws change its parts.
struct DrawnJob {
  std::string device, precision, workload;
  int nodes = 2, gpus = 2, batch = 1;
  std::string nic = "200Gbps", latency = "3us", attention = "plain", sharding = "none", recompute = "none";
  std::string kernels, divided;  ///< XML attributes of the device, and of <timed-as>

  std::string text() const {
    return fmt::format(
        R"(<scenario name="drawn" seed="1">
        <platform><gpu-cluster nodes="{}" gpus="{}" inside="nvlink-3" nic="{}" nic-latency="{}" transport="rdma" rails="1"/></platform>
        <device name="own" peak-flops="30TF" fp16-flops="300TF" bf16-flops="300TF" memory-bandwidth="2TBps"
          matrix-efficiency="0.6" memory-efficiency="0.85" launch-overhead="5us" ramp-time="10us" memory="1000GiB"{}/>
        <workers><worker hosts="gpu-[0-{}]" device="{}"/></workers><network fidelity="flow"/><timing-only/>
        <training><adamw/></training>
        <timed-as {} precision="{}" attention="{}" sharding="{}" recompute="{}" batch="{}"{}/>
        <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
        nodes, gpus, nic, latency, kernels, nodes * gpus - 1, device, workload, precision, attention, sharding,
        recompute, batch, divided);
  }
};

report::RunResult run_of(const DrawnJob& job) {
  const scenario::Scenario scenario = scenario::ScenarioSource("job.xml", job.text()).load({}, make_catalog());
  return run_experiment(scenario, false).runs.front();
}

class Drawing {
 public:
  explicit Drawing(std::uint32_t seed) : random_(seed) {}
  int number(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint32_t>(high - low + 1));
  }
  template <std::size_t N>
  std::string one_of(const std::array<const char*, N>& all) {
    return all[random_() % N];
  }

  DrawnJob job() {
    DrawnJob job;
    job.device = one_of<4>({"own", "own", "a100-sxm4-80", "h100-sxm5"});
    job.precision = one_of<2>({"bf16", "fp16"});
    job.kernels = one_of<4>({"", " kernels=\"ampere\"", " kernels=\"hopper\"", " kernels=\"blackwell\""});
    const int heads = number(1, 16);
    const std::string sizes = fmt::format("layers=\"{}\" hidden=\"{}\" heads=\"{}\" sequence=\"{}\"", number(1, 3),
                                          heads * 32 * number(1, 4), heads, 64 << number(0, 6));
    job.workload = number(0, 2) == 0 ? fmt::format("workload=\"bert\" masked=\"8\" {}", sizes)
                                     : fmt::format("workload=\"gpt\" vocabulary=\"32000\" {}", sizes);
    job.nodes = number(1, 2);
    job.gpus = number(1, 2);
    if (job.nodes * job.gpus == 1) job.gpus = 2;
    job.batch = number(1, 16);
    job.recompute = one_of<3>({"none", "selective", "full"});
    job.sharding = one_of<4>({"none", "none", "optimizer", "parameters"});
    if (job.gpus == 2 && number(0, 2) == 0) {
      job.divided = one_of<2>({" tensor=\"2\"", " tensor=\"2\" sequence-parallel=\"true\""});
      job.workload =
          fmt::format("workload=\"gpt\" vocabulary=\"32000\" layers=\"{}\" hidden=\"{}\" heads=\"8\" sequence=\"{}\"",
                      number(1, 3), 256 << number(0, 3), 64 << number(0, 6));
    }
    return job;
  }

 private:
  std::mt19937 random_;
};

constexpr double kRoundingOfJobs = 1 + 1e-9;

/// Checks the laws, each of which compares a job with one that differs in one part.
class Laws {
 public:
  std::map<std::string, int> held;  ///< number of checks, by law

  void parts_add_up(const report::RunResult& run) {
    ++held["a step and its parts add up"];
    EXPECT_NEAR(run.compute_seconds + run.exposed_seconds, run.step_seconds, 1e-9 * run.step_seconds);
    double memory = 0;
    for (const auto& [what, bytes] : run.memory.breakdown()) memory += bytes;
    EXPECT_NEAR(memory, run.memory.total(), 1e-9 * memory);
  }
  void flash_is_no_slower(const DrawnJob& job, const report::RunResult& run) {
    const auto size = [&job](const std::string& name) {
      return std::stod(job.workload.substr(job.workload.find(name + "=\"") + name.size() + 2));
    };
    ++held["flash attention is no slower than plain"];
    DrawnJob other = job;
    other.attention = "flash";
    const report::RunResult flash = run_of(other);
    EXPECT_LE(flash.step_seconds, kRoundingOfJobs * run.step_seconds);
    // Plain attention with recomputation keeps nothing; flash attention keeps one number per head and token.
    const double kept =
        job.recompute == "selective" ? 4.0 * job.batch * size("heads") * size("sequence") * size("layers") : 0;
    EXPECT_LE(flash.memory.total(), run.memory.total() + kept);
  }
  void more_bandwidth_is_no_slower(const DrawnJob& job, const report::RunResult& run) {
    ++held["more bandwidth is never slower"];
    DrawnJob other = job;
    other.nic = "400Gbps";
    EXPECT_LE(run_of(other).step_seconds, kRoundingOfJobs * run.step_seconds);
  }
  void less_latency_is_no_slower(const DrawnJob& job, const report::RunResult& run) {
    ++held["less latency is never slower"];
    DrawnJob other = job;
    other.latency = "1us";
    EXPECT_LE(run_of(other).step_seconds, kRoundingOfJobs * run.step_seconds);
  }
  void more_samples_are_no_quicker(const DrawnJob& job, const report::RunResult& run) {
    ++held["time and memory grow with the batch"];
    DrawnJob other = job;
    other.batch += 1;
    const report::RunResult larger = run_of(other);
    EXPECT_GE(kRoundingOfJobs * larger.step_seconds, run.step_seconds);
    EXPECT_GE(larger.memory.total(), run.memory.total());
  }
  void weak_scaling_is_no_gain(const DrawnJob& job, const report::RunResult& run) {
    ++held["weak scaling above 100 % has its reason"];
    DrawnJob other = job;
    other.nodes = 2 * job.nodes;
    const report::RunResult more = run_of(other);
    // With sharding the law may fail, since more workers leave less work for each.
    if (job.sharding == "none") {
      EXPECT_GE(kRoundingOfJobs * more.step_seconds, run.step_seconds);
    }
    for (const report::RunResult* one : {&run, &more}) {
      ASSERT_TRUE(one->throughput && one->throughput->scaling_efficiency);
      EXPECT_TRUE(*one->throughput->scaling_efficiency <= kRoundingOfJobs || one->throughput->above_linear);
    }
  }
};

TEST(JobLaws, HoldForDrawnJobs) {
  Drawing draw(20261126);
  // The suite tests one law per job, in turn.
  const bool all = std::getenv("DADSIM_DRAWS") != nullptr;
  const std::uint64_t jobs = draws(24);
  Laws laws;
  for (std::uint64_t i = 0; i < jobs; ++i) {
    const DrawnJob job = draw.job();
    SCOPED_TRACE(job.text());
    const report::RunResult run = run_of(job);
    laws.parts_add_up(run);
    if (all || i % 5 == 0) laws.flash_is_no_slower(job, run);
    if (all || i % 5 == 1) laws.more_bandwidth_is_no_slower(job, run);
    if (all || i % 5 == 2) laws.less_latency_is_no_slower(job, run);
    if (all || i % 5 == 3) laws.more_samples_are_no_quicker(job, run);
    if (all || i % 5 == 4) laws.weak_scaling_is_no_gain(job, run);
  }
  EXPECT_EQ(laws.held.size(), 6U);
  for (const auto& [law, times] : laws.held) {
    EXPECT_GT(times, 0) << law;
    if (all) fmt::print("{}: {} jobs\n", law, times);
  }
}

}  // namespace
}  // namespace dadsim::study
