#include <gtest/gtest.h>

#include <cmath>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"

namespace dadsim::models {
namespace {

spec::RecurrentSpec gru(std::int64_t units, bool bias = true) { return {spec::RecurrentSpec::Cell::gru, units, bias}; }

TEST(Gru, GradientsEqualCentralDifferences) {
  for (const bool bias : {false, true}) {
    SCOPED_TRACE(testing::Message() << "bias " << bias);
    spec::ModelSpec model;
    // The layer below tests dLoss/dx. The parallel layer tests that dLoss/dx is added to a value_gradient that exists.
    // 14 samples are more than one block.
    model.layers = {spec::DenseSpec{3, spec::Activation::tanh, true, true},
                    spec::ResidualSpec{
                        .layers = {gru(4, bias), gru(3, bias)}, .shortcut = {}, .activation = spec::Activation::tanh},
                    spec::DenseSpec{4, spec::Activation::identity}};
    test::expect_right_gradients(model, {.height = 1, .width = 5, .channels = 2}, {.samples = 14});
  }
}

TEST(Gru, EqualsPyTorch) {
  spec::ModelSpec model;
  model.layers = {gru(6, false), gru(5), spec::DenseSpec{4, spec::Activation::identity}};
  test::expect_golden("gru", model, {.height = 1, .width = 7, .channels = 3});
}

TEST(Gru, TwoStepsByHand) {
  spec::ModelSpec model;
  model.layers = {gru(1)};
  NetworkOf<double> network({.height = 1, .width = 2, .channels = 1}, model, 1);
  network.layer(0).weight << 0.5, -1, 2;
  network.layer(0).bias << 0.1, 0.2, 0.3;
  network.layer(1).weight << 1, -2, 3;
  network.layer(1).bias << -0.1, 0.4, -0.2;
  MatrixOf<double> inputs(1, 2);
  inputs << 1.5, -0.5;
  TapeOf<double> tape;
  network.forward(inputs, {}, tape);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  double h = 0;
  for (Eigen::Index t = 0; t < 2; ++t) {
    EXPECT_DOUBLE_EQ(network.input(1, tape)(t, 0), h);
    const double x = inputs(0, t);
    const double r = sigmoid(0.5 * x + 0.1 + h - 0.1);
    const double z = sigmoid(-x + 0.2 - 2 * h + 0.4);
    const double n = std::tanh(2 * x + 0.3 + r * (3 * h - 0.2));
    h = (1 - z) * n + z * h;
    EXPECT_NEAR(tape.logits()(0, t), h, 1e-15);
  }
}

TEST(Gru, SameBitsForAnyNumberOfThreads) {
  spec::ModelSpec model;
  model.layers = {gru(21), gru(64, false), spec::DenseSpec{5, spec::Activation::identity}};
  test::expect_same_bits_for_thread_counts(model, {.height = 1, .width = 9, .channels = 7}, 50);
}

TEST(Gru, ASampleDoesNotDependOnTheOthers) {
  spec::ModelSpec model;
  model.layers = {gru(21), spec::DenseSpec{5, spec::Activation::identity}};
  const spec::SampleShape sample{.height = 1, .width = 9, .channels = 7};
  const Network network(sample, model, 3);
  const Matrix inputs = test::random_inputs<float>(sample, 29, 4);
  Tape all, one;
  network.forward(inputs, {}, all);
  for (Eigen::Index s = 0; s < inputs.rows(); ++s) {
    network.forward(inputs.row(s), {}, one);
    EXPECT_LT((all.logits().row(s) - one.logits()).cwiseAbs().maxCoeff(), 1e-6F) << "sample " << s;
  }
}

TEST(Gru, StaysFiniteWhereGatesSaturate) {
  spec::ModelSpec model;
  model.layers = {gru(8)};
  const spec::SampleShape sample{.height = 1, .width = 4, .channels = 3};
  Network network(sample, model, 3);
  for (std::size_t l = 0; l < 2; ++l) network.layer(l).weight *= 1e6F;
  const Matrix inputs = test::random_inputs<float>(sample, 20, 4);
  Tape tape;
  Gradient gradient;
  test::loss_and_gradient(network, inputs, test::random_labels(network, 20, 5), {}, tape, &gradient);
  EXPECT_LE(tape.logits().cwiseAbs().maxCoeff(), 1.0F);
  EXPECT_TRUE(gradient.matrices[0].weight.allFinite());
  EXPECT_TRUE(gradient.matrices[1].weight.allFinite());
}

}  // namespace
}  // namespace dadsim::models
