#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "spec/names.hpp"

namespace dadsim::spec {

/// In what order a stage of a pipeline works on micro-batches.
enum class PipelineOrder : std::uint8_t {
  one_f_one_b,  ///< one forward, one backward, as soon as a backward pass can begin (Narayanan et al., SC 2021)
  gpipe,        ///< all forward passes, then all backward passes (Huang et al., NeurIPS 2019)
  zero_bubble,  ///< 1F1B in which gradients of weights wait until a stage would stand still (ZB-H1: Qi et al.,
                ///< Zero Bubble Pipeline Parallelism, ICLR 2024, arXiv:2401.10241, section 2)
  dualpipe_v,   ///< two pieces to a stage, the second ones in the reverse order of stages, and the same (DualPipeV:
                ///< github.com/deepseek-ai/DualPipe; DeepSeek-V3, arXiv:2412.19437, section 3.2.1)
};
constexpr auto names_of(PipelineOrder) {
  using enum PipelineOrder;
  return std::to_array<Name<PipelineOrder>>(
      {{one_f_one_b, "1f1b"}, {gpipe, "gpipe"}, {zero_bubble, "zb-h1"}, {dualpipe_v, "dualpipe-v"}});
}

/// What devices that divide a layer compute while they hand one another what they have.
enum class TensorOverlap : std::uint8_t {
  none,      ///< nothing
  backward,  ///< gradients of weights (Megatron-LM's asynchronous sums; Korthikanti et al., arXiv:2205.05198, 4.2.2)
  products,  ///< that, and each product while its inputs come in or its outputs leave, in parts (Transformer Engine's
             ///< userbuffers; Wang et al., ASPLOS 2023, doi 10.1145/3567955.3567959)
};
constexpr auto names_of(TensorOverlap) {
  using enum TensorOverlap;
  return std::to_array<Name<TensorOverlap>>({{none, "none"}, {backward, "backward"}, {products, "products"}});
}

/// What of the forward pass is computed again in the backward pass instead of being kept.
enum class Recomputation : std::uint8_t {
  none,
  selective,   ///< attention's scores and their products (Korthikanti et al., MLSys 2023, section 5)
  operations,  ///< of a block each second product of a dense layer, experts, and all that is no product (TorchTitan's
               ///< selective "op": Liang et al., ICLR 2025, arXiv:2410.06511, section 2.2.1)
  full,        ///< whole blocks: what comes into a block is kept alone (Chen et al., arXiv:1604.06174)
};
constexpr auto names_of(Recomputation) {
  using enum Recomputation;
  return std::to_array<Name<Recomputation>>(
      {{none, "none"}, {selective, "selective"}, {operations, "operations"}, {full, "full"}});
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

/// What is not kept on a device but in the memory of its host.
enum class Offload : std::uint8_t {
  none,
  optimizer,  ///< its state and the master copies; the host's processor updates them (ZeRO-Offload: Ren et al., USENIX
              ///< ATC 2021, arXiv:2101.06840, section 4)
  activations,  ///< what blocks keep for the pass back, which leaves beside the next block's pass and comes back beside
                ///< the one behind (Rhu et al., vDNN, MICRO 2016, arXiv:1602.08124, section 3)
  both,
};
constexpr auto names_of(Offload) {
  using enum Offload;
  return std::to_array<Name<Offload>>(
      {{none, "none"}, {optimizer, "optimizer"}, {activations, "activations"}, {both, "both"}});
}

/// Which sums of gradients wait for the last micro-batch, where replicas divide gradients.
enum class DeferredSums : std::uint8_t {
  none,      ///< every micro-batch scatters its gradients, and sums them among groups that divide the same
  replicas,  ///< the sum among groups waits (PyTorch FSDP2, set_requires_all_reduce; MiCS: arXiv:2205.00119,
             ///< section 3.4)
  all,       ///< the scatter waits too, and gradients are whole until then (FSDP's no_sync)
};
constexpr auto names_of(DeferredSums) {
  using enum DeferredSums;
  return std::to_array<Name<DeferredSums>>({{none, "none"}, {replicas, "replicas"}, {all, "all"}});
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

/// What the numbers of a row are as it goes to an expert's device.
enum class ExpertDispatch : std::uint8_t {
  plain,  ///< as wide as activations are
  fp8,    ///< one byte each, with a scale in fp32 for every 128 of them; what comes back is as wide as before
          ///< (DeepSeek-V3, arXiv:2412.19437, section 3.3.3; github.com/deepseek-ai/DeepEP)
};
constexpr auto names_of(ExpertDispatch) {
  using enum ExpertDispatch;
  return std::to_array<Name<ExpertDispatch>>({{plain, "plain"}, {fp8, "fp8"}});
}

/// How rows come to the devices of their experts and back.
enum class ExpertExchange : std::uint8_t {
  all_to_all,  ///< once for each expert, by the library's all-to-all
  once,        ///< once for each device that has some of them, which sums what goes back, by kernels made for it over
               ///< links like NVLink (NVIDIA's Hybrid-EP: github.com/deepseek-ai/DeepEP, branch hybrid-ep)
};
constexpr auto names_of(ExpertExchange) {
  using enum ExpertExchange;
  return std::to_array<Name<ExpertExchange>>({{all_to_all, "all-to-all"}, {once, "once"}});
}

/// How the host launches what a block with experts computes.
enum class ExpertLaunch : std::uint8_t {
  ahead,    ///< ahead of the device: shapes are known before, and kernels captured in a graph or of all experts at once
  counted,  ///< expert by expert, once the device has told it how many rows each of them has: it is never ahead of the
            ///< device by more than a block (Transformer Engine's GroupedLinear without CUDA graphs, rows not dropped)
};
constexpr auto names_of(ExpertLaunch) {
  using enum ExpertLaunch;
  return std::to_array<Name<ExpertLaunch>>({{ahead, "ahead"}, {counted, "counted"}});
}

/// Attributes of <timed-as> that say how a network is divided among devices: what a search for layouts sets.
inline constexpr std::array<std::string_view, 18> kLayoutAttributes{
    "batch",          "tensor",   "sequence-parallel", "tensor-overlap",   "context",       "context-exchange",
    "pipeline",       "schedule", "interleave",        "micro-batch",      "recompute",     "sharding",
    "sharding-group", "prefetch", "expert-parallel",   "expert-imbalance", "expert-tensor", "expert-capacity"};

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
  TensorOverlap tensor_overlap = TensorOverlap::none;
  Recomputation recomputation = Recomputation::none;
  Sharding sharding = Sharding::none;
  std::int32_t sharding_group = 0;  ///< replicas, one after the other, that divide it; 0: all of them do
  DeferredSums deferred_sums = DeferredSums::none;
  std::int32_t experts = 1;        ///< devices of a stage that divide the experts of a block (expert parallelism)
  double expert_imbalance = 1;     ///< rows of the device with most of them ÷ those of the mean
  std::int32_t expert_tensor = 1;  ///< devices that divide each of these experts: 1 or `tensor`
  ExpertDispatch expert_dispatch = ExpertDispatch::plain;
  ExpertExchange expert_exchange = ExpertExchange::all_to_all;
  ExpertLaunch expert_launch = ExpertLaunch::ahead;
  double expert_capacity = 0;  ///< rows that a device takes at most ÷ the mean, others are dropped; 0: all
  std::int32_t prefetch = 1;   ///< units (blocks) whose parameters are gathered ahead of their use
  Offload offload = Offload::none;
  double offload_rate = 0;              ///< byte/s between a device and its host, in each direction
  double host_rate = 0;                 ///< byte/s between the host's processor and its memory, for one device
  std::int32_t loss_parts = 0;          ///< of a micro-batch, in which the loss is made; 0: see with_tiles()
  std::int32_t feed_forward_parts = 1;  ///< of a micro-batch, in which dense layers of a feed-forward network are

  std::int32_t of_stage() const { return tensor * context; }      ///< devices of a replica that have the same layers
  std::int32_t devices() const { return of_stage() * pipeline; }  ///< of a replica
  bool offloads_optimizer() const { return offload == Offload::optimizer || offload == Offload::both; }
  bool offloads_activations() const { return offload == Offload::activations || offload == Offload::both; }
  /// The stage that has a piece of the network: in turns, or there and back.
  std::int32_t stage_of(std::int32_t piece) const {
    const bool returns = order == PipelineOrder::dualpipe_v && piece / pipeline % 2 == 1;
    return returns ? pipeline - 1 - piece % pipeline : piece % pipeline;
  }
  /// Whether a step is anything else than one pass of the whole batch on one device that keeps everything.
  bool divides() const {
    return devices() > 1 || experts > 1 || micro_batch > 0 || recomputation != Recomputation::none ||
           sharding != Sharding::none || offload != Offload::none;
  }
  bool operator==(const ParallelismSpec&) const = default;
};

}  // namespace dadsim::spec
