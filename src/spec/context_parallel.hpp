#pragma once

#include <cstdint>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// The network as each of `context` devices has it that have a part of each sequence: 1 ÷ context of the rows of every
/// layer, and of attention's work, whose parts are dealt out so that a causal mask leaves all as much (Brandon et al.,
/// Striped Attention, 2023, arXiv:2311.09431). Parameters are whole. Throws std::invalid_argument, in words, where
/// there are no sequences or rows do not come out even.
ModelShape with_divided_sequences(ModelShape model, std::int32_t context);

}  // namespace dadsim::spec
