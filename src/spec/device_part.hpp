#pragma once

#include <cstdint>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// Returns the part of one of `tensor` devices that divide every layer (Shoeybi et al., arXiv:1909.08053, section 3),
/// by LayerShape::split:
///   column      out ÷ T, with its biases
///   row         in ÷ T, all biases: they are added once, after the sum
///   heads       attention of heads ÷ T
///   vocabulary  entries ÷ T; a table's outputs are whole, zero for entries of other devices
///   whole       everything: each device computes it for itself
/// Vocabularies are padded to a multiple of 128 × T, as in Megatron-LM (its argument make-vocab-size-divisible-by).
/// Throws std::invalid_argument, naming the layer, if widths or heads cannot be divided.
ModelShape sharded(const ModelShape& model, std::int32_t tensor);

/// Returns one device's part of one layer, divided in the same way.
LayerShape sharded(const LayerShape& layer, std::int32_t tensor);

/// Returns one device's part of a network whose sequences are divided among `context` devices: 1 ÷ context of every
/// layer's rows and of attention's work. Positions are distributed so that all devices have equal work under a causal
/// mask (Brandon et al., Striped Attention, 2023, arXiv:2311.09431). Parameters stay whole. Throws
/// std::invalid_argument, with a message for the user, if there are no sequences or rows cannot be divided evenly.
ModelShape with_divided_sequences(ModelShape model, std::int32_t context);

}  // namespace dadsim::spec
