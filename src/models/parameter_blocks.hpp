#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "models/optimizer.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {

/// Returns zero state for every parameter of a network: per matrix the weights, then the biases; then per vector.
inline std::vector<Eigen::ArrayXf> zeros_like_parameters(const Network& network) {
  std::vector<Eigen::ArrayXf> state;
  for (const auto& layer : network.parameters().matrices) {
    state.push_back(Eigen::ArrayXf::Zero(layer.weight.size() + layer.bias.size()));
  }
  for (const auto& vector : network.parameters().vectors) state.push_back(Eigen::ArrayXf::Zero(vector.size()));
  return state;
}

/// Converts state to one row of numbers, and back. Throws std::logic_error for a wrong count of numbers.
inline void append_state(const std::vector<Eigen::ArrayXf>& state, std::vector<float>& numbers) {
  for (const Eigen::ArrayXf& one : state) numbers.insert(numbers.end(), one.data(), one.data() + one.size());
}
inline std::span<const float> take_state(std::span<const float> numbers, std::vector<Eigen::ArrayXf>& state) {
  for (Eigen::ArrayXf& one : state) {
    const auto size = static_cast<std::size_t>(one.size());
    if (numbers.size() < size) throw std::logic_error("the state belongs to another optimizer");
    std::copy_n(numbers.data(), size, one.data());
    numbers = numbers.subspan(size);
  }
  return numbers;
}

/// An optimizer that keeps a velocity per parameter if it has momentum, and otherwise no state.
class VelocityOptimizer : public Optimizer {
 public:
  VelocityOptimizer(const spec::OptimizerSpec& spec, const Network& network) : spec_(spec) {
    if (spec.momentum != 0) velocity_ = zeros_like_parameters(network);
  }
  std::vector<float> state() const override {
    std::vector<float> numbers;
    append_state(velocity_, numbers);
    return numbers;
  }
  void set_state(std::span<const float> numbers) override {
    if (!take_state(numbers, velocity_).empty()) throw std::logic_error("the state belongs to another optimizer");
  }

 protected:
  spec::OptimizerSpec spec_;
  std::vector<Eigen::ArrayXf> velocity_;  ///< shaped like zeros_like_parameters(); empty without momentum
};

/// Returns whether a matrix has no gradient: it stays unchanged, with its state and its biases.
inline bool is_frozen(const LayerGradient& gradient) { return gradient.weight.size() == 0; }

/// Returns the norm of a row of numbers, summed in a fixed order.
template <class Array>
double norm_of(const Array& numbers) {
  return std::sqrt(numbers.template cast<double>().square().sum());
}

/// Returns ‖w‖ ÷ ‖u‖, the factor of layerwise optimizers on a step u; 1 if one of the norms is 0.
inline double trust_ratio(double weights, double step) { return weights > 0 && step > 0 ? weights / step : 1.0; }

/// Calls `body` for blocks of at most `most` weights of a matrix, and for each whole bias vector and vector; shared by
/// for_parameter_blocks() and for_parameter_tensors().
template <class Body>
void for_parameters_in(std::size_t most, Network& network, const Gradient& gradient, const Body& body) {
  using Map = Eigen::Map<Eigen::ArrayXf>;
  using ConstMap = Eigen::Map<const Eigen::ArrayXf>;
  auto& [matrices, vectors, averages] = network.parameters();
  if (gradient.matrices.size() != matrices.size() || gradient.vectors.size() != vectors.size()) {
    throw std::logic_error("update: one gradient per matrix and per vector");
  }
  for (std::size_t l = 0; l < matrices.size(); ++l) {
    WeightsOf<float>& layer = matrices[l];
    const LayerGradient& value_gradient = gradient.matrices[l];
    if (is_frozen(value_gradient)) continue;
    if (value_gradient.weight.rows() != layer.out() || value_gradient.weight.cols() != layer.in() ||
        value_gradient.bias.size() != layer.bias.size()) {
      throw std::logic_error("update: the gradient does not have the shape of the layer");
    }
    const Eigen::Index weights = layer.weight.size();
    parallel_for_blocks(static_cast<std::size_t>(weights),
                        std::min<std::size_t>(most, static_cast<std::size_t>(std::max<Eigen::Index>(1, weights))),
                        [&](std::size_t begin, std::size_t end) {
                          const auto size = static_cast<Eigen::Index>(end - begin);
                          body(l, static_cast<Eigen::Index>(begin), Map(layer.weight.data() + begin, size),
                               ConstMap(value_gradient.weight.data() + begin, size));
                        });
    if (layer.has_bias()) {
      body(l, weights, Map(layer.bias.data(), layer.bias.size()),
           ConstMap(value_gradient.bias.data(), value_gradient.bias.size()));
    }
  }
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (gradient.vectors[i].size() != vectors[i].size()) {
      throw std::logic_error("update: the gradient does not have the shape of the vector");
    }
    body(matrices.size() + i, 0, Map(vectors[i].data(), vectors[i].size()),
         ConstMap(gradient.vectors[i].data(), vectors[i].size()));
  }
}

/// Calls `body(i, offset, parameters, gradient)` for blocks of all parameters, possibly in parallel. Both arrays have
/// the same length; `i` and `offset` give the block's position in the state. Throws std::logic_error if the gradient
/// does not have the network's shape.
template <class Body>
void for_parameter_blocks(Network& network, const Gradient& gradient, const Body& body) {
  // Numbers per block: four arrays of this size fit in a core's second-level cache.
  constexpr std::size_t kBlock = 16384;
  for_parameters_in(kBlock, network, gradient, body);
}

/// Calls `body` like for_parameter_blocks(), with one block per matrix, bias vector or vector.
template <class Body>
void for_parameter_tensors(Network& network, const Gradient& gradient, const Body& body) {
  for_parameters_in(std::numeric_limits<std::size_t>::max(), network, gradient, body);
}

}  // namespace dadsim::models
