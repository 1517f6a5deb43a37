#include "spec/program_activations.hpp"

#include <cstddef>

#include "spec/program.hpp"
#include "spec/tiles.hpp"

namespace dadsim::spec {
namespace {

constexpr double kWideBytes = 4;  ///< bytes of fp32

bool has_activation(const LayerShape& layer) {
  return layer.kind == LayerKind::dense && layer.outputs_per_sample > 0 &&
         layer.kept_beside_per_sample >= layer.outputs_per_sample;
}

/// Makes one kernel of the activation and the product of each gated pair.
void fuse_gates(ModelShape& model) {
  for (std::size_t i = 1; i < model.layers.size(); ++i) {
    LayerShape& up = model.layers[i];
    const LayerShape& gate = model.layers[i - 1];
    const bool gated = has_activation(gate) && has_activation(up) && gate.in == up.in && gate.out == up.out;
    if (gated) up.kept_beside_per_sample -= up.outputs_per_sample;
  }
}

/// Returns whether the norm stands between shortcut and products, unlike norms of convolutions, queries and keys.
bool is_of_shortcut(const ModelShape& model, std::size_t position) {
  const LayerShape& layer = model.layers[position];
  return layer.kind == LayerKind::normalisation && layer.split != TensorSplit::heads && layer.outputs_kept() > 0 &&
         (position == 0 || model.layers[position - 1].kind != LayerKind::convolution);
}

/// Returns the number of products that read the output of a norm.
double readers_of(const ModelShape& model, std::size_t norm) {
  const LayerShape& read = model.layers[norm];
  double readers = 0;
  for (std::size_t i = norm + 1; i < model.layers.size(); ++i) {
    const LayerShape& layer = model.layers[i];
    const bool next = layer.kind == LayerKind::normalisation && layer.split != TensorSplit::heads;
    if (next || layer.kind == LayerKind::attention || layer.split == TensorSplit::row) break;
    if (layer.kind == LayerKind::dense && layer.experts == 1 && layer.inputs() == read.outputs_per_sample) ++readers;
  }
  return readers;
}

}  // namespace

ModelShape with_activations_of(ModelShape model, Program program, Precision precision, bool autocast) {
  const bool compiled = program == Program::compiled;
  if (program == Program::tuned || compiled) fuse_gates(model);
  if (program == Program::tuned) return model;
  const double element = bytes_per_element(precision);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    LayerShape& layer = model.layers[i];
    if (is_of_shortcut(model, i)) {
      double bytes = !compiled && is_rms_norm(model, i) ? kWideBytes : 0;
      if (autocast) bytes += kWideBytes - element;
      const double readers = readers_of(model, i);
      if (autocast && !compiled && readers > 1) bytes += (readers - 1) * element;
      layer.kept_bytes_per_sample += bytes * layer.outputs_per_sample;
    }
    if (compiled && keeps_softmax(layer)) {
      layer.kept_beside_per_sample = 0;
      layer.kept_bytes_per_sample -= kWideBytes * layer.outputs_per_sample;
    }
  }
  return model;
}

}  // namespace dadsim::spec
