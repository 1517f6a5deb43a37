#include <limits>
#include <variant>

#include "schedule/assignment.hpp"
#include "schedule/layer_positions.hpp"
#include "schedule/op_sizing.hpp"

namespace dadsim::schedule {
namespace {

constexpr double kNotOffered = std::numeric_limits<double>::infinity();

/// What the ops of a group cost at a layer of the timed network, added to the alternatives that they belong to.
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
    // Whether the Δ of this layer follows from that of the layer after it alone.
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
