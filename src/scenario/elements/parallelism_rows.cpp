// Rows of <timed-as> that divide a network among devices, or a batch into parts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
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

/// Gives a row an effect only with tensor parallelism.
Row<Parallelism> of_divided_layers(Row<Parallelism> row) {
  return std::move(row).only([](const Parallelism& how) { return how.tensor > 1; }, "needs tensor parallelism",
                             "set tensor=\"2\" or more");
}

/// Gives a row an effect only with pipeline parallelism.
Row<Parallelism> of_pipeline(Row<Parallelism> row) {
  return std::move(row).only([](const Parallelism& how) { return how.pipeline > 1; }, "needs a pipeline",
                             "set pipeline=\"2\" or more");
}

/// Gives a row an effect only with expert parallelism.
Row<Parallelism> of_divided_experts(Row<Parallelism> row) {
  return std::move(row).only([](const Parallelism& how) { return how.experts > 1; }, "needs expert parallelism",
                             "set expert-parallel=\"2\" or more");
}

/// Returns the row of a list of parts of blocks.
Row<Parallelism> recomputed_parts_row() {
  const std::string form =
      fmt::format("{}; spaces between several", fmt::join(spec::all_names<spec::BlockPart>(), ", "));
  return by_code<Parallelism>(
             attribute("recompute-modules", text(form)),
             [form](const Node& node, const ReadContext&, Parallelism& how) {
               const std::optional<spec::BlockParts> parts = spec::parse_parts(node.text("recompute-modules", ""));
               if (parts) how.recomputed_parts = *parts;
               if (!parts) node.fail_at("recompute-modules", "is no list of parts of a block", form);
             },
             [](const Parallelism& how, const PathText&) { return to_text(how.recomputed_parts); })
      .only([](const Parallelism& how) { return how.recomputation == spec::Recomputation::selective; },
            "needs recompute=\"selective\"", "set recompute=\"selective\", or remove it")
      .if_given();
}

}  // namespace

std::vector<Row<spec::TimedAsSpec>> parallelism_rows() {
  std::vector<Row<Parallelism>> all{
      attribute("tensor", &Parallelism::tensor, integer(1, kMostDivided)).if_given().of_layout(2),
      of_divided_layers(attribute("sequence-parallel", &Parallelism::sequence_parallel)).of_layout(3),
      of_divided_layers(attribute("tensor-overlap", &Parallelism::tensor_overlap)).if_given().of_layout(4),
      attribute("pipeline", &Parallelism::pipeline, integer(1, kMostDivided)).if_given().of_layout(7),
      attribute("context", &Parallelism::context, integer(1, kMostDivided)).if_given().of_layout(5),
      attribute("context-exchange", &Parallelism::context_exchange)
          .only([](const Parallelism& how) { return how.context > 1; }, "needs context parallelism",
                "set context=\"2\" or more")
          .of_layout(6),
      attribute("expert-parallel", &Parallelism::experts, integer(1, kMostDivided)).if_given().of_layout(16),
      of_divided_experts(
          attribute("expert-imbalance", &Parallelism::expert_imbalance, real({.minimum = 1, .maximum = 1e3})))
          .of_layout(17),
      of_divided_experts(attribute("expert-tensor", &Parallelism::expert_tensor, integer(1, kMostDivided)))
          .if_given()
          .of_layout(18),
      of_divided_experts(attribute("expert-capacity", &Parallelism::expert_capacity,
                                   real({.minimum = 0, .maximum = 1e3, .open_minimum = true})))
          .if_given()
          .if_left_out("nothing is dropped")
          .of_layout(19),
      of_divided_experts(attribute("expert-dispatch", &Parallelism::expert_dispatch)).if_given(),
      of_divided_experts(attribute("expert-exchange", &Parallelism::expert_exchange)).if_given(),
      of_divided_experts(attribute("expert-launch", &Parallelism::expert_launch)).if_given(),
      of_pipeline(attribute("interleave", &Parallelism::interleave, integer(1, kMostDivided))).of_layout(9),
      of_pipeline(attribute("schedule", &Parallelism::order)).of_layout(8),
      attribute("micro-batch", &Parallelism::micro_batch, integer(1, 1'000'000))
          .if_given()
          .if_left_out("the batch")
          .of_layout(10),
      attribute("expert-overlap", &Parallelism::expert_overlap)
          .only([](const Parallelism& how) { return how.experts > 1 && how.micro_batch > 0; },
                "needs expert parallelism and several micro-batches", "set expert-parallel=\"2\" and micro-batch=\"1\"")
          .if_given(),
      attribute("recompute", &Parallelism::recomputation).if_given().of_layout(11),
      recomputed_parts_row().of_layout(12),
      attribute("sharding", &Parallelism::sharding).if_given().of_layout(13),
      attribute("sharding-group", &Parallelism::sharding_group, integer(1, 1'000'000))
          .only([](const Parallelism& how) { return how.sharding != spec::Sharding::none; }, "needs sharding",
                "set sharding=\"parameters\", \"gradients\" or \"optimizer\"")
          .if_given()
          .if_left_out("all workers")
          .of_layout(14),
      attribute("deferred-sums", &Parallelism::deferred_sums)
          .only([](const Parallelism& how) { return how.sharding >= spec::Sharding::gradients && how.micro_batch > 0; },
                "needs sharded gradients or parameters, and micro-batches",
                "set sharding=\"parameters\" or \"gradients\" and a micro-batch, or remove it")
          .if_given(),
      attribute("loss-parts", &Parallelism::loss_parts, integer(1, 1'000'000))
          .without_default()
          .if_given()
          .if_left_out("1; parts of 2,048 tokens if a device would otherwise have more than 2³¹ scores at once"),
      attribute("feed-forward-parts", &Parallelism::feed_forward_parts, integer(1, 1'000'000)).if_given(),
      attribute("prefetch", &Parallelism::prefetch, integer(0, 1000))
          .only([](const Parallelism& how) { return how.sharding == spec::Sharding::parameters; },
                "needs sharding=\"parameters\"", "set sharding=\"parameters\", or remove it")
          .of_layout(15),
      attribute("offload", &Parallelism::offload).if_given(),
      attribute("offload-rate", &Parallelism::offload_rate, quantity(kHostRate))
          .only([](const Parallelism& how) { return how.offload != spec::Offload::none; }, "needs offload",
                "set offload=\"optimizer\" or \"activations\"")
          .if_given(),
      attribute("offload-share", &Parallelism::offload_share, real({.minimum = 0, .maximum = 1, .open_minimum = true}))
          .only([](const Parallelism& how) { return how.offload != spec::Offload::none; }, "needs offload",
                "set offload=\"optimizer\" or \"activations\"")
          .if_given(),
      attribute("host-rate", &Parallelism::host_rate, quantity(kHostRate))
          .only([](const Parallelism& how) { return how.offloads_optimizer(); }, "needs offload=\"optimizer\"",
                "set offload=\"optimizer\"")
          .if_given()};
  std::vector<Row<spec::TimedAsSpec>> rows;
  for (Row<Parallelism>& row : all) rows.push_back(within(&spec::TimedAsSpec::parallelism, std::move(row)));
  return rows;
}

