#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "spec/block_parts.hpp"
#include "spec/names.hpp"

namespace dadsim::spec {

/// Pipeline schedule: the order of micro-batches in a stage.
enum class PipelineOrder : std::uint8_t {
  one_f_one_b,  ///< 1F1B: each backward pass as soon as possible (Narayanan et al., SC 2021)
  gpipe,        ///< GPipe: all forward passes, then all backward passes (Huang et al., NeurIPS 2019)
  zero_bubble,  ///< 1F1B with gradients of weights delayed until a stage would be idle (ZB-H1: Qi et al., Zero Bubble
                ///< Pipeline Parallelism, ICLR 2024, arXiv:2401.10241, section 2)
  dualpipe_v,   ///< zero bubble with two pieces per stage, the second ones in the reverse order of stages (DualPipeV:
                ///< github.com/deepseek-ai/DualPipe; DeepSeek-V3, arXiv:2412.19437, section 3.2.1)
};
constexpr auto names_of(PipelineOrder) {
  using enum PipelineOrder;
  return std::to_array<Name<PipelineOrder>>(
      {{one_f_one_b, "1f1b"}, {gpipe, "gpipe"}, {zero_bubble, "zb-h1"}, {dualpipe_v, "dualpipe-v"}});
}

/// Computation that overlaps with the exchanges of tensor parallelism.
enum class TensorOverlap : std::uint8_t {
  none,      ///< no computation
  backward,  ///< gradients of weights (Megatron-LM's asynchronous all-reduce; Korthikanti et al., arXiv:2205.05198,
             ///< 4.2.2)
  products,  ///< gradients of weights, and each product in parts, while its inputs arrive or its outputs leave
             ///< (Transformer Engine's userbuffers; Wang et al., ASPLOS 2023, doi 10.1145/3567955.3567959)
};
constexpr auto names_of(TensorOverlap) {
  using enum TensorOverlap;
  return std::to_array<Name<TensorOverlap>>({{none, "none"}, {backward, "backward"}, {products, "products"}});
}

/// Part of the forward pass that the backward pass recomputes, so that activations need not be kept.
enum class Recomputation : std::uint8_t {
  none,
  selective,   ///< some parts of a block; by default attention's scores and their products (Korthikanti et al., MLSys
               ///< 2023, section 5)
  operations,  ///< in each block, every second dense product, experts, and all other layers except attention
               ///< (TorchTitan's selective "op": Liang et al., ICLR 2025, arXiv:2410.06511, section 2.2.1)
  full,        ///< whole blocks; only the inputs of blocks are kept (Chen et al., arXiv:1604.06174)
};
constexpr auto names_of(Recomputation) {
  using enum Recomputation;
  return std::to_array<Name<Recomputation>>(
      {{none, "none"}, {selective, "selective"}, {operations, "operations"}, {full, "full"}});
}

/// State that replicas shard instead of replicating (ZeRO: Rajbhandari et al., SC 2020).
enum class Sharding : std::uint8_t {
  none,
  optimizer,   ///< moments and master copies (ZeRO-1)
  gradients,   ///< moments, master copies and gradients (ZeRO-2, SHARD_GRAD_OP)
  parameters,  ///< moments, master copies, gradients and parameters (ZeRO-3, FULL_SHARD)
};
constexpr auto names_of(Sharding) {
  using enum Sharding;
  return std::to_array<Name<Sharding>>(
      {{none, "none"}, {optimizer, "optimizer"}, {gradients, "gradients"}, {parameters, "parameters"}});
}

/// State offloaded to the memory of a device's host.
enum class Offload : std::uint8_t {
  none,
  optimizer,    ///< optimizer state and master copies, updated by the host's processor (ZeRO-Offload: Ren et al.,
                ///< USENIX ATC 2021, arXiv:2101.06840, section 4)
  activations,  ///< activations kept by blocks: they leave during the next block's forward pass and return during the
                ///< following block's backward pass (Rhu et al., vDNN, MICRO 2016, arXiv:1602.08124, section 3)
  both,
};
constexpr auto names_of(Offload) {
  using enum Offload;
  return std::to_array<Name<Offload>>(
      {{none, "none"}, {optimizer, "optimizer"}, {activations, "activations"}, {both, "both"}});
}

/// Gradient sums delayed until the last micro-batch, with sharded gradients.
enum class DeferredSums : std::uint8_t {
  none,      ///< none: every micro-batch reduce-scatters gradients, and sums them among sharding groups
  replicas,  ///< only the sum among sharding groups (PyTorch FSDP2, set_requires_all_reduce; MiCS: arXiv:2205.00119,
             ///< section 3.4)
  all,       ///< the reduce-scatter too, so that gradients are whole until then (FSDP's no_sync)
};
constexpr auto names_of(DeferredSums) {
  using enum DeferredSums;
  return std::to_array<Name<DeferredSums>>({{none, "none"}, {replicas, "replicas"}, {all, "all"}});
}

/// Exchange of keys and values in context parallelism.
enum class ContextExchange : std::uint8_t {
  ring,        ///< during attention (Liu et al., Ring Attention, ICLR 2024, arXiv:2310.01889)
  all_gather,  ///< before attention
};
constexpr auto names_of(ContextExchange) {
  using enum ContextExchange;
  return std::to_array<Name<ContextExchange>>({{ring, "ring"}, {all_gather, "all-gather"}});
}

/// Number format of rows sent to devices of experts.
enum class ExpertDispatch : std::uint8_t {
  plain,  ///< the format of activations
  fp8,    ///< one byte per number, with an fp32 scale for every 128; returned rows keep the format of activations
          ///< (DeepSeek-V3, arXiv:2412.19437, section 3.3.3; github.com/deepseek-ai/DeepEP)
};
constexpr auto names_of(ExpertDispatch) {
  using enum ExpertDispatch;
  return std::to_array<Name<ExpertDispatch>>({{plain, "plain"}, {fp8, "fp8"}});
}

/// Exchange of rows with the devices of experts.
enum class ExpertExchange : std::uint8_t {
  all_to_all,  ///< one copy per expert, by the library's all-to-all
  once,        ///< one copy per device with any of the row's experts, which also sums the returned rows, by dedicated
               ///< kernels; between nodes one copy per node (NVIDIA's Hybrid-EP: github.com/deepseek-ai/DeepEP, branch
               ///< hybrid-ep)
};
constexpr auto names_of(ExpertExchange) {
  using enum ExpertExchange;
  return std::to_array<Name<ExpertExchange>>({{all_to_all, "all-to-all"}, {once, "once"}});
}

/// Launch of the kernels of experts.
enum class ExpertLaunch : std::uint8_t {
  ahead,    ///< kernels queued ahead of the device (CUDA graph, grouped GEMM), because shapes are known before
  counted,  ///< kernels launched per expert, after the device has reported each expert's rows, so at most one block
            ///< ahead of the device (Transformer Engine's GroupedLinear without CUDA graphs, rows not dropped)
};
constexpr auto names_of(ExpertLaunch) {
  using enum ExpertLaunch;
  return std::to_array<Name<ExpertLaunch>>({{ahead, "ahead"}, {counted, "counted"}});
}

/// Layout of a network replica on several devices, and the division of its batch. Each worker of an algorithm is a
/// replica of tensor × context × pipeline devices. Experts are divided among the devices of the same stage in several
/// replicas; expert ranks count the devices of a layer first, then replicas.
struct ParallelismSpec {
  std::int32_t tensor = 1;   ///< devices that divide every layer (Shoeybi et al., arXiv:1909.08053)
  std::int32_t context = 1;  ///< devices that divide each sequence (context parallelism)
  ContextExchange context_exchange = ContextExchange::ring;
  std::int32_t pipeline = 1;     ///< stages of consecutive layers
  std::int32_t interleave = 1;   ///< chunks per stage (interleaved pipeline), not adjacent
  std::int64_t micro_batch = 0;  ///< samples of a micro-batch; 0: the whole batch
  PipelineOrder order = PipelineOrder::one_f_one_b;
  bool sequence_parallel = false;  ///< true: layers that `tensor` leaves undivided are divided along the sequence
  TensorOverlap tensor_overlap = TensorOverlap::none;
  Recomputation recomputation = Recomputation::none;
  Sharding sharding = Sharding::none;
  std::int32_t sharding_group = 0;  ///< consecutive replicas that shard the state; 0: all replicas
  DeferredSums deferred_sums = DeferredSums::none;
  std::int32_t experts = 1;        ///< devices of a stage that divide the experts (expert parallelism)
  double expert_imbalance = 1;     ///< rows of the device with the most rows ÷ the mean
  std::int32_t expert_tensor = 1;  ///< devices that divide each expert: 1 or `tensor`
  ExpertDispatch expert_dispatch = ExpertDispatch::plain;
  ExpertExchange expert_exchange = ExpertExchange::all_to_all;
  ExpertLaunch expert_launch = ExpertLaunch::ahead;
  bool expert_overlap = false;  ///< true: exchanges rows of a micro-batch while another one is computed
  double expert_capacity = 0;   ///< limit on rows per device ÷ the mean; more are dropped; 0: no limit
  std::int32_t prefetch = 1;    ///< units (blocks) whose parameters are gathered ahead
  Offload offload = Offload::none;
  double offload_rate = 0;              ///< byte/s between a device and its host, in each direction
  double host_rate = 0;                 ///< byte/s of the host's memory, per device
  std::int32_t loss_parts = 0;          ///< parts of a micro-batch in the loss; 0: with_tiles() decides
  std::int32_t feed_forward_parts = 1;  ///< parts of a micro-batch in dense layers of feed-forward networks
  BlockParts recomputed_parts = {};     ///< recomputed parts, with Recomputation::selective
  double offload_share = 1;             ///< offloaded share of the optimizer's state, or of the blocks' activations

