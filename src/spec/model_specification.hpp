#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/names.hpp"

// The learning network, complete and checked.

namespace dadsim::spec {

enum class Activation : std::uint8_t { identity, relu, tanh, sigmoid, gelu };
constexpr auto names_of(Activation) {
  using enum Activation;
  return std::to_array<Name<Activation>>(
      {{identity, "identity"}, {relu, "relu"}, {tanh, "tanh"}, {sigmoid, "sigmoid"}, {gelu, "gelu"}});
}

/// Dense layer: y = φ(x Wᵀ + b).
struct DenseSpec {
  std::int64_t units = 0;
  Activation activation = Activation::relu;
  bool bias = true;
  bool each_position = false;  ///< true: equal weights at every position; false: all positions together are one input
  std::optional<double> initial_limit = std::nullopt;  ///< limit of uniform initial weights; none: from the widths
  bool operator==(const DenseSpec&) const = default;
};

/// Convolution of an image with a square kernel.
struct ConvolutionSpec {
  std::int64_t filters = 0;
  std::int64_t kernel = 3;   ///< side of the kernel, pixels
  std::int64_t stride = 1;   ///< distance between windows, pixels
  std::int64_t padding = 1;  ///< zero padding around the image, pixels
  Activation activation = Activation::relu;
  bool bias = true;
  std::optional<double> initial_limit = std::nullopt;  ///< limit of uniform initial weights; none: from the widths
  bool operator==(const ConvolutionSpec&) const = default;
};

struct PoolSpec {
  enum class Kind : std::uint8_t { maximum, mean };
  Kind kind = Kind::maximum;
  std::int64_t size = 2;    ///< side of a window, pixels
  std::int64_t stride = 2;  ///< distance between windows, pixels
  bool operator==(const PoolSpec&) const = default;
};

/// Mean over all positions.
struct MeanSpec {
  bool operator==(const MeanSpec&) const = default;
};

/// Selects one position.
struct SelectSpec {
  bool last = false;  ///< true: the last position; false: the first
  bool operator==(const SelectSpec&) const = default;
};

/// A recurrent layer; outputs its state after every position.
struct RecurrentSpec {
  enum class Cell : std::uint8_t { gru, lstm };
  Cell cell = Cell::gru;
  std::int64_t units = 0;
  bool bias = true;
  bool operator==(const RecurrentSpec&) const = default;
};

/// Multi-head self-attention with its projections.
struct AttentionSpec {
  std::int64_t heads = 1;
  bool causal = false;  ///< true: causal, each position sees only itself and previous ones
  bool bias = true;
  bool operator==(const AttentionSpec&) const = default;
};

/// Layer norm: normalises over the channels of each position.
struct LayerNormSpec {
  double epsilon = 1e-5;
  bool operator==(const LayerNormSpec&) const = default;
};

/// Batch norm: normalises each channel over samples and positions.
struct BatchNormSpec {
  double epsilon = 1e-5;
  double momentum = 0.1;  ///< momentum of the running statistics that evaluation uses
  Activation activation = Activation::identity;
  bool operator==(const BatchNormSpec&) const = default;
};

/// Embedding: a learned vector per symbol.
struct EmbeddingSpec {
  std::int64_t units = 0;
  bool operator==(const EmbeddingSpec&) const = default;
};

/// Adds a learned vector per position.
struct PositionsSpec {
  bool operator==(const PositionsSpec&) const = default;
};

/// Prepends a learned position (class token).
struct ClassTokenSpec {
  bool operator==(const ClassTokenSpec&) const = default;
};

struct DropoutSpec {
  double rate = 0.5;  ///< share of values set to zero in training
  bool operator==(const DropoutSpec&) const = default;
};

struct LayerSpec;

/// Residual block: y = φ(layers(x) + shortcut(x)). An empty shortcut is the identity.
struct ResidualSpec {
  std::vector<LayerSpec> layers;
  std::vector<LayerSpec> shortcut;
  Activation activation = Activation::identity;
  bool operator==(const ResidualSpec&) const;
};

struct LayerSpec {
  std::variant<DenseSpec, ConvolutionSpec, PoolSpec, MeanSpec, SelectSpec, RecurrentSpec, AttentionSpec, LayerNormSpec,
               BatchNormSpec, EmbeddingSpec, PositionsSpec, ClassTokenSpec, DropoutSpec, ResidualSpec>
      what;
  template <class Spec>
  LayerSpec(Spec spec) : what(std::move(spec)) {}  // NOLINT(google-explicit-constructor): a layer of that kind
  bool operator==(const LayerSpec&) const = default;
};

inline bool ResidualSpec::operator==(const ResidualSpec& other) const {
  return layers == other.layers && shortcut == other.shortcut && activation == other.activation;
}

/// Layers from the input to the logits (one logit per class); softmax cross-entropy follows.
struct ModelSpec {
  std::string name;  ///< name of the network; may be empty
  std::vector<LayerSpec> layers;
  bool operator==(const ModelSpec&) const = default;
};

}  // namespace dadsim::spec
