// Rows of <timed-as> that divide a network among devices, or a batch into parts.
#include <fmt/format.h>

#include <utility>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/elements/read_parallelism.hpp"

namespace dadsim::scenario {
namespace {

constexpr QuantityForm kHostRate{Unit::bytes_per_second,
                                 {.minimum = 0, .open_minimum = true},
                                 "bytes per second above 0 with their unit, e.g. 25GBps"};

using Parallelism = spec::ParallelismSpec;

/// Restricts a row to divided layers: without them it has no effect.
Row<Parallelism> of_divided_layers(Row<Parallelism> row) {
  return std::move(row).only([](const Parallelism& how) { return how.tensor > 1; }, "goes with dividing layers",
                             "tensor=\"2\" or more beside it");
}

/// Restricts a row to pipelines: without one it has no effect.
Row<Parallelism> of_pipeline(Row<Parallelism> row) {
  return std::move(row).only([](const Parallelism& how) { return how.pipeline > 1; }, "is of a pipeline",
                             "pipeline=\"2\" or more beside it");
}

/// Restricts a row to divided experts: without them it has no effect.
Row<Parallelism> of_divided_experts(Row<Parallelism> row) {
  return std::move(row).only([](const Parallelism& how) { return how.experts > 1; }, "is of divided experts",
                             "expert-parallel=\"2\" or more beside it");
}

}  // namespace

std::vector<Row<spec::TimedAsSpec>> parallelism_rows() {
  std::vector<Row<Parallelism>> all{
      attribute("tensor", &Parallelism::tensor, integer(1, kMostDivided),
                "Devices that divide every layer of a worker among them (tensor parallelism). A worker is then "
                "tensor × pipeline of the hosts of workers, in the order: devices of a layer, workers, stages.")
          .if_given(),
      of_divided_layers(attribute("sequence-parallel", &Parallelism::sequence_parallel,
                                  "What tensor parallelism leaves whole is divided along the sequence.")),
      of_divided_layers(
          attribute("tensor-overlap", &Parallelism::tensor_overlap,
                    "What the devices of a layer compute while they exchange: nothing; gradients of weights, in the "
                    "backward pass; products too, in parts as their inputs come in or their outputs leave."))
          .if_given(),
      attribute("pipeline", &Parallelism::pipeline, integer(1, kMostDivided),
                "Stages of consecutive layers that a worker is divided into.")
          .if_given(),
      attribute("context", &Parallelism::context, integer(1, kMostDivided),
                "Devices that have a part of each sequence (context parallelism). A worker is then tensor × "
                "context × pipeline hosts, in the order: devices of a layer, parts, workers, stages.")
          .if_given(),
      attribute("context-exchange", &Parallelism::context_exchange,
                "How they come by the keys and values of the others: ring, beside attention; all-gather, before "
                "it.")
          .only([](const Parallelism& how) { return how.context > 1; }, "is of divided sequences",
                "context=\"2\" or more beside it"),
      attribute("expert-parallel", &Parallelism::experts, integer(1, kMostDivided),
                "Devices of a stage that divide the experts of a block, in the order: devices of a layer, "
                "workers. A multiple of `tensor`; experts are whole on a device.")
          .if_given(),
      of_divided_experts(
          attribute("expert-imbalance", &Parallelism::expert_imbalance, real({.minimum = 1, .maximum = 1e3}),
                    "Rows that come to the device with most of them ÷ those of the mean: all wait for it.")),
      of_divided_experts(
          attribute("expert-tensor", &Parallelism::expert_tensor, integer(1, kMostDivided),
                    "Devices that divide each of these experts, as many as `tensor`; expert-parallel then counts "
                    "groups of them. 1: experts are whole."))
          .if_given(),
      of_divided_experts(
          attribute("expert-capacity", &Parallelism::expert_capacity,
                    real({.minimum = 0, .maximum = 1e3, .open_minimum = true}),
                    "Rows that a device takes at most ÷ those of the mean; what comes beyond is dropped."))
          .if_given()
          .if_left_out("nothing is dropped"),
      of_divided_experts(
          attribute("expert-dispatch", &Parallelism::expert_dispatch,
                    "What rows are on their way to experts: as wide as activations, or fp8 with a scale for every "
                    "128 numbers; they come back as wide as activations."))
          .if_given(),
      of_divided_experts(
          attribute("expert-exchange", &Parallelism::expert_exchange,
                    "How rows come to experts and back: once for each expert, by an all-to-all, or once for each "
                    "device that has some of them, between nodes once for each node, as Hybrid-EP does."))
          .if_given(),
      attribute("expert-overlap", &Parallelism::expert_overlap,
                "Whether rows are exchanged while another micro-batch is computed (Megatron's "
                "--overlap-moe-expert-parallel-comm).")
          .only([](const Parallelism& how) { return how.experts > 1 && how.micro_batch > 0; },
                "needs divided experts and a micro-batch", "expert-parallel=\"2\" and a micro-batch, or remove it")
          .if_given(),
      of_divided_experts(
          attribute("expert-launch", &Parallelism::expert_launch,
                    "How the host launches a block with experts: ahead of the device, or expert by expert once it "
                    "knows how many rows each has, so that a block takes no less than its launches."))
          .if_given(),
      of_pipeline(attribute("interleave", &Parallelism::interleave, integer(1, kMostDivided),
                            "Pieces of the network that each stage has, not next to one another. In "
                            "1f1b there must be a multiple of the stages of micro-batches then.")),
      of_pipeline(attribute(
          "schedule", &Parallelism::order,
          "The order of a pipeline: one forward and one backward pass in turn, or all forward passes first; zb-h1: "
          "the first with gradients of weights that wait for where a stage would; dualpipe-v: that there and "
          "back, with two pieces to a stage.")),
      attribute("micro-batch", &Parallelism::micro_batch, integer(1, 1'000'000),
                "Samples that go through the network together; their gradients are added "
                "up before they are shared. It divides the batch.")
          .if_given()
          .if_left_out("the batch"),
      attribute("recompute", &Parallelism::recomputation,
                "What the backward pass computes again instead of keeping it: nothing, attention, each second "
                "product of a block with all that is no product, or whole blocks.")
          .if_given(),
      attribute("sharding", &Parallelism::sharding,
                "What workers divide among themselves instead of keeping it each: the optimizer's state "
                "(ZeRO-1), gradients too (ZeRO-2), parameters too (ZeRO-3, FSDP).")
          .if_given(),
      attribute("sharding-group", &Parallelism::sharding_group, integer(1, 1'000'000),
                "Workers, one after the other, that divide what sharding says; those of other groups have the "
                "same (HSDP). A divisor of the workers.")
          .only([](const Parallelism& how) { return how.sharding != spec::Sharding::none; },
                "is of what workers divide", "sharding=\"parameters\" or another beside it")
          .if_given()
          .if_left_out("all workers"),
      attribute("deferred-sums", &Parallelism::deferred_sums,
                "Which sums of gradients wait for the last micro-batch. none: each micro-batch scatters its own. "
                "replicas: the sum among groups that divide the same waits (FSDP2's set_requires_all_reduce). "
                "all: the scatter too, and gradients are whole until then (FSDP's no_sync).")
          .only([](const Parallelism& how) { return how.sharding >= spec::Sharding::gradients && how.micro_batch > 0; },
                "has no effect where gradients are not divided or a batch is one micro-batch",
                "sharding=\"parameters\" or \"gradients\" and a micro-batch, or remove it")
          .if_given(),
      attribute("loss-parts", &Parallelism::loss_parts, integer(1, 1'000'000),
                "Parts of a micro-batch in which the loss is made, one after the other: scores of classes are "
                "there for one part at a time (Liger, torchtitan, TRL).")
          .without_default()
          .if_given()
          .if_left_out("1; parts of 2,048 tokens where a device would have more than 2³¹ scores at once"),
      attribute("feed-forward-parts", &Parallelism::feed_forward_parts, integer(1, 1'000'000),
                "Parts of a micro-batch in which feed-forward networks of blocks (experts are none) are worked "
                "out, one after the other, forward and once more in the backward pass (tiled MLP, arXiv "
                "2506.13996): what lies inside them is there for one part at a time.")
          .if_given(),
      attribute("prefetch", &Parallelism::prefetch, integer(0, 1000),
                "With sharded parameters: blocks that are gathered ahead of their use.")
          .only([](const Parallelism& how) { return how.sharding == spec::Sharding::parameters; },
                "is of parameters that are gathered", "sharding=\"parameters\" beside it"),
      attribute("offload", &Parallelism::offload,
                "What the host keeps instead of the device: nothing; the optimizer's state and the master "
                "copies, which its processor updates (arXiv 2101.06840); what blocks keep for the pass back, "
                "which leaves beside the next block's pass and comes back beside the one behind; or both.")
          .if_given(),
      attribute("offload-rate", &Parallelism::offload_rate, quantity(kHostRate),
                "Between a device and its host, in each direction, with its unit: of gradients and parameters "
                "when all have been summed, of activations beside the passes.")
          .only([](const Parallelism& how) { return how.offload != spec::Offload::none; }, "is of what the host keeps",
                "offload=\"optimizer\" or \"activations\" beside it")
          .if_given(),
      attribute("host-rate", &Parallelism::host_rate, quantity(kHostRate),
                "Between the host's processor and its memory, for one device, with its unit.")
          .only([](const Parallelism& how) { return how.offloads_optimizer(); }, "is of the host that updates",
                "offload=\"optimizer\" beside it")
          .if_given()};
  std::vector<Row<spec::TimedAsSpec>> rows;
  for (Row<Parallelism>& row : all) rows.push_back(within(&spec::TimedAsSpec::parallelism, std::move(row)));
  return rows;
}

void check_division(const Node& node, spec::ParallelismSpec& how, std::int64_t batch) {
  if (how.micro_batch > 0 && batch % how.micro_batch != 0) {
    node.fail_at("micro-batch", infeasible(fmt::format("does not divide the batch of {}", batch),
                                           "micro-batch " + divisors_of(static_cast<std::size_t>(batch))));
    how.micro_batch = 0;
  }
  const std::int64_t micro_batches = how.micro_batch == 0 ? 1 : batch / how.micro_batch;
  if (how.interleave > 1 && how.order == spec::PipelineOrder::one_f_one_b && micro_batches % how.pipeline != 0) {
    node.fail_at("interleave",
                 infeasible(fmt::format("goes with as many micro-batches as there are stages, or a multiple of that "
                                        "({} stages, {} micro-batches)",
                                        how.pipeline, micro_batches),
                            "another micro-batch, or schedule=\"gpipe\""));
    how.interleave = 1;
  }
  if (how.order == spec::PipelineOrder::zero_bubble && how.interleave > 1) {
    node.fail_at("interleave", not_built("stands beside schedule=\"zb-h1\", whose stages have one piece each",
                                         "schedule=\"dualpipe-v\" with two, or no interleave"));
    how.interleave = 1;
  }
  if (how.order == spec::PipelineOrder::dualpipe_v && (how.interleave != 2 || micro_batches < 2 * how.pipeline)) {
    node.fail_at("schedule", infeasible(fmt::format("dualpipe-v goes with two pieces to a stage and at least twice as "
                                                    "many micro-batches as stages ({} pieces, {} stages, {} "
                                                    "micro-batches)",
                                                    how.interleave, how.pipeline, micro_batches),
                                        "interleave=\"2\" and a smaller micro-batch, or another schedule"));
    how.order = spec::PipelineOrder::one_f_one_b;
  }
  if (how.deferred_sums == spec::DeferredSums::replicas && how.sharding_group == 0) {
    node.fail_at("deferred-sums", "says replicas, and no groups of workers have the same",
                 "sharding-group=\"8\" or another beside it, or deferred-sums=\"all\"");
  }
  if (how.tensor_overlap == spec::TensorOverlap::products && !how.sequence_parallel)
    node.fail_at("tensor-overlap", "says products, whose inputs come in parts along the sequence",
                 "sequence-parallel=\"true\" beside it, or tensor-overlap=\"backward\"");
  if (how.expert_tensor > 1 && how.expert_tensor != how.tensor)
    node.fail_at("expert-tensor", not_built(fmt::format("is not the {} devices that divide a layer", how.tensor),
                                            "the same as tensor, or no expert-tensor"));
  if (how.expert_capacity > 0 && how.expert_capacity >= how.expert_imbalance)
    node.fail_at("expert-capacity", "drops nothing: no device has more rows than expert-imbalance says",
                 "less than expert-imbalance, or no expert-capacity");
  if (how.offload == spec::Offload::none) return;
  const bool waits = how.order == spec::PipelineOrder::zero_bubble || how.order == spec::PipelineOrder::dualpipe_v;
  if (how.offloads_activations() && waits) {
    node.fail_at("offload", not_built("leaves activations with the host, and gradients of weights that wait need them",
                                      "schedule=\"1f1b\" or \"gpipe\", or offload=\"optimizer\""));
    how.offload = how.offload == spec::Offload::both ? spec::Offload::optimizer : spec::Offload::none;
  }
  if (!node.has("offload-rate"))
    node.fail("<timed-as> lacks 'offload-rate'", "the rate of the link to the host, e.g. 25GBps");
  if (how.offloads_optimizer() && !node.has("host-rate"))
    node.fail("<timed-as> lacks 'host-rate'", "the rate of the host that updates, e.g. 25GBps");
}

}  // namespace dadsim::scenario
