#include "models/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "models/uniform.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"

namespace dadsim {
namespace {

using Eigen::Index;

// Eigen cuts its products by the sizes of the machine's caches, and rounding follows the cuts. Fixed sizes (those of a
// common server core) give the same bits on every machine with the same instruction set.
[[maybe_unused]] const bool kCachesFixed = [] {
  Eigen::setCpuCacheSizes(32L << 10U, 1L << 20U, 8L << 20U);
  return true;
}();

// Products are cut into tiles of the result; a tile is big enough that packing its operands costs little.
constexpr Index kTileRows = 256;
constexpr Index kTileCols = 128;

/// Calls `body(row, rows, col, cols)` for each tile of a rows × cols result.
template <class Body>
void for_tiles(Index rows, Index cols, Index tile_rows, Index tile_cols, Body&& body) {
  if (rows == 0 || cols == 0) return;
  const Index down = (rows + tile_rows - 1) / tile_rows;
  const Index across = (cols + tile_cols - 1) / tile_cols;
  parallel_for(static_cast<std::size_t>(down * across), [&](std::size_t tile) {
    const Index row = static_cast<Index>(tile) / across * tile_rows;
    const Index col = static_cast<Index>(tile) % across * tile_cols;
    body(row, std::min(tile_rows, rows - row), col, std::min(tile_cols, cols - col));
  });
}

template <class T>
void forward_into(const DenseLayer<T>& layer, const Eigen::Ref<const MatrixOf<T>>& input, MatrixOf<T>& output,
                  MatrixOf<T>* pre_activation) {
  if (input.cols() != layer.in()) throw std::logic_error("forward: the input is not as wide as the layer");
  output.resize(input.rows(), layer.out());
  if (pre_activation != nullptr) pre_activation->resize(input.rows(), layer.out());
  for_tiles(input.rows(), layer.out(), kTileRows, kTileCols, [&](Index row, Index rows, Index col, Index cols) {
    auto tile = output.block(row, col, rows, cols);
    tile.noalias() = input.middleRows(row, rows) * layer.weight.middleRows(col, cols).transpose();
    if (layer.has_bias()) tile.rowwise() += layer.bias.segment(col, cols).transpose();
    if (pre_activation != nullptr) pre_activation->block(row, col, rows, cols) = tile;
    activate_block<T>(layer.activation, tile);
  });
}

}  // namespace

template <class T>
NetworkOf<T>::NetworkOf(std::int64_t features, const ModelSpec& spec, std::uint64_t seed) {
  if (features < 1 || spec.layers.empty()) throw std::logic_error("a network needs features and layers");
  std::int64_t in = features;
  for (const DenseSpec& dense : spec.layers) {
    if (dense.units < 1) throw std::logic_error("a dense layer needs units");
    DenseLayer<T> layer;
    layer.activation = dense.activation;
    layer.weight.resize(dense.units, in);
    if (dense.bias) layer.bias.setZero(dense.units);
    const bool half_passes = dense.activation == Activation::relu || dense.activation == Activation::gelu;
    const double limit = std::sqrt(6.0 / static_cast<double>(half_passes ? in : in + dense.units));
    RandomStream random(seed, Purpose::initial_weights, static_cast<std::uint32_t>(layers_.size()));
    for (Index i = 0; i < layer.weight.size(); ++i) {
      layer.weight.data()[i] = static_cast<T>(uniform(random, -limit, limit));
    }
    layers_.push_back(std::move(layer));
    in = dense.units;
  }
}

template <class T>
std::string NetworkOf<T>::name() const {
  if (layers_.empty()) return "MLP";
  std::string text = fmt::format("MLP {}", layers_.front().in());
  for (const DenseLayer<T>& layer : layers_) text += fmt::format("-{}", layer.out());
  return text;
}

template <class T>
ModelShape NetworkOf<T>::shape() const {
  ModelShape shape;
  shape.name = name();
  for (const DenseLayer<T>& layer : layers_) {
    shape.layers.push_back(
        dense_shape(fmt::format("fc{}", shape.layers.size() + 1), layer.in(), layer.out(), layer.has_bias()));
  }
  return shape;
}

template <class T>
void NetworkOf<T>::forward(const Eigen::Ref<const MatrixOf<T>>& inputs, TapeOf<T>& tape) const {
  tape.activations.resize(layers_.size() + 1);
  tape.pre_activations.resize(layers_.size());
  tape.deltas.resize(layers_.size());
  MatrixOf<T>& first = tape.activations.front();
  const bool in_place = inputs.data() == first.data() && inputs.rows() == first.rows() && inputs.cols() == first.cols();
  if (!in_place) first = inputs;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const bool keep = !derivative_from_output(layers_[l].activation);
    forward_into<T>(layers_[l], tape.activations[l], tape.activations[l + 1],
                    keep ? &tape.pre_activations[l] : nullptr);
  }
}

template <class T>
MatrixOf<T> NetworkOf<T>::forward_layer(std::size_t l, const Eigen::Ref<const MatrixOf<T>>& input,
                                        MatrixOf<T>* pre_activation) const {
  MatrixOf<T> output;
  forward_into<T>(layers_.at(l), input, output, pre_activation);
  return output;
}

