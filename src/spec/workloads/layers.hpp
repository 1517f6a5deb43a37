#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"

// Layers that workloads are built of. Activations, residual additions and pooling count as fused into adjacent layers:
// no multiply-adds, no writes of their own.

namespace dadsim::spec {

/// Convolution of a square image, as the matrix product over its patches (im2col). A has size² rows per sample of
/// channels × kernel² columns. Has no bias, because a batch norm usually follows.
struct Convolution {
  std::int64_t channels = 0;  ///< input channels
  std::int64_t filters = 0;
  std::int64_t kernel = 0;  ///< width and height of the kernel
  std::int64_t size = 0;    ///< width and height of the output
  bool bias = false;
  std::int64_t stride = 1;  ///< stride: input size ÷ output size
};
LayerShape convolution_shape(std::string name, const Convolution& convolution);

/// Returns a dense layer applied to each of `tokens` rows per sample.
LayerShape token_dense_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out,
                             bool bias = true);

/// Returns a batch or layer norm: a scale and a shift for each of `features`, applied to each of `rows` per sample.
LayerShape normalisation_shape(std::string name, std::int64_t rows, std::int64_t features);

/// Returns a root-mean-square norm (Zhang, Sennrich, NeurIPS 2019, arXiv:1910.07467): a scale, but no shift.
LayerShape rms_normalisation_shape(std::string name, std::int64_t rows, std::int64_t features);

/// Options of attention_shape().
struct AttentionForm {
  bool causal = false;
  bool dropout = false;
};
/// Returns softmax(Q·Kᵀ)·V over all heads, without projections: two products of tokens² × width multiply-adds. Writes
/// the scores of every head and the attention output. Here a causal mask saves nothing; with_flash_attention() makes a
/// form in which it does. With dropout, the dropped scores and the mask are kept too.
LayerShape attention_shape(std::string name, std::int64_t tokens, std::int64_t width, std::int64_t heads,
                           const AttentionForm& form = {});

/// One matrix in each of `number` experts, stored together. Each token uses `per_token` experts, all equally often (a
/// balancing router).
struct Experts {
  std::int64_t number = 0;
  std::int64_t per_token = 0;
  bool bias = false;  ///< true: one bias per output and expert
};
LayerShape experts_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out,
                         const Experts& experts);

/// Returns the layer, divided by outputs under tensor parallelism. If it has `heads` heads, the outputs of a head stay
/// together.
LayerShape by_columns(LayerShape shape, std::int64_t heads = 0);
/// Returns the layer, divided by inputs under tensor parallelism.
LayerShape by_rows(LayerShape shape);
/// Returns the table or decoder, divided by entries under tensor parallelism.
LayerShape by_entries(LayerShape shape);
/// Returns the layer with a GELU after it: the inputs of the GELU are kept in addition to its outputs.
LayerShape with_gelu(LayerShape shape);
/// Returns the layer with dropout after it: one mask byte per output is kept.
LayerShape with_dropout(LayerShape shape);
/// Returns a table whose output is not kept, because it is added to another output at once.
LayerShape added(LayerShape shape);
/// Returns a decoder whose class scores after softmax are kept in fp32 for the backward pass (Korthikanti et al.,
/// arXiv:2205.05198, section 4.3), instead of its outputs.
LayerShape with_softmax(LayerShape shape);

/// Returns `entries` learned vectors that every sample reads in full (positions, a class token), added to `tokens`
/// rows. They are not a table, and algorithms do not compress them.
LayerShape vectors_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width);

/// Returns a table of `entries` learned vectors, of which each sample reads `tokens`.
LayerShape embedding_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width);

/// Returns a decoder with tied weights, which scores every entry of a table for each of `tokens` (Press, Wolf, EACL
/// 2017, arXiv:1608.05859). It owns at most a bias; its part of the table's gradient is added to the table's.
LayerShape tied_decoder_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width,
                              bool bias);

/// Returns the gates of an LSTM of `width` units (Hochreiter, Schmidhuber, Neural Computation 1997), element by
/// element, one position after the other. Writes four gates, the cell and the output.
LayerShape lstm_gates_shape(std::string name, std::int64_t tokens, std::int64_t width);

/// A transformer block as in ViT and GPT-2: a norm before each half, one matrix for queries, keys and values, biases,
/// and a plain MLP with a GELU.
struct BlockForm {
  std::int64_t tokens = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t between = 0;  ///< width between the two layers of the MLP
  bool causal = false;
};
/// Adds the block's layers, with names that begin with `block`.
void add_transformer_block(std::vector<LayerShape>& layers, const std::string& block, const BlockForm& form);

}  // namespace dadsim::spec
