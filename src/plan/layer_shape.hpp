#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dadsim {

enum class LayerKind { dense, convolution, attention, embedding, normalisation };

/// What timing needs to know of one layer, of the network that learns or of a workload that is only timed.
struct LayerShape {
  std::string name;
  LayerKind kind = LayerKind::dense;
  std::int64_t in = 0;   ///< columns of the weight matrix (out × in); 0 if the layer has no matrix of its own
  std::int64_t out = 0;  ///< rows of the weight matrix; 0 if the layer has none
  bool bias = false;     ///< one bias per output beside the matrix
  std::int64_t rows_per_sample =
      1;  ///< rows of A and Δ per sample: 1 in an MLP, tokens in a transformer, H·W in a convolution
  std::int64_t parameters = 0;         ///< learned floats, biases included
  double forward_macs_per_sample = 0;  ///< multiply-adds of the forward pass
  double outputs_per_sample = 0;       ///< elements that the forward pass writes

  /// Whether the gradient is Δᵀ·A for the rows of A and Δ that this layer yields: what dAD and its relatives share.
  bool has_outer_product() const { return in > 0 && out > 0 && parameters >= in * out; }
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

}  // namespace dadsim
