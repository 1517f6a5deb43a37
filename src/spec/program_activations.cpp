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

/// Fuses the activation and the product of each gated pair into one kernel.
void fuse_gates(ModelShape& model) {
  for (std::size_t i = 1; i < model.layers.size(); ++i) {
    LayerShape& up = model.layers[i];
    const LayerShape& gate = model.layers[i - 1];
    const bool gated = has_activation(gate) && has_activation(up) && gate.in == up.in && gate.out == up.out;
    if (gated) up.kept_beside_per_sample -= up.outputs_per_sample;
  }
}

/// Returns whether the norm is between the residual stream and products, unlike norms of convolutions, queries and
/// keys.
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

/// Adds the activations that PyTorch's max pooling keeps after a convolution: its output, and 64-bit indices. The next
/// layer then reads a quarter of the convolution's outputs, with as many channels.
void keep_pooled(ModelShape& model, double element) {
  constexpr double kIndex = 8;
  constexpr double kWindow = 4;
  for (std::size_t i = 0; i + 1 < model.layers.size(); ++i) {
    const LayerShape& convolution = model.layers[i];
    if (convolution.kind != LayerKind::convolution) continue;
    LayerShape& last = model.layers[i + 1].kind == LayerKind::normalisation ? model.layers[i + 1] : model.layers[i];
    const std::size_t behind = &last == &convolution ? i + 1 : i + 2;
    if (behind >= model.layers.size() || model.layers[behind].in % convolution.out != 0) continue;
    const double pooled = model.layers[behind].inputs();
    if (pooled * kWindow == convolution.outputs_per_sample) last.kept_bytes_per_sample += (element + kIndex) * pooled;
  }
}

}  // namespace

ModelShape with_activations_of(ModelShape model, Program program, Precision precision, bool autocast) {
  const bool compiled = program == Program::compiled;
  if (!casts_weights(program) || compiled) fuse_gates(model);
  if (!casts_weights(program)) return model;
  const double element = bytes_per_element(precision);
  keep_pooled(model, element);
  // The training loop holds the images in fp32 while their cast is kept.
  if (autocast && !model.layers.empty() && model.layers.front().kind == LayerKind::convolution)
    model.layers.front().kept_bytes_per_sample += kWideBytes * model.layers.front().inputs();
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
