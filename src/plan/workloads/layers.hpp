#pragma once

#include <cstdint>
#include <string>

#include "plan/layer_shape.hpp"

// The layers that workloads are built of. Activations, residual additions and pooling are taken as fused into their
// neighbours: they have no multiply-adds and write nothing of their own.

namespace dadsim {

/// Convolution of a square image, as the matrix product over its patches (im2col): A has size² rows per sample of
/// channels × kernel² columns. Without bias, as a batch normalisation follows it as a rule.
struct Convolution {
  std::int64_t channels = 0;  ///< of the input
  std::int64_t filters = 0;
  std::int64_t kernel = 0;  ///< width and height of the kernel
  std::int64_t size = 0;    ///< width and height of the output
  bool bias = false;
};
LayerShape convolution_shape(std::string name, const Convolution& convolution);

/// A dense layer with bias applied to each of `tokens` rows per sample.
LayerShape token_dense_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out);

/// Batch or layer normalisation: a scale and a shift for each of `features`, applied to each of `rows` per sample.
LayerShape normalisation_shape(std::string name, std::int64_t rows, std::int64_t features);

/// softmax(Q·Kᵀ)·V over all heads, the projections not included: two products of tokens² × width multiply-adds. Writes
/// the scores of every head and the mixed values.
LayerShape attention_shape(std::string name, std::int64_t tokens, std::int64_t width, std::int64_t heads);

/// A table of `entries` learned vectors, of which each sample reads `tokens`.
LayerShape embedding_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width);

}  // namespace dadsim
