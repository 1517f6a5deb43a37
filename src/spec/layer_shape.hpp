#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::spec {

enum class LayerKind : std::uint8_t {
  dense,          ///< a matrix product
  convolution,    ///< a matrix product over patches
  attention,      ///< softmax(Q·Kᵀ)·V, without the projections
  recurrence,     ///< the gates of a recurrent layer, position after position; its matrices are dense layers beside it
  embedding,      ///< a table of which rows are read
  normalisation,  ///< batch and layer norms
  element_wise,   ///< anything else that passes over its values
};

const char* to_string(LayerKind kind);

/// What timing needs to know of one layer, of the network that learns or of a workload that is only timed.
struct LayerShape {
  std::string name;
  LayerKind kind = LayerKind::dense;
  /// The weight matrix is out × in; both are 0 if the layer has none. Of a table, `out` counts the entries and `in` is
  /// their width.
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool bias = false;  ///< one bias per output beside the matrix
  std::int64_t rows_per_sample =
      1;  ///< rows of A and Δ per sample: 1 in an MLP, tokens in a transformer, H·W in a convolution
  std::int64_t parameters = 0;         ///< learned floats, biases included
  double forward_macs_per_sample = 0;  ///< multiply-adds of the forward pass
  double outputs_per_sample = 0;       ///< elements that the forward pass writes
  std::int64_t sequential = 1;         ///< kernels that must follow each other in a pass: positions of a recurrence
  /// Elements that the forward pass reads, each once; 0: rows_per_sample × in. Less than that in a convolution, whose
  /// windows overlap.
  double inputs_per_sample = 0;

  double inputs() const;  ///< elements that the forward pass reads per sample
  /// How often the windows of a convolution hold each input: 9 for 3×3 windows with a stride of one; 1 elsewhere.
  double overlap() const;

  /// Whether the gradient is Δᵀ·A for the rows of A and Δ that this layer yields: what dAD and its relatives share.
  bool has_outer_product() const { return kind != LayerKind::embedding && has_matrix(); }
  /// Whether it has a matrix of its own, an embedding's table included: what compressors of gradients work on.
  bool has_matrix() const { return in > 0 && out > 0 && parameters >= in * out; }
  bool operator==(const LayerShape&) const = default;
};

/// A dense layer of an MLP.
LayerShape dense_shape(std::string name, std::int64_t in, std::int64_t out, bool bias);

/// A network as a list of layers, input first.
struct ModelShape {
  std::string name;
  std::vector<LayerShape> layers;

  std::int64_t parameters() const;
  double forward_macs_per_sample() const;
  bool operator==(const ModelShape&) const = default;
};

}  // namespace dadsim::spec
