#pragma once

#include <array>
#include <cstdint>

#include "spec/names.hpp"

namespace dadsim::spec {

/// In what order a stage of a pipeline works on micro-batches.
enum class PipelineOrder : std::uint8_t {
  one_f_one_b,  ///< one forward, one backward, as soon as a backward pass can begin (Narayanan et al., SC 2021)
  gpipe,        ///< all forward passes, then all backward passes (Huang et al., NeurIPS 2019)
};
constexpr auto names_of(PipelineOrder) {
  using enum PipelineOrder;
  return std::to_array<Name<PipelineOrder>>({{one_f_one_b, "1f1b"}, {gpipe, "gpipe"}});
}

/// What of the forward pass is computed again in the backward pass instead of being kept.
enum class Recomputation : std::uint8_t {
  none,
  selective,  ///< attention's scores and their products (Korthikanti et al., MLSys 2023, section 5)
  full,       ///< whole blocks: what comes into a block is kept alone (Chen et al., arXiv:1604.06174)
};
constexpr auto names_of(Recomputation) {
  using enum Recomputation;
  return std::to_array<Name<Recomputation>>({{none, "none"}, {selective, "selective"}, {full, "full"}});
}

/// What replicas divide among themselves instead of keeping it each (ZeRO: Rajbhandari et al., SC 2020).
enum class Sharding : std::uint8_t {
  none,
  optimizer,   ///< its moments and master copies (ZeRO-1)
  gradients,   ///< these, and gradients (ZeRO-2, SHARD_GRAD_OP)
  parameters,  ///< these, and parameters (ZeRO-3, FULL_SHARD)
};
constexpr auto names_of(Sharding) {
  using enum Sharding;
  return std::to_array<Name<Sharding>>(
      {{none, "none"}, {optimizer, "optimizer"}, {gradients, "gradients"}, {parameters, "parameters"}});
}

/// How devices that have a part of each sequence come by the keys and values of the others.
enum class ContextExchange : std::uint8_t {
  ring,        ///< while attention is at work (Liu et al., Ring Attention, ICLR 2024, arXiv:2310.01889)
  all_gather,  ///< before it begins
};
constexpr auto names_of(ContextExchange) {
  using enum ContextExchange;
  return std::to_array<Name<ContextExchange>>({{ring, "ring"}, {all_gather, "all-gather"}});
}

/// How one replica of a network is laid out over several devices, and what it does with a batch. A worker of an
/// algorithm is a replica: tensor × context × pipeline devices. Experts are divided among devices of the same stage of
/// several replicas, in the order of devices of a layer, replicas.
struct ParallelismSpec {
  std::int32_t tensor = 1;   ///< devices that divide every layer (Shoeybi et al., arXiv:1909.08053)
  std::int32_t context = 1;  ///< devices that have a part of each sequence (context parallelism)
  ContextExchange context_exchange = ContextExchange::ring;
  std::int32_t pipeline = 1;     ///< stages of consecutive layers
  std::int32_t interleave = 1;   ///< pieces of the network that a stage has, not next to one another
  std::int64_t micro_batch = 0;  ///< samples that go through the network together; 0: the whole batch
  PipelineOrder order = PipelineOrder::one_f_one_b;
  bool sequence_parallel = false;  ///< what is not divided by `tensor` otherwise is divided along the sequence
  Recomputation recomputation = Recomputation::none;
  Sharding sharding = Sharding::none;
  std::int32_t sharding_group = 0;  ///< replicas, one after the other, that divide it; 0: all of them do
  std::int32_t experts = 1;         ///< devices of a stage that divide the experts of a block (expert parallelism)
  double expert_imbalance = 1;      ///< rows of the device with most of them ÷ those of the mean
  std::int32_t prefetch = 1;        ///< units (blocks) whose parameters are gathered ahead of their use

  std::int32_t devices() const { return tensor * context * pipeline; }  ///< of a replica
  /// Whether a step is anything else than one pass of the whole batch on one device that keeps everything.
  bool divides() const {
    return devices() > 1 || experts > 1 || micro_batch > 0 || recomputation != Recomputation::none ||
           sharding != Sharding::none;
  }
  bool operator==(const ParallelismSpec&) const = default;
};

}  // namespace dadsim::spec
