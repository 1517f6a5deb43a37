#include "study/layout/candidates.hpp"

#include <algorithm>
#include <stdexcept>

#include "spec/stages.hpp"
#include "spec/tensor_parallel.hpp"

namespace dadsim::study {
namespace {

constexpr std::int64_t kLargestMicroBatch = 32;
constexpr double kMostUneven = 7.0 / 6;  // blocks of the fullest stage ÷ their mean
constexpr std::int32_t kMostPieces = 20;

std::vector<std::int64_t> divisors_of(std::int64_t number) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t i = 1; i <= number; ++i) {
    if (number % i == 0) divisors.push_back(i);
  }
  return divisors;
}

bool is_power_of_two(std::int64_t number) { return (number & (number - 1)) == 0; }

/// Whether devices can divide the layers of the network.
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

/// Parts that repeat; of a network in which nothing does, its layers.
std::int64_t repeating_parts(const spec::ModelShape& shape) {
  const std::vector<spec::LayerRange> blocks = spec::blocks_of(shape);
  const auto repeating = std::ranges::count_if(blocks, spec::repeats);
  return repeating > 0 ? repeating : static_cast<std::int64_t>(shape.layers.size());
}

class Enumeration {
 public:
  Enumeration(const spec::ModelShape& shape, const LayoutSpace& space)
      : shape_(shape), space_(space), blocks_(repeating_parts(shape)) {}

  std::vector<report::Layout> all() {
    for (const std::int64_t tensor : divisors_of(space_.devices_per_node)) {
      if (space_.devices % tensor != 0 || !may_be("tensor", tensor)) continue;
      if (!divides_layers(shape_, static_cast<std::int32_t>(tensor))) continue;
      for (const std::int64_t pipeline : divisors_of(space_.devices / tensor)) add_stages(tensor, pipeline);
    }
    return std::move(layouts_);
  }

 private:
  bool may_be(const std::string& attribute, const std::string& value) const {
    return std::ranges::all_of(space_.fixed,
                               [&](const auto& one) { return one.first != attribute || one.second == value; });
  }
  bool may_be(const std::string& attribute, std::int64_t value) const {
    return may_be(attribute, std::to_string(value));
  }

  bool is_even(std::int64_t pipeline) const {
    const double share = static_cast<double>(blocks_) / static_cast<double>(pipeline);
    const std::int64_t most = (blocks_ + pipeline - 1) / pipeline;
    return pipeline <= blocks_ && static_cast<double>(most) <= kMostUneven * share;
  }

  void add_stages(std::int64_t tensor, std::int64_t pipeline) {
    if (!is_even(pipeline) || !may_be("pipeline", pipeline)) return;
    report::Layout layout{.how = space_.base};
    layout.how.tensor = static_cast<std::int32_t>(tensor);
    layout.how.pipeline = static_cast<std::int32_t>(pipeline);
    layout.how.order = spec::PipelineOrder::one_f_one_b;
    layout.how.sequence_parallel = tensor > 1 && may_be("sequence-parallel", "true");
    if (space_.devices % layout.how.devices() != 0) return;
    layout.replicas = space_.devices / layout.how.devices();
    if (space_.global_batch % layout.replicas != 0) return;
    layout.batch = space_.global_batch / layout.replicas;
    for (const std::int64_t micro : divisors_of(layout.batch)) {
      if (micro > kLargestMicroBatch) break;
      if ((!is_power_of_two(micro) && micro != layout.batch) || !may_be("micro-batch", micro)) continue;
      layout.how.micro_batch = micro;
      add_pieces(layout);
    }
  }

  void add_pieces(report::Layout layout) {
    const std::int32_t pipeline = layout.how.pipeline;
    const std::int64_t micro_batches = layout.batch / layout.how.micro_batch;
    for (std::int32_t pieces = 1; pieces <= kMostPieces; ++pieces) {
      const bool deals = blocks_ % (static_cast<std::int64_t>(pipeline) * pieces) == 0;
      if (pieces > 1 && (pipeline == 1 || !deals || micro_batches % pipeline != 0)) continue;
      if (!may_be("interleave", pieces)) continue;
      layout.how.interleave = pieces;
      add_memory(layout);
    }
  }

  void add_memory(report::Layout layout) {
    for (const auto recomputation :
         {spec::Recomputation::none, spec::Recomputation::selective, spec::Recomputation::full}) {
      if (recomputation == spec::Recomputation::selective && !space_.plain_attention) continue;
      if (!may_be("recompute", to_string(recomputation))) continue;
      layout.how.recomputation = recomputation;
      for (const auto sharding :
           {spec::Sharding::none, spec::Sharding::optimizer, spec::Sharding::gradients, spec::Sharding::parameters}) {
        const bool shards = sharding != spec::Sharding::none;
        const bool can_shard = layout.replicas > 1 && space_.sums_gradients;
        if (shards && !can_shard) continue;
        if (can_shard && layout.how.pipeline > 1 && sharding != spec::Sharding::optimizer) continue;
        if (!may_be("sharding", to_string(sharding))) continue;
        layout.how.sharding = sharding;
        layouts_.push_back(layout);
      }
    }
  }

  const spec::ModelShape& shape_;
  const LayoutSpace& space_;
  std::int64_t blocks_;
  std::vector<report::Layout> layouts_;
};

}  // namespace

const std::vector<std::string>& layout_attributes() {
  static const std::vector<std::string> kAll{"batch",    "tensor",      "sequence-parallel", "pipeline", "interleave",
                                             "schedule", "micro-batch", "recompute",         "sharding", "prefetch"};
  return kAll;
}

std::vector<report::Layout> layouts_of(const spec::ModelShape& shape, const LayoutSpace& space) {
  return Enumeration(shape, space).all();
}

}  // namespace dadsim::study
