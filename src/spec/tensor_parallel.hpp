#pragma once

#include <cstdint>

#include "spec/layer_shape.hpp"

namespace dadsim::spec {

/// The part of one of `tensor` devices that divide every layer (Shoeybi et al., arXiv:1909.08053, section 3), as
/// LayerShape::split says:
///   column      out ÷ T, with its biases
///   row         in ÷ T, all biases: they are added once, after the sum
///   heads       attention of heads ÷ T
///   vocabulary  entries ÷ T; of a table the outputs are whole, zero where the entry is another device's
///   whole       everything: each device does it for itself
/// Vocabularies are filled up to a multiple of 128 × T, as Megatron-LM does (its argument
/// make-vocab-size-divisible-by). Throws std::invalid_argument, with the layer in words, where widths or heads cannot
/// be divided.
ModelShape sharded(const ModelShape& model, std::int32_t tensor);

/// What sharded() does with one layer.
LayerShape sharded(const LayerShape& layer, std::int32_t tensor);

}  // namespace dadsim::spec
