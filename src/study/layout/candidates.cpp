#include "study/layout/candidates.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "scenario/elements/read_parallelism.hpp"
#include "spec/device_part.hpp"
#include "spec/kept_activations.hpp"
#include "spec/stages.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::study {
namespace {

constexpr std::int64_t kLargestMicroBatch = 32;
constexpr double kMostUneven = 7.0 / 6;  // blocks of the fullest stage ÷ their mean
constexpr std::int64_t kMostPieces = 20;
constexpr std::int64_t kMostParts = 64;  // parts of a sequence

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i <= number; ++i) {
    if (number % i == 0) divisors.push_back(i);
  }
  return divisors;
}

bool is_power_of_two(std::int64_t number) { return (number & (number - 1)) == 0; }

/// Returns true for one device, or if the network has layers to divide, all of which can be divided among `tensor`
/// devices.
bool divides_layers(const spec::ModelShape& shape, std::int32_t tensor) {
  if (tensor == 1) return true;
  if (std::ranges::none_of(shape.layers,
                           [](const spec::LayerShape& layer) { return layer.split != spec::TensorSplit::whole; }))
    return false;
  try {
    spec::sharded(shape, tensor);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

bool divides_sequences(const spec::ModelShape& shape, std::int32_t context) {
  try {
    spec::with_divided_sequences(shape, context);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

/// Returns the experts of the block with the fewest experts; 1 without experts.
std::int64_t experts_of(const spec::ModelShape& shape) {
  std::int64_t fewest = 1;
  for (const spec::LayerShape& layer : shape.layers) {
    if (layer.experts > 1) fewest = fewest == 1 ? layer.experts : std::min(fewest, layer.experts);
  }
  return fewest;
}

/// Returns the number of repeated blocks, or the number of layers if no block repeats.
std::int64_t repeating_parts(const spec::ModelShape& shape) {
  const std::vector<spec::LayerRange> blocks = spec::blocks_of(shape);
  const auto repeating = std::ranges::count_if(blocks, spec::repeats);
  return repeating > 0 ? repeating : static_cast<std::int64_t>(shape.layers.size());
}

class Enumeration {
 public:
  Enumeration(const spec::ModelShape& shape, const LayoutSpace& space)
      : shape_(shape), space_(space), blocks_(repeating_parts(shape)), experts_(experts_of(shape)) {
    std::vector<std::int64_t> powers;
    for (std::int64_t parts = 1; parts <= kMostParts; parts *= 2) powers.push_back(parts);
    for (const std::int64_t parts : tried("context", powers)) {
      if (parts > 1 && !space.divides_sequences) break;
      if (divides_sequences(shape, static_cast<std::int32_t>(parts)))
        contexts_.push_back(static_cast<std::int32_t>(parts));
    }
  }

  std::vector<report::Layout> all() {
    for (const std::int64_t tensor : tried("tensor", divisors_of(space_.devices_per_node))) {
      if (space_.devices % tensor != 0) continue;
      if (!divides_layers(shape_, static_cast<std::int32_t>(tensor))) continue;
      for (const std::int32_t context : contexts_) {
        if (space_.devices % (tensor * context) != 0) continue;
        for (const std::int64_t pipeline : tried("pipeline", divisors_of(space_.devices / tensor / context)))
          add_stages(tensor, context, pipeline);
      }
    }
    return std::move(layouts_);
  }

 private:
  /// Returns the printed value of a fixed attribute; nullptr if it is not fixed. What is not looked up here is decided
  /// by LayoutSpace::holds.
  const std::string* fixed(const std::string& attribute) const {
    const auto found = std::ranges::find(space_.fixed, attribute, [](const auto& one) { return one.first; });
    return found == space_.fixed.end() ? nullptr : &found->second;
  }
  std::vector<std::int64_t> tried(const std::string& attribute, std::vector<std::int64_t> searched) const {
    const std::string* value = fixed(attribute);
    return value != nullptr ? std::vector{parse_whole<std::int64_t>(*value).value()} : searched;
  }

  bool is_even(std::int64_t pipeline) const {
    const double share = static_cast<double>(blocks_) / static_cast<double>(pipeline);
    const std::int64_t most = (blocks_ + pipeline - 1) / pipeline;
    return fixed("pipeline") != nullptr || static_cast<double>(most) <= kMostUneven * share;
  }

  /// Returns the divisors of `batch` up to kLargestMicroBatch that are powers of two or the batch itself.
  static std::vector<std::int64_t> micro_batches_of(std::int64_t batch) {
    std::vector<std::int64_t> sizes = divisors_of(batch);
    std::erase_if(sizes, [&](std::int64_t size) {
      return size > kLargestMicroBatch || (!is_power_of_two(size) && size != batch);
    });
    return sizes;
  }

  void add_stages(std::int64_t tensor, std::int32_t context, std::int64_t pipeline) {
    if (pipeline > blocks_ || !is_even(pipeline)) return;
    report::Layout layout{.how = space_.base};
    layout.how.tensor = static_cast<std::int32_t>(tensor);
    layout.how.context = context;
    layout.how.pipeline = static_cast<std::int32_t>(pipeline);
    layout.how.order = spec::PipelineOrder::one_f_one_b;
    layout.how.sequence_parallel =
        tensor > 1 && (fixed("sequence-parallel") == nullptr || space_.base.sequence_parallel);
    if (tensor == 1 || (!layout.how.sequence_parallel && layout.how.tensor_overlap == spec::TensorOverlap::products))
      layout.how.tensor_overlap = spec::TensorOverlap::none;
    if (space_.devices % layout.how.devices() != 0) return;
    layout.replicas = space_.devices / layout.how.devices();
    if (space_.global_batch % layout.replicas != 0) return;
    layout.batch = space_.global_batch / layout.replicas;
    for (const std::int64_t micro : tried("micro-batch", micro_batches_of(layout.batch))) {
      if (layout.batch % micro != 0) continue;
      layout.how.micro_batch = micro;
      add_experts(layout);
    }
  }

  /// Adds the layouts with each number of devices among which experts can be divided. These devices are in one stage,
  /// and the devices that divide a layer are adjacent.
  void add_experts(report::Layout layout) {
    const std::int64_t of_stage = layout.replicas * layout.how.tensor * layout.how.context;
    for (const std::int64_t group : tried("expert-parallel", divisors_of(experts_))) {
      if (experts_ % group != 0) continue;
      if (group > 1 && (group % layout.how.tensor != 0 || of_stage % group != 0)) continue;
      layout.how.experts = static_cast<std::int32_t>(group);
      if (layout.how.expert_tensor > 1) layout.how.expert_tensor = layout.how.tensor;
      add_pieces(layout);
    }
  }

  void add_pieces(report::Layout layout) {
    const std::int32_t pipeline = layout.how.pipeline;
    std::vector<std::int64_t> counts(kMostPieces);
    std::iota(counts.begin(), counts.end(), 1);
    for (const std::int64_t pieces : tried("interleave", counts)) {
      if (pieces > 1 && (pipeline == 1 || blocks_ % (pipeline * pieces) != 0)) continue;
      layout.how.interleave = static_cast<std::int32_t>(pieces);
      for (const spec::PipelineOrder order : orders_of(layout)) {
        layout.how.order = order;
        add_memory(layout);
      }
    }
  }

  /// Returns the pipeline schedules that the stages of a layout may use.
  std::vector<spec::PipelineOrder> orders_of(const report::Layout& layout) const {
    using enum spec::PipelineOrder;
    const spec::ParallelismSpec& how = layout.how;
    if (how.pipeline == 1) return {one_f_one_b};
    const std::int64_t micro_batches = layout.batch / how.micro_batch;
    const bool in_turn = how.interleave == 1 || micro_batches % how.pipeline == 0;
    const std::string* schedule = fixed("schedule");
    const bool all_first = schedule != nullptr && *schedule == spec::to_string(gpipe);
    std::vector<spec::PipelineOrder> orders{in_turn && !all_first ? one_f_one_b : gpipe};
    if (how.interleave == 1) orders.push_back(zero_bubble);
    if (how.interleave == 2 && micro_batches >= 2 * static_cast<std::int64_t>(how.pipeline))
      orders.push_back(dualpipe_v);
    return orders;
  }

  /// Returns the choices of recomputation in the backward pass. With experts or latent vectors, also the parts that are
  /// cheap to compute.
  std::vector<std::pair<spec::Recomputation, spec::BlockParts>> recomputations() const {
    using spec::BlockPart;
    const bool said = fixed("recompute") != nullptr || fixed("recompute-modules") != nullptr;
    std::vector<std::pair<spec::Recomputation, spec::BlockParts>> all{{spec::Recomputation::none, {}}};
    if (said || space_.plain_attention) all.emplace_back(spec::Recomputation::selective, space_.base.recomputed_parts);
    const spec::BlockParts known = parts_of_blocks(shape_);
    spec::BlockParts cheap{0};
    for (const BlockPart part : {BlockPart::norms, BlockPart::expert_activation, BlockPart::latent}) {
      if (known.has(part)) cheap.add(part);
    }
    if (!said && (known.has(BlockPart::expert_activation) || known.has(BlockPart::latent)))
      all.emplace_back(spec::Recomputation::selective, cheap);
    if (said) all.emplace_back(spec::Recomputation::operations, spec::BlockParts{});
    all.emplace_back(spec::Recomputation::full, spec::BlockParts{});
    return all;
  }

  void add_memory(report::Layout layout) {
    for (const auto& [recomputation, parts] : recomputations_) {
      layout.how.recomputation = recomputation;
      layout.how.recomputed_parts = parts;
      for (const auto sharding :
           {spec::Sharding::none, spec::Sharding::optimizer, spec::Sharding::gradients, spec::Sharding::parameters}) {
        const bool shards = sharding != spec::Sharding::none;
        const bool can_shard = layout.replicas > 1 && space_.most_sharding > spec::Sharding::none;
        if (shards && (!can_shard || sharding > space_.most_sharding)) continue;
        if (can_shard && layout.how.pipeline > 1 && sharding != spec::Sharding::optimizer &&
            fixed("sharding") == nullptr)
          continue;
        layout.how.sharding = sharding;
        for (const std::int32_t group : groups_of(layout)) {
          layout.how.sharding_group = group;
          if (space_.holds(layout)) layouts_.push_back(layout);
        }
      }
    }
  }

  /// Returns the sizes of the groups that shard the state: all replicas (0), or those of a node (HSDP).
  std::vector<std::int32_t> groups_of(const report::Layout& layout) const {
    std::vector<std::int32_t> groups;
    if (fixed("sharding-group") == nullptr) groups.push_back(0);
    const bool can = layout.how.sharding != spec::Sharding::none && layout.how.context == 1;
    for (const std::int64_t size : tried("sharding-group", {space_.devices_per_node / layout.how.tensor})) {
      const bool several = size > 1 && size < layout.replicas && layout.replicas % size == 0;
      if (several && can) groups.push_back(static_cast<std::int32_t>(size));
    }
    return groups;
  }

  const spec::ModelShape& shape_;
  const LayoutSpace& space_;
  std::int64_t blocks_;
  std::int64_t experts_;
  std::vector<std::int32_t> contexts_;
  std::vector<std::pair<spec::Recomputation, spec::BlockParts>> recomputations_ = recomputations();
  std::vector<report::Layout> layouts_;
};

}  // namespace

spec::TimedAsSpec timed_as_spec_of(const report::Layout& layout) {
  spec::TimedAsSpec timed;
  timed.batch = layout.batch;
  timed.parallelism = layout.how;
  return timed;
}

std::vector<std::string> assignments_of(const report::Layout& layout) {
  return scenario::layout_assignments(timed_as_spec_of(layout));
}

bool LayoutSpace::holds(const report::Layout& layout) const {
  if (fixed.empty()) return true;
  spec::TimedAsSpec timed = timed_as_spec_of(layout);
  if (layout.how.micro_batch == 0) timed.parallelism.micro_batch = layout.batch;
  return std::ranges::all_of(
      fixed, [&](const auto& one) { return scenario::timed_as_attribute(timed, one.first) == one.second; });
}

std::vector<report::Layout> layouts_of(const spec::ModelShape& shape, const LayoutSpace& space) {
  return Enumeration(shape, space).all();
}

}  // namespace dadsim::study
