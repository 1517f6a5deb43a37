#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// Layers first … end − 1 of a network.
struct LayerRange {
  std::size_t first = 0;
  std::size_t end = 0;
  bool holds(std::size_t layer) const { return layer >= first && layer < end; }
  bool operator==(const LayerRange&) const = default;
};

/// "block12." of "block12.attention", "stage1.block2." of "stage1.block2.conv1.bn": what layers of a block have in
/// common. Empty where a layer is in no block.
std::string_view block_of(std::string_view layer);

/// The blocks of a network, which are alike: consecutive layers of one block_of(); every other layer is one by itself.
std::vector<LayerRange> blocks_of(const ModelShape& model);

/// Whether a block is of several layers, as those are that repeat.
inline bool repeats(const LayerRange& block) { return block.end - block.first > 1; }

/// The network in `pieces` of consecutive layers, no block torn apart (where nothing repeats, no layer): the piece with
/// the most multiply-adds has as few as can be, and the others are as even as can be then. What stands before the first
/// block is the first piece's and what stands behind the last one is the last's, so that equal blocks are dealt out
/// evenly unless a large decoder outweighs some (Megatron-LM, Narayanan et al., arXiv:2104.04473, section 2.2, deals
/// evenly in any case). Where there are more pieces than blocks, what stands before them and what stands behind them
/// may have a piece each (Megatron-LM's --account-for-embedding-in-pipeline-split and --account-for-loss-…: 126 blocks
/// in 16 × 8 pieces). Which stage has a piece ParallelismSpec::stage_of() says. Throws std::invalid_argument where
/// there are fewer of them all (or layers) than pieces.
std::vector<LayerRange> pieces_of(const ModelShape& model, std::size_t pieces);

}  // namespace dadsim::spec
