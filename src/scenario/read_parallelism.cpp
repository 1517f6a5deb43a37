#include "scenario/read_parallelism.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace dadsim::scenario {
namespace {

constexpr std::int64_t kMostDivided = 4096;

std::int64_t peek(const Element& element, std::string_view attribute) {
  const Attribute* found = element.find(attribute);
  const std::int64_t value = found == nullptr ? 1 : parse_integer(found->value).value_or(1);
  return value >= 1 && value <= kMostDivided ? value : 1;
}

}  // namespace

std::int64_t devices_per_worker(const Element* timed_as) {
  return timed_as == nullptr ? 1 : peek(*timed_as, "tensor") * peek(*timed_as, "pipeline");
}

spec::ParallelismSpec read_parallelism(const Node& node, std::int64_t batch) {
  spec::ParallelismSpec how;
  how.tensor = static_cast<std::int32_t>(node.integer("tensor", 1, kMostDivided, 1));
  how.pipeline = static_cast<std::int32_t>(node.integer("pipeline", 1, kMostDivided, 1));
  how.interleave = static_cast<std::int32_t>(node.integer("interleave", 1, kMostDivided, 1));
  how.micro_batch = node.integer("micro-batch", 1, 1'000'000, 0);
  how.order = node.named("schedule", how.order);
  how.sequence_parallel = node.boolean("sequence-parallel", false);
  how.recomputation = node.named("recompute", how.recomputation);
  how.sharding = node.named("sharding", how.sharding);
  how.prefetch = static_cast<std::int32_t>(node.integer("prefetch", 0, 1000, 1));
  if (how.pipeline == 1) {
    node.refuse("interleave", "is of a pipeline", "pipeline=\"2\" or more beside it");
    node.refuse("schedule", "is of a pipeline", "pipeline=\"2\" or more beside it");
    how.interleave = 1;
  }
  if (how.tensor == 1) node.refuse("sequence-parallel", "goes with dividing layers", "tensor=\"2\" or more beside it");
  if (how.sharding != spec::Sharding::parameters)
    node.refuse("prefetch", "is of parameters that are gathered", "sharding=\"parameters\" beside it");
  if (how.micro_batch > 0 && batch % how.micro_batch != 0) {
    node.fail_at("micro-batch", fmt::format("does not divide the batch of {}", batch), "a divisor of the batch");
    how.micro_batch = 0;
  }
  const std::int64_t micro_batches = how.micro_batch == 0 ? 1 : batch / how.micro_batch;
  if (how.interleave > 1 && how.order == spec::PipelineOrder::one_f_one_b && micro_batches % how.pipeline != 0) {
    node.fail_at("interleave",
                 fmt::format("goes with as many micro-batches as there are stages, or a multiple of that "
                             "({} stages, {} micro-batches)",
                             how.pipeline, micro_batches),
                 "another micro-batch, or schedule=\"gpipe\"");
    how.interleave = 1;
  }
  return how;
}

void check_parallelism(const Element& timed_as, const spec::TimedAsSpec& timed, std::size_t devices,
                       const std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  const spec::ParallelismSpec& how = timed.parallelism;
  if (how.devices() > 1 && timed.workload.empty()) {
    context.findings.add(timed_as.origin, "<timed-as> divides a network that does not say how its layers divide",
                         "workload=\"…\" beside tensor and pipeline");
  }
  const auto per_worker = static_cast<std::size_t>(how.devices());
  if (devices % per_worker != 0 || devices == 0) {
    context.findings.add(timed_as.origin,
                         fmt::format("<timed-as> makes a worker of {} devices, and there are {}", per_worker, devices),
                         fmt::format("<workers> with a multiple of {} hosts", per_worker));
  }
  if (!how.divides()) return;
  for (const spec::RunSpec& run : runs) {
    const auto info = std::ranges::find(context.catalog.algorithms, run.algorithm, &Catalog::Algorithm::name);
    if (info == context.catalog.algorithms.end()) continue;
    const auto refuse = [&](const std::string& what, const std::string& remedy) {
      context.findings.add(timed_as.origin, fmt::format("run '{}' {}", printable(run.label), what), remedy);
    };
    if (run.event_driven || run.decentralised) {
      refuse("cannot have workers that work on micro-batches or are of several devices",
             "<timed-as> without tensor, pipeline, micro-batch, recompute and sharding, or another algorithm");
    } else if (run.communicates && run.exchange == spec::ExchangeMode::aggregator) {
      refuse("goes through an aggregator, and workers that work on micro-batches or are of several devices do not",
             "exchange=\"peer\" on the run");
    } else if (how.sharding != spec::Sharding::none && run.communicates &&
               !(info->sums_in_buckets && run.compress == spec::CompressSpec{})) {
      refuse("does not sum gradients, and sharding takes the place of that",
             "sharding=\"none\", or gradient-sharing without <compress>");
    } else if (how.devices() > 1 && !run.share.empty()) {
      refuse("chooses what each layer shares, which is not worked out for workers of several devices",
             "a run without <share>");
    }
  }
}

}  // namespace dadsim::scenario
