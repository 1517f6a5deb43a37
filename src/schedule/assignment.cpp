#include "schedule/assignment.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>
#include <variant>

#include "schedule/layer_positions.hpp"
#include "schedule/op_sizing.hpp"

namespace dadsim::schedule {
namespace {

constexpr double kImpossible = std::numeric_limits<double>::infinity();

/// Returns the largest of the first `count` values.
double most_of(const PerWorker& values, std::size_t count) {
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) most = std::max(most, values[i]);
  return most;
}

}  // namespace

double bytes_sent(const Task& task, std::size_t workers) {
  const auto* collective = std::get_if<CollectiveTask>(&task.what);
  if (collective == nullptr) return 0;
  const auto others = static_cast<double>(workers) - 1;
  double sum = 0;
  for (std::size_t worker = 0; worker < workers && collective->kind != step::CollectiveKind::broadcast; ++worker) {
    sum += collective->bytes[worker];
  }
  switch (collective->kind) {
    case step::CollectiveKind::broadcast:
      return static_cast<double>(workers) * collective->bytes[0];
    case step::CollectiveKind::all_gather:
      return others * sum;
    case step::CollectiveKind::all_reduce:
      return 2 * others * collective->bytes[0];
    default:
      return sum;
  }
}

std::optional<step::Assignment> least_of(const step::Alternatives& alternatives, const std::vector<LayerCosts>& layers,
                                         std::size_t positions) {
  const std::size_t count = alternatives.all.size();
  // best[a]: least cost of the layers from this one to the last, if this layer takes a. above[i][a]: the alternative
  // that the next layer then takes.
  std::vector<double> best;
  std::vector<std::vector<std::size_t>> above(layers.size(), std::vector<std::size_t>(count));
  for (std::size_t i = layers.size(); i-- > 0;) {
    std::vector<double> here(count, kImpossible);
    for (std::size_t a = 0; a < count; ++a) {
      const bool from_above = alternatives.all[a].from_above;
      if (from_above && !layers[i].chained) continue;
      double least = best.empty() && !from_above ? 0 : kImpossible;
      for (std::size_t b = 0; b < best.size(); ++b) {
        if (alternatives.all[b].passes_down == from_above && best[b] < least) {
          least = best[b];
          above[i][a] = b;
        }
      }
      here[a] = layers[i].costs.at(a) + least;
    }
    best = std::move(here);
  }
  step::Assignment assignment(positions, -1);
  std::size_t at = count;
  for (std::size_t a = 0; a < best.size(); ++a) {
    // The first layer has no layer below.
    if (alternatives.all[a].passes_down || best[a] == kImpossible) continue;
    if (at == count || best[a] < best[at]) at = a;
  }
  if (at == count) return {};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    assignment.at(layers[i].position) = static_cast<std::int32_t>(at);
    at = above[i][at];
  }
  return assignment;
}

step::Assignment choose(const step::Alternatives& alternatives, const std::vector<LayerCosts>& layers,
                        std::size_t positions) {
  std::optional<step::Assignment> assignment = least_of(alternatives, layers, positions);
  if (!assignment) throw std::logic_error("no alternative fits every layer");
  return *std::move(assignment);
}

step::Assignment fewest_bytes(const step::StepStructure& structure, const step::StepSizes& sizes,
                              const spec::ModelShape& learned, const spec::ModelShape& timed, double sample_scale,
                              spec::Precision precision) {
  return choose(structure.alternatives,
                costs_of_alternatives(structure, sizes, learned, timed, sample_scale, precision, bytes_sent),
                timed.layers.size());
}

double Prices::of(const Task& task, std::size_t workers) const {
  if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
    const bool at_workers = compute->who == step::Role::workers;
    const Device& device = at_workers ? worker : aggregator;
    const std::size_t count = at_workers ? workers : 1;
    return std::max(device.per_flop * most_of(compute->flops, count),
                    device.per_byte_moved * most_of(compute->bytes_moved, count)) +
           device.per_launch * most_of(compute->launches, count);
  }
  const auto* collective = std::get_if<CollectiveTask>(&task.what);
  if (collective == nullptr) return 0;
  const double bytes = most_of(collective->bytes, collective->kind == step::CollectiveKind::broadcast ? 1 : workers);
  const AssignedCollective* price = nullptr;
  switch (collective->kind) {
    case step::CollectiveKind::gather:
      price = &gather;
      break;
    case step::CollectiveKind::broadcast:
      price = &broadcast;
      break;
    case step::CollectiveKind::all_reduce:
      price = &all_reduce;
      break;
    case step::CollectiveKind::all_gather:
      price = &all_gather;
      break;
    default:
      throw std::logic_error("a collective without a price");
  }
  return bytes > 0 ? price->once + price->per_byte * bytes : 0;
}

namespace {

constexpr double kNotOffered = std::numeric_limits<double>::infinity();

/// Adds the costs of a group's ops, at a layer of the timed network, to the alternatives of these ops.
void add_costs(const step::Group& group, const spec::LayerShape& layer, bool is_first, const OpSizing& sizing,
               const Price& price, std::vector<double>& costs) {
  for (const step::Op& op : group.ops) {
    const auto* compute = std::get_if<step::ComputeOp>(&op.what);
    if (op.alternatives == 0 || std::holds_alternative<step::WaitOp>(op.what)) continue;
    if (compute != nullptr && compute->except_first_layer && is_first) continue;
    const double cost = price(sizing.sized(op, {&layer}), sizing.workers());
    for (std::size_t a = 0; a < costs.size(); ++a) {
      if (((op.alternatives >> a) & 1) != 0) costs[a] += cost;
    }
  }
}

}  // namespace

std::vector<LayerCosts> costs_of_alternatives(const step::StepStructure& structure, const step::StepSizes& sizes,
                                              const spec::ModelShape& learned, const spec::ModelShape& timed,
                                              double sample_scale, spec::Precision precision, const Price& price) {
  if (structure.alternatives.all.empty()) return {};
  const LayerPositions positions(learned, timed);
  OpSizing sizing(sizes, learned, timed, sample_scale, precision);
  std::vector<LayerCosts> all;
  const Positions& layers = positions.timed(false);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::size_t position = layers[i];
    const std::size_t stand_in = positions.stand_in(position, false);
    // True if this layer's Δ can be computed from the next layer's Δ alone.
    const bool chained = i + 1 < layers.size() && layers[i + 1] == position + 1 && timed.layers[position].delta_follows;
    LayerCosts& here = all.emplace_back(LayerCosts{position, {}, chained});
    for (std::size_t a = 0; a < structure.alternatives.all.size(); ++a) {
      here.costs.push_back(((structure.alternatives.offered.at(stand_in) >> a) & 1) != 0 ? 0 : kNotOffered);
    }
    for (const step::Sweep& sweep : structure.sweeps) {
      for (const step::Group& group : sweep.groups) {
        if (group.layer != static_cast<std::int32_t>(stand_in)) continue;
        sizing.stand_for(positions.learned_position(group.layer, false));
        add_costs(group, timed.layers[position], position == 0, sizing, price, here.costs);
      }
    }
  }
  return all;
}

}  // namespace dadsim::schedule
