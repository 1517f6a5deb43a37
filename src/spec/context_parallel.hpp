#pragma once

#include <cstdint>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// Returns one device's part of a network whose sequences are divided among `context` devices: 1 ÷ context of every
/// layer's rows and of attention's work, dealt out so that a causal mask gives all devices equal work (Brandon et al.,
/// Striped Attention, 2023, arXiv:2311.09431). Parameters are whole. Throws std::invalid_argument, with a message for
/// the user, if there are no sequences or rows cannot be divided evenly.
ModelShape with_divided_sequences(ModelShape model, std::int32_t context);

}  // namespace dadsim::spec
