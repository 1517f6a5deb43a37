#include "spec/expert_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dadsim::spec {

ModelShape with_divided_experts(ModelShape model, const ParallelismSpec& how, std::size_t replicas) {
  if (how.experts <= 1) return model;
  const auto devices = static_cast<std::int64_t>(replicas) * how.tensor * how.context;
  const bool divided = how.expert_tensor > 1;
  if (divided && how.expert_tensor != how.tensor)
    throw std::invalid_argument(fmt::format("{} devices that divide each expert are not the {} that divide a layer",
                                            how.expert_tensor, how.tensor));
  if (!divided && how.experts % how.tensor != 0)
    throw std::invalid_argument(fmt::format(
        "{} devices that divide experts are no multiple of the {} that divide a layer", how.experts, how.tensor));
  const std::int64_t group = std::int64_t{how.experts} * how.expert_tensor;
  if (devices % group != 0)
    throw std::invalid_argument(
        fmt::format("{} devices that divide experts do not divide the {} of a stage", group, devices));
  const double most =
      how.expert_capacity > 0 ? std::min(how.expert_imbalance, how.expert_capacity) : how.expert_imbalance;
  bool any = false;
  for (LayerShape& layer : model.layers) {
    if (layer.experts == 1) continue;
    if (layer.experts % how.experts != 0)
      throw std::invalid_argument(fmt::format("'{}' has {} experts, which {} devices cannot share equally", layer.name,
                                              layer.experts, how.experts));
    any = true;
    const std::int64_t own = layer.experts / how.experts;
    layer.parameters = layer.parameters / layer.experts * own;
    layer.frozen = layer.frozen / layer.experts * own;
    layer.experts = own;
    layer.expert_group = how.experts;
    layer.expert_copies = static_cast<std::int32_t>(devices / group);
    if (!divided) layer.split = TensorSplit::whole;
    const double share = most / (divided ? 1 : how.tensor);
    layer.rows_per_sample = std::llround(static_cast<double>(layer.rows_per_sample) * share);
    layer.forward_macs_per_sample *= share;
    layer.frozen_macs_per_sample *= share;
    layer.outputs_per_sample *= share;
    layer.kept_beside_per_sample *= share;
  }
  if (!any) throw std::invalid_argument("it has no experts that devices could divide");
  return model;
}

}  // namespace dadsim::spec
