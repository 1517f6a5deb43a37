#include <gtest/gtest.h>

#include <cmath>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"

namespace dadsim::models {
namespace {

spec::RecurrentSpec lstm(std::int64_t units, bool bias = true) {
  return {spec::RecurrentSpec::Cell::lstm, units, bias};
}

TEST(Lstm, GradientsEqualCentralDifferences) {
  for (const bool bias : {false, true}) {
    SCOPED_TRACE(testing::Message() << "bias " << bias);
    spec::ModelSpec model;
    // The layer below tests dLoss/dx. The parallel layer tests that dLoss/dx is added to a value_gradient that exists.
    // 14 samples are more than one block.
    model.layers = {spec::DenseSpec{3, spec::Activation::tanh, true, true},
                    spec::ResidualSpec{
                        .layers = {lstm(4, bias), lstm(3, bias)}, .shortcut = {}, .activation = spec::Activation::tanh},
                    spec::DenseSpec{4, spec::Activation::identity}};
    test::expect_right_gradients(model, {.height = 1, .width = 5, .channels = 2}, {.samples = 14});
  }
}

TEST(Lstm, EqualsPyTorch) {
  spec::ModelSpec model;
  model.layers = {lstm(6, false), lstm(5), spec::DenseSpec{4, spec::Activation::identity}};
  test::expect_golden("lstm", model, {.height = 1, .width = 7, .channels = 3});
}

TEST(Lstm, TwoStepsByHand) {
  spec::ModelSpec model;
  model.layers = {lstm(1)};
  NetworkOf<double> network({.height = 1, .width = 2, .channels = 1}, model, 1);
  network.layer(0).weight << 0.5, -1, 2, 0.7;
  network.layer(0).bias << 0.1, 0.2, 0.3, -0.6;
  network.layer(1).weight << 1, -2, 3, -0.9;
  network.layer(1).bias << -0.1, 0.4, -0.2, 0.8;
  MatrixOf<double> inputs(1, 2);
  inputs << 1.5, -0.5;
  TapeOf<double> tape;
  network.forward(inputs, {}, tape);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  double h = 0, c = 0;
  for (Eigen::Index t = 0; t < 2; ++t) {
    EXPECT_DOUBLE_EQ(network.input(1, tape)(t, 0), h);
    const double x = inputs(0, t);
    const double i = sigmoid(0.5 * x + 0.1 + h - 0.1);
    const double f = sigmoid(-x + 0.2 - 2 * h + 0.4);
    const double g = std::tanh(2 * x + 0.3 + 3 * h - 0.2);
    const double o = sigmoid(0.7 * x - 0.6 - 0.9 * h + 0.8);
    c = f * c + i * g;
    h = o * std::tanh(c);
    EXPECT_NEAR(tape.logits()(0, t), h, 1e-15);
  }
}

TEST(Lstm, SameBitsForAnyNumberOfThreads) {
  spec::ModelSpec model;
  model.layers = {lstm(21), lstm(64, false), spec::DenseSpec{5, spec::Activation::identity}};
  test::expect_same_bits_for_thread_counts(model, {.height = 1, .width = 9, .channels = 7}, 50);
}

TEST(Lstm, ASampleDoesNotDependOnTheOthers) {
  spec::ModelSpec model;
  model.layers = {lstm(21), spec::DenseSpec{5, spec::Activation::identity}};
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

}  // namespace
}  // namespace dadsim::models
