// Laws of training steps that hold whatever the job: of drawn ones, some in the suite, 300 with DADSIM_DRAWS=300.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <string>

#include "scenario/document/load.hpp"
#include "study/composition/asking.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::study {
namespace {

/// A training job as far as the laws need to change it.
struct DrawnJob {
  std::string device, precision, workload;
  int nodes = 2, gpus = 2, batch = 1;
  std::string nic = "ib-hdr", attention = "plain", sharding = "none", recompute = "none", kernels;

  std::string text() const {
    return fmt::format(
        R"(<scenario name="drawn" seed="1">
        <platform><gpu-cluster nodes="{}" gpus="{}" inside="nvlink-3" nic="{}" rails="1"/></platform>
        <device name="own" peak-flops="30TF" fp16-flops="300TF" bf16-flops="300TF" memory-bandwidth="2TBps"
          matrix-efficiency="0.6" memory-efficiency="0.85" launch-overhead="5us" ramp-time="10us" memory="1000GiB"{}/>
        <workers><worker hosts="gpu-[0-{}]" device="{}"/></workers><network fidelity="flow"/><timing-only/>
        <training><adamw/></training>
        <timed-as {} precision="{}" attention="{}" sharding="{}" recompute="{}" batch="{}"/>
        <run algorithm="gradient-sharing" exchange="peer" bucket="25MB"/></scenario>)",
        nodes, gpus, nic, kernels, nodes * gpus - 1, device, workload, precision, attention, sharding, recompute,
        batch);
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
    return job;
  }

 private:
  std::mt19937 random_;
};

constexpr double kRounding = 1 + 1e-9;

TEST(JobLaws, HoldForDrawnJobs) {
  Drawing draw(20261126);
  const std::uint64_t jobs = draws(24);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    DrawnJob job = draw.job();
    SCOPED_TRACE(job.text());
    const report::RunResult run = run_of(job);
    EXPECT_NEAR(run.compute_seconds + run.exposed_seconds, run.step_seconds, 1e-9 * run.step_seconds);
    DrawnJob other = job;
    switch (i % 4) {
      case 0: {
        other.attention = "flash";
        const report::RunResult flash = run_of(other);
        EXPECT_LE(flash.step_seconds, kRounding * run.step_seconds);
        EXPECT_LE(flash.memory.total(), run.memory.total());
        break;
      }
      case 1: {
        other.nic = "ib-ndr";  // twice the bandwidth
        EXPECT_LE(run_of(other).step_seconds, kRounding * run.step_seconds);
        break;
      }
      case 2: {
        other.batch += 1;
        const report::RunResult larger = run_of(other);
        EXPECT_GE(kRounding * larger.step_seconds, run.step_seconds);
        EXPECT_GE(larger.memory.total(), run.memory.total());
        break;
      }
      default: {
        if (job.sharding != "none") break;  // more workers each have less of the optimizer to do
        other.nodes = 2 * job.nodes;
        EXPECT_GE(kRounding * run_of(other).step_seconds, run.step_seconds) << "weak scaling above 100 %";
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::study
