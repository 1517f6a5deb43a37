#pragma once

#include <cstdint>
#include <string>

#include "spec/layer_shape.hpp"

// The layers that workloads are built of. Activations, residual additions and pooling are taken as fused into their
// neighbours: they have no multiply-adds and write nothing of their own.

namespace dadsim::spec {

/// Convolution of a square image, as the matrix product over its patches (im2col): A has size² rows per sample of
/// channels × kernel² columns. Without bias, as a batch normalisation follows it as a rule.
struct Convolution {
  std::int64_t channels = 0;  ///< of the input
  std::int64_t filters = 0;
  std::int64_t kernel = 0;  ///< width and height of the kernel
  std::int64_t size = 0;    ///< width and height of the output
  bool bias = false;
  std::int64_t stride = 1;  ///< width and height of the input ÷ those of the output
};
LayerShape convolution_shape(std::string name, const Convolution& convolution);

/// A dense layer applied to each of `tokens` rows per sample.
LayerShape token_dense_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out,
                             bool bias = true);

/// Batch or layer normalisation: a scale and a shift for each of `features`, applied to each of `rows` per sample.
LayerShape normalisation_shape(std::string name, std::int64_t rows, std::int64_t features);

/// Normalisation by the root mean square (Zhang, Sennrich, NeurIPS 2019, arXiv:1910.07467): a scale, no shift.
LayerShape rms_normalisation_shape(std::string name, std::int64_t rows, std::int64_t features);

/// softmax(Q·Kᵀ)·V over all heads, the projections not included: two products of tokens² × width multiply-adds. Writes
/// the scores of every head and the mixed values. A causal mask is taken to save nothing; with_flash_attention() makes
/// the form in which it does. With dropout on the scores, what comes out of it is kept as well, and its mask.
struct AttentionForm {
  bool causal = false;
  bool dropout = false;
};
LayerShape attention_shape(std::string name, std::int64_t tokens, std::int64_t width, std::int64_t heads,
                           const AttentionForm& form = {});

/// The same matrix of `number` experts, kept in one piece, of which each token goes through `per_token`, all
/// experts as often as each other (a router that balances them).
struct Experts {
  std::int64_t number = 0;
  std::int64_t per_token = 0;
  bool bias = false;  ///< one per output and expert
};
LayerShape experts_shape(std::string name, std::int64_t tokens, std::int64_t in, std::int64_t out,
                         const Experts& experts);

/// The layer as tensor parallelism divides it by outputs, those of `heads` heads together where it has some.
LayerShape by_columns(LayerShape shape, std::int64_t heads = 0);
/// The layer as tensor parallelism divides it by inputs.
LayerShape by_rows(LayerShape shape);
/// The table or the decoder as tensor parallelism divides it by entries.
LayerShape by_entries(LayerShape shape);
/// With a GELU behind it: what goes into that is kept beside what comes out.
LayerShape with_gelu(LayerShape shape);
/// With dropout behind it: a byte of its mask for each output is kept.
LayerShape with_dropout(LayerShape shape);
/// A table of which what it gives is added to something at once, and not kept.
LayerShape added(LayerShape shape);
/// A decoder of which the backward pass needs the scores of classes after softmax, in fp32 (Korthikanti et al.,
/// arXiv:2205.05198, section 4.3), not as they came out.
LayerShape with_softmax(LayerShape shape);

/// `entries` learned vectors that every sample reads in full (positions, a class token): added to `tokens` rows. They
/// are no table, and no algorithm compresses them.
LayerShape vectors_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width);

/// A table of `entries` learned vectors, of which each sample reads `tokens`.
LayerShape embedding_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width);

/// Scores every entry of a table for each of `tokens`, with the table itself as the matrix (Press, Wolf, EACL 2017,
/// arXiv:1608.05859): only a bias, if any, is its own. Its part of the table's gradient is added there.
LayerShape tied_decoder_shape(std::string name, std::int64_t tokens, std::int64_t entries, std::int64_t width,
                              bool bias);

/// The gates of an LSTM of `width` units (Hochreiter, Schmidhuber, Neural Computation 1997): element by element, one
/// position after the other. Writes four gates, the cell and the output.
LayerShape lstm_gates_shape(std::string name, std::int64_t tokens, std::int64_t width);

}  // namespace dadsim::spec