  std::int32_t of_stage() const { return tensor * context; }      ///< devices of a replica that share its layers
  std::int32_t devices() const { return of_stage() * pipeline; }  ///< devices of a replica
  bool offloads_optimizer() const { return offload == Offload::optimizer || offload == Offload::both; }
  /// Returns the share of the optimizer's state that stays on devices.
  double state_kept() const { return offloads_optimizer() ? 1 - offload_share : 1; }
  bool offloads_activations() const { return offload == Offload::activations || offload == Offload::both; }
  /// Returns the number of a chunk's blocks that offload their activations: the first ones, at least one (Megatron
  /// Core, its fine-grained offloading of activations).
  std::size_t blocks_on_host(std::size_t blocks) const {
    constexpr double kRounding = 1e-9;
    if (!offloads_activations()) return 0;
    return blocks - static_cast<std::size_t>((1 - offload_share) * static_cast<double>(blocks) + kRounding);
  }
  /// Returns whether the backward pass recomputes this part of blocks on its own, without whole blocks.
  bool repeats_part(BlockPart part) const {
    return recomputation == Recomputation::selective && recomputed_parts.has(part);
  }
  /// Returns the stage of chunk `piece` of the network: round robin, or back and forth with DualPipeV.
  std::int32_t stage_of(std::int32_t piece) const {
    const bool returns = order == PipelineOrder::dualpipe_v && piece / pipeline % 2 == 1;
    return returns ? pipeline - 1 - piece % pipeline : piece % pipeline;
  }
  /// Returns whether a step differs from one pass of the whole batch on one device that keeps all activations.
  bool divides() const {
    return devices() > 1 || experts > 1 || micro_batch > 0 || recomputation != Recomputation::none ||
           sharding != Sharding::none || offload != Offload::none;
  }
  bool operator==(const ParallelismSpec&) const = default;
};

}  // namespace dadsim::spec
