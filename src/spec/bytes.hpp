#pragma once

#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"
#include "support/wire.hpp"

// Serialisation of specifications, for other processes and for files.

namespace dadsim::spec {

constexpr Fidelity last_of(Fidelity /*type*/) { return Fidelity::closed_form; }
constexpr LayerKind last_of(LayerKind /*type*/) { return LayerKind::element_wise; }

/// Serialises a layer, except for fields that only timed networks use.
void fields(auto& bytes, of<LayerShape> auto& layer) {
  bytes(layer.name, layer.kind, layer.in, layer.out, layer.bias, layer.rows_per_sample, layer.parameters,
        layer.forward_macs_per_sample, layer.outputs_per_sample, layer.sequential, layer.inputs_per_sample,
        layer.delta_follows);
}
void fields(auto& bytes, of<ModelShape> auto& shape) { bytes(shape.name, shape.layers); }

}  // namespace dadsim::spec
