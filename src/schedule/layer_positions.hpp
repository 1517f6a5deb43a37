#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "spec/model_shape.hpp"
#include "spec/stages.hpp"
#include "step/step.hpp"

namespace dadsim::schedule {

/// Positions of layers in a network.
using Positions = std::vector<std::size_t>;

/// Returns whether a sweep has a group for the layer: it has an outer product or, with embeddings, any matrix.
bool takes_part(const spec::LayerShape& layer, bool embeddings);
/// Returns the positions of these layers in the network.
Positions positions_of(const spec::ModelShape& model, bool embeddings);

/// Place of an op: the layer of the timed network, and the learned layer that represents it, as positions in their
/// networks; −1 outside of sweeps over layers.
struct Place {
  std::int32_t timed = -1;
  std::int32_t learned = -1;
  bool embeddings = false;
};

/// Mapping from layers of the timed network to the learned layers that represent them. Both networks must outlive it.
class LayerPositions {
 public:
  /// Throws std::invalid_argument for a network without matrix layers.
  LayerPositions(const spec::ModelShape& learned, const spec::ModelShape& timed);

  /// Returns the positions of a sweep's layers, without or with tables.
  const Positions& timed(bool embeddings) const { return timed_.at(embeddings ? 1 : 0); }
  const Positions& learned(bool embeddings) const { return learned_.at(embeddings ? 1 : 0); }
  /// Returns a group's layer as a position in the learned network. The argument is an index among the layers of the
  /// group's sweep.
  std::int32_t learned_position(std::int32_t index, bool embeddings) const;
  /// Returns the learned layer, as an index in its sweep, whose recipe the timed layer at `position` follows. Layers
  /// without a group follow the recipe of the previous layer.
  std::size_t stand_in(std::size_t position, bool embeddings) const;
  /// Returns the timed position of a collective recorded at learned position `recorded` and waited for at `place`: a
  /// wait at one layer for the collective of another keeps its distance in layers. -1: outside of sweeps; -2: beyond
  /// the ends, where no collective was issued.
  std::int32_t awaited_at(std::int32_t recorded, const Place& place) const;

  /// Returns the layer as a sweep sees it: for an embedding with other parameters, the table alone.
  const spec::LayerShape& without_beside(const spec::LayerShape& layer) const;
  /// Returns the layers in `range` without a group, that is, without an outer product. Layers with a table are left
  /// out; with `apart` their other parameters represent them.
  std::vector<const spec::LayerShape*> other_layers(const spec::LayerRange& range, bool apart) const;

 private:
  const spec::ModelShape& timed_model_;
  std::array<Positions, 2> learned_, timed_;                    ///< for sweeps without and with tables
  std::map<const spec::LayerShape*, spec::LayerShape> tables_;  ///< a table's layer → the table alone
  std::map<const spec::LayerShape*, spec::LayerShape> beside_;  ///< a table's layer → its other parameters
};

}  // namespace dadsim::schedule
