#include "spec/timed_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "spec/adapters.hpp"
#include "spec/attention.hpp"
#include "spec/device_part.hpp"
#include "spec/expert_parallel.hpp"
#include "spec/kept_activations.hpp"
#include "spec/stages.hpp"
#include "spec/tiles.hpp"
#include "spec/workload.hpp"

namespace dadsim::spec {

namespace {

FlashLibrary library_of(Attention attention) {
  if (attention == Attention::flash_2) return FlashLibrary::flash_2;
  return attention == Attention::flash_3 ? FlashLibrary::flash_3 : FlashLibrary::any;
}

}  // namespace

ModelShape shape_of_workload(const TimedAsSpec& asked) {
  ModelShape shape = workload_registry().at(asked.workload).shape(asked.sizes);
  if (!writes_scores(asked.attention)) shape = with_flash_attention(std::move(shape), library_of(asked.attention));
  return asked.adapters > 0 ? with_adapters(std::move(shape), asked.adapters, asked.adapted) : shape;
}

namespace {

bool has_layer(const TimedAsSpec& asked, bool (*is_one)(const LayerShape&)) {
  const Workload* workload = asked.workload.empty() ? nullptr : workload_registry().find(asked.workload);
  if (workload == nullptr) return false;
  try {
    const ModelShape shape = workload->shape(asked.sizes);
    return std::ranges::any_of(shape.layers, is_one);
  } catch (const std::invalid_argument&) {
    return false;
  }
}

}  // namespace

bool has_experts(const TimedAsSpec& asked) {
  return has_layer(asked, [](const LayerShape& layer) { return layer.experts > 1; });
}

bool has_pooled_tables(const TimedAsSpec& asked) {
  return has_layer(asked, [](const LayerShape& layer) { return pooled_per_sample(layer) > 0; });
}

namespace {

/// Returns a fault if a given size has no effect because the workload lacks the part that it describes; none if every
/// size has an effect.
std::optional<Fault> fault_of_idle_size(const TimedAsSpec& asked) {
  using Pair = std::pair<const char*, const char*>;
  const std::vector<ParameterSpec>& sizes = workload_registry().at(asked.workload).parameters;
  const auto default_of = [&](const std::string& name) -> std::string {
    const auto found = std::ranges::find(sizes, name, &ParameterSpec::name);
    return found == sizes.end() ? std::string() : found->default_value;
  };
  for (const auto& [size, owner] : {Pair{"experts-per-token", "experts"}, Pair{"expert-feed-forward", "experts"},
                                    Pair{"shared-feed-forward", "experts"}, Pair{"dense-layers", "experts"},
                                    Pair{"experts-every", "experts"}, Pair{"full-every", "window"}}) {
    const auto said = asked.sizes.find(size), of = asked.sizes.find(owner);
    if (said == asked.sizes.end() || said->second == default_of(size)) continue;
    const std::string value = of == asked.sizes.end() ? default_of(owner) : of->second;
    if (value == "0")
      return Fault{fmt::format("{}=\"{}\" needs {} above 0", size, said->second, owner),
                   fmt::format("set {} above 0, or remove it", owner)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Fault> fault_of_recomputation(const ModelShape& shape, const ParallelismSpec& how) {
  if (how.recomputation == Recomputation::none || computes_any_again(shape, how)) return std::nullopt;
  const BlockParts known = parts_of_blocks(shape);
  if (how.recomputation != Recomputation::selective || known.bits == 0 || how.recomputed_parts == BlockParts{})
    return Fault{
        fmt::format("the workload has no blocks to recompute for recompute=\"{}\"", to_string(how.recomputation)),
        "set recompute=\"none\""};
  return Fault{
      fmt::format("the workload's blocks lack a part of recompute-modules=\"{}\"", to_text(how.recomputed_parts)),
      fmt::format("use parts of recompute-modules=\"{}\"", to_text(known))};
}

namespace {

/// Reports an offload of activations that frees nothing. A device without a pipeline holds those of two blocks at a
/// time, and those of the last block stay.
std::optional<Fault> fault_of_offload(const ModelShape& shape, const ParallelismSpec& how) {
  constexpr std::size_t kHeld = 2;
  if (!how.offloads_activations()) return std::nullopt;
  const auto blocks = static_cast<std::size_t>(std::ranges::count_if(blocks_of(shape), repeats));
  if (blocks < 2)
    return Fault{"the workload has no blocks whose activations the host could keep",
                 "use offload=\"optimizer\", or a workload of blocks"};
  const std::size_t leaving = how.blocks_on_host(blocks - 1);
  if (how.pipeline > 1 || how.offload_share == 1 || leaving > kHeld) return std::nullopt;
  const std::string fault = fmt::format(
      "offload-share=\"{:g}\" needs activations of more than the {} blocks that the device holds on their way",
      how.offload_share, kHeld);
  if (blocks <= kHeld + 1) return Fault{fault, "remove offload-share"};
  const double least = std::ceil(1000.0 * (kHeld + 1) / static_cast<double>(blocks - 1)) / 1000;
  return Fault{fault, fmt::format("set offload-share=\"{:g}\" or more", least)};
}

}  // namespace

std::optional<Fault> fault_of_workload(const TimedAsSpec& asked) {
  if (std::optional<Fault> fault = fault_of_idle_size(asked)) return fault;
  try {
    const ModelShape shape = shape_of_workload(asked);
    const auto attends = [](const LayerShape& layer) { return layer.kind == LayerKind::attention; };
    if (!writes_scores(asked.attention) && std::ranges::none_of(shape.layers, attends))
      return Fault{"the workload has no attention", "set attention=\"plain\""};
    const auto divides = [](const LayerShape& layer) { return layer.split != TensorSplit::whole; };
    if (asked.parallelism.tensor > 1 && std::ranges::none_of(shape.layers, divides))
      return Fault{"the workload's layers cannot be divided among devices", "set tensor=\"1\""};
    if (std::optional<Fault> fault = fault_of_recomputation(shape, asked.parallelism)) return fault;
    const std::int64_t micro = asked.parallelism.micro_batch;
    with_tiles(with_divided_sequences(shape, asked.parallelism.context), asked.parallelism,
               static_cast<double>(micro > 0 ? micro : asked.batch));
    if (asked.parallelism.experts > 1) {
      // Checks a division among the replicas of one group. The caller checks that there are enough replicas.
      with_divided_experts(shape, asked.parallelism, static_cast<std::size_t>(asked.parallelism.experts));
    }
    sharded(shape, asked.parallelism.tensor);
    if (std::optional<Fault> fault = fault_of_offload(shape, asked.parallelism)) return fault;
    pieces_of(shape, static_cast<std::size_t>(asked.parallelism.pipeline) *
                         static_cast<std::size_t>(asked.parallelism.interleave));
  } catch (const std::invalid_argument& fault) {
    return Fault{fault.what(), ""};
  }
  return std::nullopt;
}

}  // namespace dadsim::spec
