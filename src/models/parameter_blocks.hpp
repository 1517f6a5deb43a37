#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "models/network.hpp"
#include "support/parallel.hpp"

namespace dadsim {

/// Parameters of a network laid side by side, as an optimizer's state: per layer the weights, then the biases.
inline std::vector<Eigen::ArrayXf> zeros_like_parameters(const Network& network) {
  std::vector<Eigen::ArrayXf> state;
  for (std::size_t l = 0; l < network.layers(); ++l) {
    const auto& layer = network.layer(l);
    state.push_back(Eigen::ArrayXf::Zero(layer.weight.size() + layer.bias.size()));
  }
  return state;
}

/// Calls `body(layer, offset, parameters, gradient)` for blocks of the parameters of every layer, possibly at the same
/// time; the two maps are arrays of one length, and `offset` is where the block stands in the layer's state. Throws
/// std::logic_error where the gradient does not have the shape of the network.
template <class Body>
void for_parameter_blocks(Network& network, const Gradient& gradient, const Body& body) {
  using Map = Eigen::Map<Eigen::ArrayXf>;
  using ConstMap = Eigen::Map<const Eigen::ArrayXf>;
  constexpr std::size_t kBlock = 16384;  // four arrays of it stay in a core's second-level cache
  if (gradient.size() != network.layers()) throw std::logic_error("update: one gradient per layer");
  for (std::size_t l = 0; l < network.layers(); ++l) {
    DenseLayer<float>& layer = network.layer(l);
    const LayerGradient& slope = gradient[l];
    if (slope.weight.rows() != layer.out() || slope.weight.cols() != layer.in() ||
        slope.bias.size() != layer.bias.size()) {
      throw std::logic_error("update: the gradient does not have the shape of the layer");
    }
    const Eigen::Index weights = layer.weight.size();
    parallel_for_blocks(static_cast<std::size_t>(weights), kBlock, [&](std::size_t begin, std::size_t end) {
      const auto size = static_cast<Eigen::Index>(end - begin);
      body(l, static_cast<Eigen::Index>(begin), Map(layer.weight.data() + begin, size),
           ConstMap(slope.weight.data() + begin, size));
    });
    if (layer.has_bias()) {
      body(l, weights, Map(layer.bias.data(), layer.bias.size()), ConstMap(slope.bias.data(), slope.bias.size()));
    }
  }
}

}  // namespace dadsim
