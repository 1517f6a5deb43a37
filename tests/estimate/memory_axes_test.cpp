// Tests that dividing a network further, along any axis of parallelism, never needs more memory per device.
#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "estimate/memory.hpp"
#include "spec/adapters.hpp"
#include "spec/attention.hpp"
#include "spec/device_part.hpp"
#include "spec/expert_parallel.hpp"
#include "spec/kept_activations.hpp"
#include "spec/stages.hpp"
#include "spec/workload.hpp"

namespace dadsim::estimate {
namespace {

using spec::ParallelismSpec;

/// A job; bytes_of() returns the memory of one of its workers.
struct DividedJob {
  const char* workload = "";
  std::int64_t devices = 128;
  std::int64_t batch = 32;  ///< samples per replica
  spec::Precision precision = spec::Precision::bf16;
  spec::ParallelismSpec how = {.micro_batch = 1};
  spec::ParameterValues sizes = {{"sequence", "4096"}};
  std::int64_t adapters = 0;  ///< rank of adapters; 0: all parameters are trained
};

double bytes_of(const DividedJob& job) {
  const auto replicas = static_cast<std::size_t>(job.devices / job.how.devices());
  spec::ModelShape shape = with_flash_attention(spec::workload_registry().at(job.workload).shape(job.sizes));
  if (job.adapters > 0) shape = with_adapters(std::move(shape), job.adapters, spec::Adapted::all);
  shape = with_divided_experts(with_divided_sequences(std::move(shape), job.how.context), job.how, replicas);
  const std::vector<std::int32_t> samples(replicas, static_cast<std::int32_t>(job.batch));
  return memory_use(shape, {}, {}, samples, 0, job.precision, job.how).total();
}

/// Values of one axis, ordered from the most memory to the least.
struct Axis {
  const char* name;
  std::vector<std::function<void(DividedJob&)>> values;
  bool of_experts = false;
};

template <class Value>
std::vector<std::function<void(DividedJob&)>> set_all(Value ParallelismSpec::*member, std::vector<Value> values) {
  std::vector<std::function<void(DividedJob&)>> all;
  for (const Value value : values) all.push_back([member, value](DividedJob& job) { job.how.*member = value; });
  return all;
}

std::vector<Axis> axes() {
  using spec::PipelineOrder;
  using spec::Recomputation;
  using spec::Sharding;
  const auto sequence = [](const char* length) {
    return [length](DividedJob& job) { job.sizes["sequence"] = length; };
  };
  const auto pipelined = [](auto set) {
    return [set](DividedJob& job) {
      job.how.pipeline = 4;
      set(job);
    };
  };
  std::vector<Axis> all{
      {"tensor", set_all(&ParallelismSpec::tensor, {1, 2, 4})},
      {"context", set_all(&ParallelismSpec::context, {1, 2, 4, 8})},
      {"pipeline", set_all(&ParallelismSpec::pipeline, {1, 2, 4, 8})},
      {"experts", set_all(&ParallelismSpec::experts, {1, 2, 4, 8}), true},
      {"sharding", set_all(&ParallelismSpec::sharding,
                           {Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters})},
      {"recomputation",
       set_all(&ParallelismSpec::recomputation, {Recomputation::none, Recomputation::selective, Recomputation::full})},
      {"micro-batch", set_all<std::int64_t>(&ParallelismSpec::micro_batch, {16, 8, 4, 2, 1})},
      {"offload",
       set_all(&ParallelismSpec::offload, {spec::Offload::none, spec::Offload::optimizer, spec::Offload::both})},
      {"activations on the host",
       set_all(&ParallelismSpec::offload, {spec::Offload::none, spec::Offload::activations, spec::Offload::both})},
      {"expert-tensor",
       {[](DividedJob& job) { job.how = {.tensor = 2, .micro_batch = 1, .sequence_parallel = true, .experts = 4}; },
        [](DividedJob& job) {
          job.how = {.tensor = 2, .micro_batch = 1, .sequence_parallel = true, .experts = 4, .expert_tensor = 2};
        }},
       true},
      {"adapters",
       {[](DividedJob&) {}, [](DividedJob& job) { job.adapters = 64; }, [](DividedJob& job) { job.adapters = 8; }}},
      {"batch", {[](DividedJob& job) { job.batch = 64; }, [](DividedJob& job) { job.batch = 8; }}},
      {"sequence", {sequence("16384"), sequence("4096"), sequence("1024")}},
      {"precision",
       {[](DividedJob& job) { job.precision = spec::Precision::mxfp8; },
        [](DividedJob& job) { job.precision = spec::Precision::nvfp4; },
        [](DividedJob& job) { job.precision = spec::Precision::bf16; }}},
      {"schedule",
       {pipelined([](DividedJob& job) { job.how.order = PipelineOrder::gpipe; }),
        pipelined([](DividedJob& job) { job.how.order = PipelineOrder::zero_bubble; }),
        pipelined([](DividedJob& job) { job.how.order = PipelineOrder::one_f_one_b; })}},
      {"interleave",
       // Interleaving needs 1 + (P − 1) / (P v) times the memory of one model chunk per stage (arXiv:2205.05198,
       // section 4.2.3).
       {pipelined([](DividedJob& job) { job.how.interleave = 2; }),
        pipelined([](DividedJob& job) { job.how.interleave = 4; })}},
      {"capacity",
       {[](DividedJob& job) { job.how = {.micro_batch = 1, .experts = 8, .expert_imbalance = 2}; },
        [](DividedJob& job) {
          job.how = {.micro_batch = 1, .experts = 8, .expert_imbalance = 2, .expert_capacity = 1.25};
        }},
       true}};
  for (const auto of : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
    Axis groups{"sharding-group", {}};
    for (const std::int32_t group : {1, 2, 4, 8, 16, 0}) {
      groups.values.emplace_back([of, group](DividedJob& job) {
        job.how.sharding = of;
        job.how.sharding_group = group;
      });
    }
    all.push_back(std::move(groups));
  }
  return all;
}

TEST(MemoryAxes, DividingMoreNeverTakesMore) {
  for (const char* workload : {"llama-3.1-8b", "gpt-3-6.7b", "mixtral-8x7b", "qwen3-30b-a3b"}) {
    const bool experts =
        std::string(workload).find('x') != std::string::npos || std::string(workload).find("a3b") != std::string::npos;
    for (const Axis& axis : axes()) {
      if (axis.of_experts && !experts) continue;
      for (const bool also_sharded : {false, true}) {
        double before = 0;
        for (std::size_t i = 0; i < axis.values.size(); ++i) {
          DividedJob job{.workload = workload};
          job.how.sequence_parallel = true;
          if (also_sharded) job.how.sharding = spec::Sharding::optimizer;
          axis.values[i](job);
          const double now = bytes_of(job);
          if (i > 0) {
            EXPECT_LE(now, before) << workload << ", " << axis.name << ", value " << i;
          }
          before = now;
        }
      }
    }
  }
}

/// The last of 32 blocks stays on the device, and so do two of the other blocks at a time.
TEST(MemoryAxes, BlocksThatLeaveWithTheHostWhatTheyKeepHaveTwoOfThemOnTheDevice) {
  DividedJob job{.workload = "llama-3.1-8b"};
  const double before = bytes_of(job);
  const spec::ModelShape shape = with_flash_attention(spec::workload_registry().at(job.workload).shape(job.sizes));
  const spec::KeptActivations kept(job.precision, job.how);
  const spec::LayerRange block = blocks_of(shape).at(2);
  const double of_block = kept.of_block(std::span(shape.layers).subspan(block.first, block.end - block.first));
  job.how.offload = spec::Offload::activations;
  EXPECT_GT(of_block, 0);
  EXPECT_NEAR(before - bytes_of(job), 29 * of_block, 1e-6 * of_block);
}

}  // namespace
}  // namespace dadsim::estimate
