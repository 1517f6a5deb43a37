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

/// Returns whether a sweep has a group for the layer: it has an adapter or an outer product, or, if the sweep includes
/// tables, any matrix.
bool takes_part(const spec::LayerShape& layer, bool embeddings);
/// Returns the positions of layers with a group.
Positions positions_of(const spec::ModelShape& model, bool embeddings);

/// Layer of an op: in the timed network, and the learned layer that represents it, as positions in their networks; −1
/// in sweeps that are not over layers.
struct Place {
  std::int32_t timed = -1;
  std::int32_t learned = -1;
  bool embeddings = false;
};

/// Maps layers of the timed network to the learned layers that represent them. Both networks must outlive it.
class LayerPositions {
 public:
  /// Throws std::invalid_argument for a network without matrix layers.
  LayerPositions(const spec::ModelShape& learned, const spec::ModelShape& timed);

  /// Returns the positions of a sweep's layers, without or with tables.
  const Positions& timed(bool embeddings) const { return timed_.at(embeddings ? 1 : 0); }
  const Positions& learned(bool embeddings) const { return learned_.at(embeddings ? 1 : 0); }
  /// Returns the position of a group's layer in the learned network. `index`: among the layers of the group's sweep.
  std::int32_t learned_position(std::int32_t index, bool embeddings) const;
  /// Returns the learned layer, as an index in its sweep, whose ops the timed layer at `position` repeats. A layer
  /// without a group has the same as the previous layer.
  std::size_t stand_in(std::size_t position, bool embeddings) const;
  /// Returns the timed position of a collective that was recorded at learned position `recorded`, and is waited for at
  /// `place`. A wait at one layer for the collective of another keeps its distance in layers. −1: sweeps that are not
  /// over layers; −2: beyond the first or last layer, where no collective was issued.
  std::int32_t awaited_at(std::int32_t recorded, const Place& place) const;

  /// Returns the layer as sweeps see it: if a table has other parameters too, the table alone.
  const spec::LayerShape& without_beside(const spec::LayerShape& layer) const;
  /// Returns the layers in `range` that have parameters, but neither an outer product nor an adapter. With `apart`, of
  /// a layer with a table only the other parameters are included.
  std::vector<const spec::LayerShape*> other_layers(const spec::LayerRange& range, bool apart) const;

 private:
  const spec::ModelShape& timed_model_;
  std::array<Positions, 2> learned_, timed_;                    ///< positions for sweeps without tables, and with
                                                                ///< tables
  std::map<const spec::LayerShape*, spec::LayerShape> tables_;  ///< the table alone, by its layer
  std::map<const spec::LayerShape*, spec::LayerShape> beside_;  ///< the other parameters, by the table's layer
};

}  // namespace dadsim::schedule
