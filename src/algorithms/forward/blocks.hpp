#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/network.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::algorithms {

/// A part of a network that no gradient leaves downwards: its matrices learn from the loss at its own end.
struct LayerBlock {
  std::size_t from = 0, to = 0;    ///< it reads value `from` of the tape, and its loss reads value `to`
  std::size_t first = 0, end = 0;  ///< its matrices: first … end − 1
};

/// The hidden matrices of a network, all but the output layer, in `count` blocks of as even a number of parts as there
/// can be; 0: every part is one. A part ends where all that follows reads one value alone: a residual layer is never
/// cut. The loss of the last block is that of the network. One block: nothing is cut.
std::vector<LayerBlock> blocks_of(const models::Network& network, std::int64_t count);

/// What hinders forward derivatives of such a network, by blocks and in groups of channels: "what; remedy", or empty.
std::optional<Fault> differentiation_fault(const spec::ModelSpec& model, const spec::SampleShape& sample, bool local,
                                           std::int64_t blocks, std::int64_t groups);

}  // namespace dadsim::algorithms
