#include "spec/expert_parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "spec/expert_costs.csv.hpp"
#include "support/fact_table.hpp"

namespace dadsim::spec {
namespace {

/// Adds the memory passes over rows before and after the products of experts.
///
/// With an all-to-all, rows are put in order four times a pass, by device and by expert and back (Megatron-LM,
/// MoEAlltoAllTokenDispatcher); kernels that send rows once include this. Biases are added after the last product,
/// expert by expert, weighted by the token's share, in fp32 (Megatron-LM, TEGroupedMLP._apply_bias).
///
/// Bytes forward: b p is written (4), t + b p (2 + 4 + 4), experts are put together (4 + 4) and narrowed (4 + 2). Bytes
/// back: widening (2 + 4), the gradient for the product is narrowed and put together (4 + 2 + 2 + 2), and the gradients
/// of b and of p each take a product and a sum (4 + 4 + 4).
void add_passes_over_rows(ExpertExchange exchange, LayerShape& layer) {
  if (exchange == ExpertExchange::all_to_all) {
    layer.passed_forward += 4 * (2 + 2);
    layer.passed_back += 4 * (2 + 2);
  }
  if (layer.bias) {
    layer.passed_forward += 4 + (2 + 4 + 4) + (4 + 4) + (4 + 2);
    layer.passed_back += (2 + 4) + (4 + 2 + 2 + 2) + 2 * (4 + 4 + 4);
  }
}

/// Leaves the device its part of the tables. Rows are updated in place, without a sum of gradients or a pass over all
/// entries, so the backward pass moves only the rows of a batch.
void divide_tables(std::int64_t devices, std::int64_t group, LayerShape& layer) {
  if (group != devices)
    throw std::invalid_argument(
        fmt::format("'{}' needs division among all {} devices, not {}", layer.name, devices, group));
  layer.frozen = layer.parameters / group;
  layer.parameters = 0;
  layer.out /= group;
  layer.expert_group = static_cast<std::int32_t>(group);
}

}  // namespace

double pooled_per_sample(const LayerShape& layer) {
  return layer.kind == LayerKind::embedding && layer.kept_beside_per_sample < 0 ? layer.outputs_kept() : 0;
}

ModelShape with_divided_experts(ModelShape model, const ParallelismSpec& how, std::size_t replicas) {
  if (how.experts <= 1) return model;
  const auto devices = static_cast<std::int64_t>(replicas) * how.tensor * how.context;
  const bool divided = how.expert_tensor > 1;
  if (divided && how.expert_tensor != how.tensor)
    throw std::invalid_argument(
        fmt::format("expert-tensor of {} differs from tensor of {}", how.expert_tensor, how.tensor));
  if (!divided && how.experts % how.tensor != 0)
    throw std::invalid_argument(
        fmt::format("expert-parallel of {} is not a multiple of tensor of {}", how.experts, how.tensor));
  const std::int64_t group = std::int64_t{how.experts} * how.expert_tensor;
  if (devices % group != 0)
    throw std::invalid_argument(
        fmt::format("expert-parallel of {} does not divide the {} devices of a stage", group, devices));
  const double most =
      how.expert_capacity > 0 ? std::min(how.expert_imbalance, how.expert_capacity) : how.expert_imbalance;
  bool any = false;
  for (LayerShape& layer : model.layers) {
    if (pooled_per_sample(layer) > 0) {
      divide_tables(devices, group, layer);
      any = true;
    }
    if (layer.experts == 1) continue;
    if (layer.experts % how.experts != 0)
      throw std::invalid_argument(fmt::format("'{}' has {} experts, which {} devices cannot share equally", layer.name,
                                              layer.experts, how.experts));
    any = true;
    const std::int64_t own = layer.experts / how.experts;
    if (layer.split == TensorSplit::row) add_passes_over_rows(how.expert_exchange, layer);
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
  if (!any) throw std::invalid_argument("the workload has no experts to divide");
  return model;
}

namespace {

struct ExpertCosts {
  double block = 0, expert = 0, exchanged = 0, doubled = 0, adapter = 0, handed_on = 0;
};

const ExpertCosts& expert_costs() {
  static const auto kCosts =
      read_constants<ExpertCosts>(tables::kExpertCosts, {{"block", &ExpertCosts::block},
                                                         {"expert", &ExpertCosts::expert},
                                                         {"exchanged", &ExpertCosts::exchanged},
                                                         {"doubled", &ExpertCosts::doubled},
                                                         {"adapter", &ExpertCosts::adapter},
                                                         {"handed on", &ExpertCosts::handed_on}});
  return kCosts;
}

}  // namespace

double seconds_of_launches(std::int64_t experts) {
  return expert_costs().block + expert_costs().expert * static_cast<double>(experts);
}

double bytes_sent_once(std::int32_t devices, std::int32_t nodes, std::int64_t per_token) {
  const auto rows = static_cast<double>(per_token);
  const auto different_of = [rows](double count) { return count * (1 - std::pow(1 - 1 / count, rows)); };
  if (nodes > 1) {
    // The all-to-all sends (nodes − 1) ÷ nodes of a device's rows through its adapter.
    const double others = (nodes - 1.0) / nodes;
    return (different_of(nodes) * others + expert_costs().handed_on) / (expert_costs().adapter * rows * others);
  }
  const double group = devices;
  const double different = different_of(group);
  constexpr double kFirst = 8;  // number of devices for which the rate `exchanged` was measured
  const double rate = expert_costs().exchanged - expert_costs().doubled * std::log2(group / kFirst);
  constexpr double kLeast = 0.25;  // lower limit of the rate, for more devices than were measured
  return different / rows * group / (group - 1) / std::max(rate, kLeast);
}

}  // namespace dadsim::spec