template <class T>
T NetworkOf<T>::loss(std::span<const std::int32_t> labels, T total_rows, TapeOf<T>& tape) const {
  if (layers_.empty() || tape.activations.size() != layers_.size() + 1) {
    throw std::logic_error("loss: forward comes first");
  }
  const MatrixOf<T>& logits = tape.activations.back();
  if (static_cast<Index>(labels.size()) != logits.rows()) throw std::logic_error("loss: one label per row");
  if (!(total_rows > T(0))) throw std::logic_error("loss: total_rows must be positive");
  MatrixOf<T>& delta = tape.deltas.back();
  delta.resize(logits.rows(), logits.cols());

  constexpr std::size_t kRows = 128;
  std::vector<double> sums((labels.size() + kRows - 1) / kRows, 0.0);
  parallel_for_blocks(labels.size(), kRows, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t row = begin; row < end; ++row) {
      const std::int32_t label = labels[row];
      if (label < 0 || label >= logits.cols()) throw std::logic_error("loss: a label is not one of the classes");
      // log Σ exp(z) = m + log Σ exp(z − m): nothing overflows.
      const auto z = logits.row(row).array();
      const T largest = z.maxCoeff();
      auto p = delta.row(row).array();
      p = (z - largest).exp();
      const T total = p.sum();
      sum += static_cast<double>(std::log(total) + largest - z(label));
      p *= T(1) / (total * total_rows);
      p(label) -= T(1) / total_rows;
    }
    sums[begin / kRows] = sum;
    const Activation last = layers_.back().activation;
    const auto rows = static_cast<Index>(end - begin);
    if (derivative_from_output(last)) {
      multiply_derivative_from_output_block<T>(last, logits.middleRows(begin, rows), delta.middleRows(begin, rows));
    } else {
      multiply_derivative_block<T>(last, tape.pre_activations.back().middleRows(begin, rows),
                                   delta.middleRows(begin, rows));
    }
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return static_cast<T>(sum / static_cast<double>(total_rows));
}

template <class T>
void NetworkOf<T>::propagate(std::size_t l, TapeOf<T>& tape) const {
  if (l < 1 || l >= layers_.size() || tape.deltas.size() != layers_.size()) {
    throw std::logic_error("propagate: no such layer, or nothing on the tape");
  }
  const MatrixOf<T>& weight = layers_[l].weight;
  const MatrixOf<T>& delta = tape.deltas[l];
  if (delta.cols() != weight.rows()) throw std::logic_error("propagate: the delta is not as wide as the layer");
  const Activation activation = layers_[l - 1].activation;
  const bool from_output = derivative_from_output(activation);
  const MatrixOf<T>& source = from_output ? tape.activations[l] : tape.pre_activations[l - 1];
  if (source.rows() != delta.rows()) throw std::logic_error("propagate: deltas and activations have different rows");
  MatrixOf<T>& below = tape.deltas[l - 1];
  below.resize(delta.rows(), weight.cols());
  for_tiles(below.rows(), below.cols(), kTileRows, kTileCols, [&](Index row, Index rows, Index col, Index cols) {
    auto tile = below.block(row, col, rows, cols);
    tile.noalias() = delta.middleRows(row, rows) * weight.middleCols(col, cols);
    if (from_output) {
      multiply_derivative_from_output_block<T>(activation, source.block(row, col, rows, cols), tile);
    } else {
      multiply_derivative_block<T>(activation, source.block(row, col, rows, cols), tile);
    }
  });
}

template <class T>
void weight_gradient(const Eigen::Ref<const MatrixOf<T>>& delta, const Eigen::Ref<const MatrixOf<T>>& input,
                     bool with_bias, LayerGradientOf<T>& gradient) {
  if (delta.rows() != input.rows()) throw std::logic_error("weight_gradient: Δ and A have different rows");
  gradient.weight.resize(delta.cols(), input.cols());
  constexpr Index kOutRows = 64;
  constexpr Index kInCols = 1024;
  for_tiles(delta.cols(), input.cols(), kOutRows, kInCols, [&](Index row, Index rows, Index col, Index cols) {
    gradient.weight.block(row, col, rows, cols).noalias() =
        delta.middleCols(row, rows).transpose() * input.middleCols(col, cols);
  });
  if (with_bias) {
    gradient.bias.setZero(delta.cols());
    for (Index row = 0; row < delta.rows(); ++row) gradient.bias += delta.row(row).transpose();
  } else {
    gradient.bias.resize(0);
  }
}

template <class T>
LayerGradientOf<T> weight_gradient(const Eigen::Ref<const MatrixOf<T>>& delta,
                                   const Eigen::Ref<const MatrixOf<T>>& input, bool with_bias) {
  LayerGradientOf<T> gradient;
  weight_gradient<T>(delta, input, with_bias, gradient);
  return gradient;
}

template class NetworkOf<float>;
template class NetworkOf<double>;

template void weight_gradient<float>(const Eigen::Ref<const MatrixOf<float>>&, const Eigen::Ref<const MatrixOf<float>>&,
                                     bool, LayerGradientOf<float>&);
template void weight_gradient<double>(const Eigen::Ref<const MatrixOf<double>>&,
                                      const Eigen::Ref<const MatrixOf<double>>&, bool, LayerGradientOf<double>&);
template LayerGradientOf<float> weight_gradient<float>(const Eigen::Ref<const MatrixOf<float>>&,
                                                       const Eigen::Ref<const MatrixOf<float>>&, bool);
template LayerGradientOf<double> weight_gradient<double>(const Eigen::Ref<const MatrixOf<double>>&,
                                                         const Eigen::Ref<const MatrixOf<double>>&, bool);

}  // namespace dadsim
