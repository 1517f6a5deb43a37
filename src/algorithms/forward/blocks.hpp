#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/network.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::algorithms {

/// A part of a network that no gradient leaves downwards: its matrices learn from the loss at its own end.
struct LayerBlock {
  std::size_t from = 0, to = 0;    ///< value of the tape that it reads, and value that its loss reads
  std::size_t first = 0, end = 0;  ///< its matrices: first … end − 1
};

/// Divides the hidden matrices of a network (all but the output layer) into `count` blocks of nearly equal numbers of
/// parts; 0: every part is a block. A part ends where everything after it reads one value alone: a residual layer is
/// never cut. The loss of the last block is the network's. One block: nothing is cut.
std::vector<LayerBlock> blocks_of(const models::Network& network, std::int64_t count);

/// Returns why such a network, with blocks and groups of channels, has no forward derivative ("what; remedy"); none: it
/// has.
std::optional<Fault> differentiation_fault(const spec::ModelSpec& model, const spec::SampleShape& sample, bool local,
                                           std::int64_t blocks, std::int64_t groups);

}  // namespace dadsim::algorithms
