#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"

// Layers that workloads are built of. Activations, residual additions and pooling count as fused into their neighbours:
// no multiply-adds, no writes of their own.

namespace dadsim::spec {

/// Convolution of a square image, as the matrix product over its patches (im2col): A has size² rows per sample of
/// channels × kernel² columns. Without bias, since a batch normalisation usually follows.
struct Convolution {
  std::int64_t channels = 0;  ///< input channels
  std::int64_t filters = 0;
  std::int64_t kernel = 0;  ///< width and height of the kernel
  std::int64_t size = 0;    ///< width and height of the output
  bool bias = false;
  std::int64_t stride = 1;  ///< width and height of the input ÷ those of the output
};
LayerShape convolution_shape(std::string name, const Convolution& convolution);

/// Returns a dense layer applied to each of `tokens` rows per sample.
LayerShape token_dense_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out,
                             bool bias = true);

/// Returns a batch or layer normalisation: a scale and a shift for each of `features`, applied to each of `rows` per
/// sample.
LayerShape normalisation_shape(std::string name, std::int64_t rows, std::int64_t features);

/// Returns a root-mean-square normalisation (Zhang, Sennrich, NeurIPS 2019, arXiv:1910.07467): a scale, no shift.
LayerShape rms_normalisation_shape(std::string name, std::int64_t rows, std::int64_t features);

/// softmax(Q·Kᵀ)·V over all heads, without the projections: two products of tokens² × width multiply-adds. Writes the
/// scores of every head and the mixed values. A causal mask saves nothing here; with_flash_attention() makes the form
/// in which it does. With dropout on the scores, its output and its mask are kept as well.
struct AttentionForm {
  bool causal = false;
  bool dropout = false;
};
LayerShape attention_shape(std::string name, std::int64_t tokens, std::int64_t width, std::int64_t heads,
                           const AttentionForm& form = {});

/// One matrix in each of `number` experts, all stored as one; each token uses `per_token` of them, all equally often
/// (a balancing router).
struct Experts {
  std::int64_t number = 0;
  std::int64_t per_token = 0;
  bool bias = false;  ///< one per output and expert
};
LayerShape experts_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out,
                         const Experts& experts);

/// Marks the layer as divided by outputs under tensor parallelism, with the outputs of `heads` heads kept together if
/// it has any.
LayerShape by_columns(LayerShape shape, std::int64_t heads = 0);
/// Marks the layer as divided by inputs.
LayerShape by_rows(LayerShape shape);
/// Marks the table or decoder as divided by entries.
LayerShape by_entries(LayerShape shape);
/// Adds a GELU after the layer: its inputs are kept in addition to its outputs.
LayerShape with_gelu(LayerShape shape);
/// Adds dropout after the layer: one mask byte per output is kept.
LayerShape with_dropout(LayerShape shape);
/// Marks a table's output as not kept, because it is added to another output at once.
LayerShape added(LayerShape shape);
/// Marks a decoder: the backward pass keeps its class scores after softmax in fp32 (Korthikanti et al.,
/// arXiv:2205.05198, section 4.3), not the outputs themselves.
LayerShape with_softmax(LayerShape shape);

/// Returns `entries` learned vectors that every sample reads in full (positions, a class token), added to `tokens`
/// rows. They are no table, and no algorithm compresses them.
LayerShape vectors_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width);

/// Returns a table of `entries` learned vectors, of which each sample reads `tokens`.
LayerShape embedding_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width);

/// Returns a decoder that scores every entry of a table for each of `tokens`, with the table as its matrix (Press,
/// Wolf, EACL 2017, arXiv:1608.05859). It owns a bias at most; its part of the table's gradient is added there.
LayerShape tied_decoder_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width,
                              bool bias);

/// Returns the gates of an LSTM of `width` units (Hochreiter, Schmidhuber, Neural Computation 1997): element by
/// element, one position after the other. Writes four gates, the cell and the output.
LayerShape lstm_gates_shape(std::string name, std::int64_t tokens, std::int64_t width);

/// A transformer block with a norm before each half, one matrix for queries, keys and values, biases and a plain MLP
/// with a GELU, as in ViT and GPT-2.
struct BlockForm {
  std::int64_t tokens = 0;
  std::int64_t width = 0;
  std::int64_t heads = 0;
  std::int64_t between = 0;  ///< width between the MLP's layers
  bool causal = false;
};
/// Adds the block's layers, with names that begin with `block`.
void add_transformer_block(std::vector<LayerShape>& layers, const std::string& block, const BlockForm& form);

}  // namespace dadsim::spec
