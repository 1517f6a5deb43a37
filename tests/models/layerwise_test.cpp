#include <gtest/gtest.h>

#include <cmath>

#include "models/optimizers.hpp"

// Compares steps of LAMB, LARS and clipping with values computed by hand.

namespace dadsim::models {
namespace {

/// Returns a network of two inputs, one output and a bias, with weights 3 and 4, whose norm is 5.
Network three_four() {
  spec::ModelSpec spec;
  spec.layers = {spec::DenseSpec{1, spec::Activation::identity, true}};
  Network network(2, spec, 1);
  network.layer(0).weight << 3.0F, 4.0F;
  network.layer(0).bias[0] = 0.0F;
  return network;
}

Gradient slope(float first, float second, float bias) {
  Gradient gradient;
  gradient.matrices.resize(1);
  gradient.matrices[0].weight.resize(1, 2);
  gradient.matrices[0].weight << first, second;
  gradient.matrices[0].bias.setConstant(1, bias);
  return gradient;
}

spec::OptimizerSpec layerwise(spec::OptimizerSpec::Kind kind, double decay) {
  spec::OptimizerSpec spec;
  spec.kind = kind;
  spec.weight_decay = decay;
  spec.epsilon = 0;
  return spec;
}

// In the first step both moments come from one gradient, so m̂ ÷ √v̂ is its sign. With λ = 0.1 and w = (3, 4), u =
// (1.3, −0.6), ‖u‖ = 1.431782 and ‖w‖/‖u‖ = 3.492151. The bias is 0, so its ratio is 1 and u = 1.
TEST(Lamb, FirstStepByHand) {
  Network network = three_four();
  const auto optimizer = make_optimizer(layerwise(spec::OptimizerSpec::Kind::lamb, 0.1), network);
  optimizer->update(network, slope(2.0F, -7.0F, 5.0F), 0.01);
  EXPECT_NEAR(network.layer(0).weight(0, 0), 3 - 0.01 * 3.492151 * 1.3, 1e-5);
  EXPECT_NEAR(network.layer(0).weight(0, 1), 4 + 0.01 * 3.492151 * 0.6, 1e-5);
  EXPECT_NEAR(network.layer(0).bias[0], -0.01, 1e-7);
}

// The second step has half of the gradient and no decay. The moments of both weights are the same multiple of g, so the
// direction stays (1, −1). Whatever the moments, the step is as long as the weights.
TEST(Lamb, StepsAreAsLongAsTheWeights) {
  Network network = three_four();
  const auto optimizer = make_optimizer(layerwise(spec::OptimizerSpec::Kind::lamb, 0), network);
  optimizer->update(network, slope(2.0F, -7.0F, 5.0F), 0.01);
  const double w0 = network.layer(0).weight(0, 0);
  const double w1 = network.layer(0).weight(0, 1);
  EXPECT_NEAR(w0, 3 - 0.01 * 5 / std::sqrt(2.0), 1e-5);
  EXPECT_NEAR(w1, 4 + 0.01 * 5 / std::sqrt(2.0), 1e-5);
  optimizer->update(network, slope(1.0F, -3.5F, 2.5F), 0.01);
  EXPECT_NEAR(network.layer(0).weight(0, 0), w0 - 0.01 * std::hypot(w0, w1) / std::sqrt(2.0), 1e-5);
  // The bias has moved from 0 to −0.01, so its norm is 0.01 and the step ‖w‖/‖u‖ · u is 0.01 for any u.
  EXPECT_NEAR(network.layer(0).bias[0], -0.01 - 0.01 * 0.01, 1e-7);
}

// λ = 0.001 · 5 ÷ (‖(6, 8)‖ + 0.1 · 5) = 0.005 ÷ 10.5, and g + βw = (6.3, 8.4). The bias is 0, so its ratio is 1.
TEST(Lars, TwoStepsByHand) {
  Network network = three_four();
  spec::OptimizerSpec spec = layerwise(spec::OptimizerSpec::Kind::lars, 0.1);
  spec.momentum = 0.9;
  const auto optimizer = make_optimizer(spec, network);
  optimizer->update(network, slope(6.0F, 8.0F, 2.0F), 10);
  const double rate = 10 * 0.005 / 10.5;
  double v = rate * 6.3;
  double w = 3 - v;
  EXPECT_NEAR(network.layer(0).weight(0, 0), w, 1e-6);
  EXPECT_NEAR(network.layer(0).weight(0, 1), 4 - rate * 8.4, 1e-6);
  EXPECT_NEAR(network.layer(0).bias[0], -20, 1e-5);
  // The weights keep their direction of (3, 4) ÷ 5.
  const double norm = w / 0.6;
  optimizer->update(network, slope(6.0F, 8.0F, 0.0F), 10);
  v = 0.9 * v + 10 * 0.001 * norm / (10 + 0.1 * norm) * (6 + 0.1 * w);
  EXPECT_NEAR(network.layer(0).weight(0, 0), w - v, 1e-5);
}

TEST(Layerwise, StateComesBack) {
  for (const auto kind : {spec::OptimizerSpec::Kind::lamb, spec::OptimizerSpec::Kind::lars}) {
    spec::OptimizerSpec spec = layerwise(kind, 0.01);
    spec.momentum = 0.9;
    spec.clip_norm = 1;
    Network one = three_four();
    const auto first = make_optimizer(spec, one);
    first->update(one, slope(2.0F, -7.0F, 5.0F), 0.1);
    Network other = one;
    const auto second = make_optimizer(spec, other);
    second->set_state(first->state());
    first->update(one, slope(1.0F, 1.0F, 1.0F), 0.1);
    second->update(other, slope(1.0F, 1.0F, 1.0F), 0.1);
    EXPECT_EQ(one.layer(0).weight, other.layer(0).weight);
    EXPECT_THROW(second->set_state({}), std::logic_error);
  }
}

// ‖(2, −4, 4)‖ = 6 is clipped to 3 by a factor of ½; the limit of 6 changes nothing.
TEST(Clipped, ScalesTheWholeGradient) {
  spec::OptimizerSpec spec;
  spec.kind = spec::OptimizerSpec::Kind::sgd;
  for (const auto& [largest, factor] : {std::pair{3.0, 0.5F}, {6.0, 1.0F}, {7.0, 1.0F}, {0.0, 1.0F}}) {
    spec.clip_norm = largest;
    Network network = three_four();
    make_optimizer(spec, network)->update(network, slope(2.0F, -4.0F, 4.0F), 1);
    EXPECT_FLOAT_EQ(network.layer(0).weight(0, 0), 3 - factor * 2);
    EXPECT_FLOAT_EQ(network.layer(0).weight(0, 1), 4 + factor * 4);
    EXPECT_FLOAT_EQ(network.layer(0).bias[0], -factor * 4);
  }
  EXPECT_DOUBLE_EQ(norm_of(slope(2.0F, -4.0F, 4.0F)), 6);
}

TEST(Layerwise, UpdatesCostWhatTheyMove) {
  const auto cost = [](spec::OptimizerSpec::Kind kind, double momentum, double clip) {
    spec::OptimizerSpec spec;
    spec.kind = kind;
    spec.momentum = momentum;
    spec.clip_norm = clip;
    return update_floats_per_parameter(spec);
  };
  using Kind = spec::OptimizerSpec::Kind;
  EXPECT_EQ(cost(Kind::lamb, 0, 0), 10);
  EXPECT_EQ(cost(Kind::lars, 0.9, 0), 7);
  EXPECT_EQ(cost(Kind::lars, 0, 0), 5);
  EXPECT_EQ(cost(Kind::adam, 0, 1) - cost(Kind::adam, 0, 0), 3);
}

}  // namespace
}  // namespace dadsim::models
