#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// Range of layers first … end − 1 of a network.
struct LayerRange {
  std::size_t first = 0;
  std::size_t end = 0;
  bool holds(std::size_t layer) const { return layer >= first && layer < end; }
  bool operator==(const LayerRange&) const = default;
};

/// Returns the common prefix of a block's layer names: "block12." of "block12.attention", "stage1.block2." of
/// "stage1.block2.conv1.bn". Empty for a layer outside of blocks.
std::string_view block_of(std::string_view layer);

/// Returns the blocks of a network: consecutive layers with equal block_of(). Each layer outside of blocks is a block
/// by itself.
std::vector<LayerRange> blocks_of(const ModelShape& model);

/// Returns whether a block has several layers, as repeated blocks do.
inline bool repeats(const LayerRange& block) { return block.end - block.first > 1; }

/// Divides the network into `pieces` of consecutive layers, without cutting a block (without blocks: a layer).
/// - One stack of transformer blocks whose number the pieces divide is dealt out evenly (Megatron-LM, Narayanan et al.,
///   arXiv:2104.04473, section 2.2). Otherwise the largest number of multiply-adds of a piece is minimal, and the
///   pieces are as even as possible.
/// - Layers before the first block belong to the first piece, layers after the last block to the last.
/// - With more pieces than blocks, the layers before and after them may each have a piece (Megatron-LM's
///   --account-for-embedding-in-pipeline-split and --account-for-loss-…: 126 blocks in 16 × 8 pieces).
///
/// ParallelismSpec::stage_of() maps a piece to its stage. Throws std::invalid_argument if there are more pieces than
/// blocks (or layers) and ends.
std::vector<LayerRange> pieces_of(const ModelShape& model, std::size_t pieces);

}  // namespace dadsim::spec