void check_division(const Node& node, spec::ParallelismSpec& how, std::int64_t batch) {
  if (how.micro_batch > 0 && batch % how.micro_batch != 0) {
    node.fail_at("micro-batch", infeasible(fmt::format("does not divide the batch of {}", batch),
                                           use_divisor("micro-batch", static_cast<std::size_t>(batch))));
    how.micro_batch = 0;
  }
  const std::int64_t micro_batches = how.micro_batch == 0 ? 1 : batch / how.micro_batch;
  if (how.interleave > 1 && how.order == spec::PipelineOrder::one_f_one_b && micro_batches % how.pipeline != 0) {
    node.fail_at(
        "interleave",
        infeasible(fmt::format(
                       "needs a number of micro-batches that is a multiple of the stages ({} stages, {} micro-batches)",
                       how.pipeline, micro_batches),
                   "use another micro-batch, or schedule=\"gpipe\""));
    how.interleave = 1;
  }
  if (how.order == spec::PipelineOrder::zero_bubble && how.interleave > 1) {
    node.fail_at("interleave", not_built("cannot be combined with schedule=\"zb-h1\"",
                                         "use schedule=\"dualpipe-v\" with interleave=\"2\", or remove 'interleave'"));
    how.interleave = 1;
  }
  if (how.order == spec::PipelineOrder::dualpipe_v && (how.interleave != 2 || micro_batches < 2 * how.pipeline)) {
    node.fail_at("schedule",
                 infeasible(fmt::format("dualpipe-v needs interleave=\"2\" and at least twice as many micro-batches as "
                                        "stages (interleave {}, {} stages, {} micro-batches)",
                                        how.interleave, how.pipeline, micro_batches),
                            "use interleave=\"2\" and a smaller micro-batch, or another schedule"));
    how.order = spec::PipelineOrder::one_f_one_b;
  }
  if (how.deferred_sums == spec::DeferredSums::replicas && how.sharding_group == 0) {
    node.fail_at("deferred-sums", "needs sharding groups",
                 "set sharding-group=\"8\" or another, or deferred-sums=\"all\"");
  }
  if (how.tensor_overlap == spec::TensorOverlap::products && !how.sequence_parallel)
    node.fail_at("tensor-overlap", "needs sequence-parallel",
                 "set sequence-parallel=\"true\", or tensor-overlap=\"backward\"");
  if (how.expert_tensor > 1 && how.expert_tensor != how.tensor)
    node.fail_at("expert-tensor", not_built(fmt::format("differs from tensor=\"{}\"", how.tensor),
                                            "use the value of 'tensor', or remove 'expert-tensor'"));
  if (how.expert_capacity > 0 && how.expert_capacity >= how.expert_imbalance)
    node.fail_at("expert-capacity", "must be below 'expert-imbalance' to have an effect",
                 "use less than 'expert-imbalance', or remove 'expert-capacity'");
  if (how.offload == spec::Offload::none) return;
  const bool waits = how.order == spec::PipelineOrder::zero_bubble || how.order == spec::PipelineOrder::dualpipe_v;
  if (how.offloads_activations() && waits) {
    node.fail_at("offload", not_built("cannot offload activations with a schedule that delays weight gradients",
                                      "use schedule=\"1f1b\" or \"gpipe\", or offload=\"optimizer\""));
    how.offload = how.offload == spec::Offload::both ? spec::Offload::optimizer : spec::Offload::none;
  }
  if (!node.has("offload-rate"))
    node.fail("<timed-as> lacks 'offload-rate'", "add the rate of the link to the host, e.g. offload-rate=\"25GBps\"");
  if (how.offloads_optimizer() && !node.has("host-rate"))
    node.fail("<timed-as> lacks 'host-rate'", "add the rate of the optimizer on the host, e.g. host-rate=\"25GBps\"");
}

}  // namespace dadsim::scenario
