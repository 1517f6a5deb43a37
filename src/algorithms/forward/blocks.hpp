#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::algorithms {

/// A part of a network that sends no gradient to the parts below it: its matrices learn from the loss at its own end.
struct LayerBlock {
  std::size_t from = 0, to = 0;    ///< number on the tape of the value that the block reads, and of the value that its
                                   ///< loss reads
  std::size_t first = 0, end = 0;  ///< numbers of its matrices: first … end − 1
};

/// Divides the hidden matrices of a network (all but the output layer) into `count` blocks of nearly equal numbers of
/// parts. 0: every part is a block; 1: nothing is divided. A part ends where all later layers read a single value, so
/// that no residual layer is divided. The last block has the loss of the network.
std::vector<LayerBlock> blocks_of(const models::Network& network, std::int64_t count);

/// Returns why forward gradients with these blocks and groups cannot learn a network of this model; none: they can.
std::optional<Fault> differentiation_fault(const spec::ModelSpec& model, const spec::SampleShape& sample, bool local,
                                           std::int64_t blocks, std::int64_t groups);

}  // namespace dadsim::algorithms
