#pragma once

#include <vector>

#include "models/network.hpp"

namespace dadsim::test {

/// Runs a forward pass over samples of one site, and the backward pass into `gradient` unless it is null. Returns the
/// mean loss.
template <class T>
T backward(const models::NetworkOf<T>& network, const models::MatrixOf<T>& inputs,
           const std::vector<std::int32_t>& labels, models::TapeOf<T>& tape, models::GradientOf<T>* gradient) {
  network.forward(inputs, models::Pass{.training = true}, tape);
  const T loss = network.loss(labels, static_cast<T>(labels.size()), tape);
  if (gradient == nullptr) return loss;
  gradient->matrices.resize(network.layers());
  for (std::size_t l = network.layers(); l-- > 0;) {
    if (!network.layer(l).embedding) {
      weight_gradient<T>(network.delta(l, tape), network.input(l, tape), network.layer(l).has_bias(),
                         gradient->matrices[l]);
    }
    network.backpropagate(l, tape);
  }
  for (std::size_t l = 0; l < network.layers(); ++l) {
    if (!network.layer(l).embedding) continue;
    gradient->matrices[l].weight.setZero(network.layer(l).out(), network.layer(l).in());
    network.add_embedding_gradient(l, tape, 0, inputs.rows(), gradient->matrices[l].weight);
  }
  gradient->vectors = tape.vector_gradients;
  return loss;
}

}  // namespace dadsim::test
