#include "schedule/layer_positions.hpp"

#include <algorithm>
#include <stdexcept>

#include "schedule/schedule.hpp"

namespace dadsim::schedule {
namespace {

/// Returns a table's layer without its other parameters.
spec::LayerShape table_alone(spec::LayerShape layer) {
  layer.parameters = layer.in * layer.out;
  layer.bias = false;
  return layer;
}

/// Returns the other parameters of a table's layer, as a layer of parameters only.
spec::LayerShape beside_table(const spec::LayerShape& layer) {
  spec::LayerShape rest;
  rest.name = layer.name;
  rest.kind = spec::LayerKind::element_wise;
  rest.parameters = layer.parameters - layer.in * layer.out;
  return rest;
}

}  // namespace

bool takes_part(const spec::LayerShape& layer, bool embeddings) {
  // Both matrices of an adapter are shared together.
  return layer.adapter_rank > 0 || (embeddings ? layer.has_matrix() : layer.has_outer_product());
}

Positions positions_of(const spec::ModelShape& model, bool embeddings) {
  Positions positions;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (takes_part(model.layers[i], embeddings)) positions.push_back(i);
  }
  return positions;
}

LayerPositions::LayerPositions(const spec::ModelShape& learned, const spec::ModelShape& timed)
    : timed_model_(timed),
      learned_{positions_of(learned, false), positions_of(learned, true)},
      timed_{positions_of(timed, false), positions_of(timed, true)} {
  if (learned_[0].empty() || timed_[0].empty()) throw std::invalid_argument("the network has no matrix layers");
  for (const spec::LayerShape& layer : timed.layers) {
    if (layer.kind != spec::LayerKind::embedding || !layer.has_matrix()) continue;
    tables_.emplace(&layer, table_alone(layer));
    if (const spec::LayerShape rest = beside_table(layer); rest.parameters > 0) beside_.emplace(&layer, rest);
  }
}

std::int32_t LayerPositions::learned_position(std::int32_t index, bool embeddings) const {
  const Positions& positions = learned(embeddings);
  if (static_cast<std::size_t>(index) >= positions.size())
    throw std::logic_error("a group names a layer that the learned network does not have");
  return static_cast<std::int32_t>(positions[static_cast<std::size_t>(index)]);
}

std::size_t LayerPositions::stand_in(std::size_t position, bool embeddings) const {
  const Positions& there = timed(embeddings);
  const auto after = std::upper_bound(there.begin(), there.end(), position);
  const auto matrix = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - there.begin() - 1));
  return layer_at_same_depth(matrix, there.size(), learned(embeddings).size());
}

std::int32_t LayerPositions::awaited_at(std::int32_t recorded, const Place& place) const {
  if (recorded < 0) return -1;
  if (place.learned < 0 || recorded == place.learned) return place.timed;
  const auto index_of = [](const Positions& positions, std::int32_t position) {
    return std::ranges::find(positions, static_cast<std::size_t>(position)) - positions.begin();
  };
  const Positions& here = learned(place.embeddings);
  const Positions& there = timed(place.embeddings);
  const std::ptrdiff_t at = index_of(there, place.timed) + index_of(here, recorded) - index_of(here, place.learned);
  return at < 0 || at >= std::ssize(there) ? -2 : static_cast<std::int32_t>(there[static_cast<std::size_t>(at)]);
}

const spec::LayerShape& LayerPositions::without_beside(const spec::LayerShape& layer) const {
  const auto table = tables_.find(&layer);
  return table == tables_.end() ? layer : table->second;
}

std::vector<const spec::LayerShape*> LayerPositions::other_layers(const spec::LayerRange& range, bool apart) const {
  std::vector<const spec::LayerShape*> layers;
  for (std::size_t i = range.first; i < range.end; ++i) {
    const spec::LayerShape& layer = timed_model_.layers[i];
    if (layer.has_outer_product() || layer.adapter_rank > 0 || layer.parameters == 0) continue;
    if (!apart || !tables_.contains(&layer)) {
      layers.push_back(&layer);
    } else if (const auto rest = beside_.find(&layer); rest != beside_.end()) {
      layers.push_back(&rest->second);
    }
  }
  return layers;
}

}  // namespace dadsim::schedule
