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

/// Places of layers in a network.
using Positions = std::vector<std::size_t>;

/// The layers that a sweep has groups for: those with an outer product, or all with a matrix.
bool takes_part(const spec::LayerShape& layer, bool embeddings);
/// Where those layers stand in the network.
Positions positions_of(const spec::ModelShape& model, bool embeddings);

/// Where an op is: the layer of the timed network and the learned layer that stands for it, both as positions in their
/// networks; -1 outside of sweeps over layers.
struct Place {
  std::int32_t timed = -1;
  std::int32_t learned = -1;
  bool embeddings = false;
};

/// Which layer of the network that learned stands for which layer of the one that is timed. Both outlive it.
class LayerPositions {
 public:
  /// Throws std::invalid_argument for a network without matrix layers.
  LayerPositions(const spec::ModelShape& learned, const spec::ModelShape& timed);

  /// Of the layers of a sweep without or with tables.
  const Positions& timed(bool embeddings) const { return timed_.at(embeddings ? 1 : 0); }
  const Positions& learned(bool embeddings) const { return learned_.at(embeddings ? 1 : 0); }
  /// The position in the learned network of a group's layer, which is an index among those of its sweep.
  std::int32_t learned_position(std::int32_t index, bool embeddings) const;
  /// The index among the learned layers of a sweep of the one whose recipe the timed layer at `position` follows:
  /// layers without a group of their own that of the one before them, in the order of the network.
  std::size_t stand_in(std::size_t position, bool embeddings) const;
  /// The timed position at which a collective was issued that was recorded at learned position `recorded` and is waited
  /// for at `place`: a wait at one layer for the collective of another keeps its distance in layers. -1: outside of
  /// sweeps; -2: beyond the ends, where nothing was issued.
  std::int32_t awaited_at(std::int32_t recorded, const Place& place) const;

  /// The layer as a sweep sees it: of an embedding with something beside its table, the table alone.
  const spec::LayerShape& without_beside(const spec::LayerShape& layer) const;
  /// Layers in `range` of no group: without an outer product. Of those with a table nothing, or with `apart` what
  /// stands beside the table.
  std::vector<const spec::LayerShape*> other_layers(const spec::LayerRange& range, bool apart) const;

 private:
  const spec::ModelShape& timed_model_;
  std::array<Positions, 2> learned_, timed_;                    ///< of the layers of a sweep without and with tables
  std::map<const spec::LayerShape*, spec::LayerShape> tables_;  ///< a table's layer → the table alone
  std::map<const spec::LayerShape*, spec::LayerShape> beside_;  ///< a table's layer → what is beside the table
};

}  // namespace dadsim::schedule
