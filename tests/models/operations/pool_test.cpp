#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "models/gradient_check.hpp"

namespace dadsim::models {
namespace {

constexpr spec::SampleShape kPooledImage{.height = 7, .width = 6, .channels = 3};
constexpr std::pair<std::int64_t, std::int64_t> kWindows[] = {{2, 2}, {3, 2}, {2, 3}, {1, 1}};

spec::ModelSpec around(spec::LayerSpec layer) {
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{3, spec::Activation::tanh, true, true}, std::move(layer),
                  spec::DenseSpec{4, spec::Activation::identity}};
  return model;
}

TEST(Pool, GradientsEqualCentralDifferences) {
  for (const auto kind : {spec::PoolSpec::Kind::maximum, spec::PoolSpec::Kind::mean}) {
    for (const auto& [size, stride] : kWindows) {
      SCOPED_TRACE(testing::Message() << "size " << size << ", stride " << stride);
      test::expect_right_gradients(around(spec::PoolSpec{kind, size, stride}), kPooledImage);
    }
  }
}

TEST(Pool, TheFirstOfEqualsGetsTheSlope) {
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{1, spec::Activation::identity, true, true},
                  spec::PoolSpec{spec::PoolSpec::Kind::maximum, 2, 2}, spec::DenseSpec{2, spec::Activation::identity}};
  Network network({.height = 2, .width = 2, .channels = 1}, model, 1);
  Tape tape;
  network.forward(Matrix::Constant(1, 4, 0.5F), {}, tape);
  network.loss(std::vector<std::int32_t>{0}, 1, tape);
  network.backpropagate(1, tape);
  const Matrix value_gradients = network.delta(0, tape);
  EXPECT_NE(value_gradients(0, 0), 0.0F);
  EXPECT_EQ(value_gradients.bottomRows(3), Matrix::Zero(3, 1));
}

TEST(Pool, KeepsNaN) {
  spec::ModelSpec model;
  model.layers = {spec::PoolSpec{spec::PoolSpec::Kind::maximum, 2, 2}};
  const Network network({.height = 2, .width = 2, .channels = 1}, model, 1);
  for (Eigen::Index at = 0; at < 4; ++at) {
    Matrix inputs = Matrix::Constant(1, 4, 1.0F);
    inputs(0, at) = std::numeric_limits<float>::quiet_NaN();
    Tape tape;
    network.forward(inputs, {}, tape);
    EXPECT_TRUE(std::isnan(tape.logits()(0, 0))) << at;
  }
}

TEST(Pool, SameBitsForAnyNumberOfThreads) {
  for (const auto kind : {spec::PoolSpec::Kind::maximum, spec::PoolSpec::Kind::mean}) {
    test::expect_same_bits_for_thread_counts(around(spec::PoolSpec{kind, 2, 2}), {16, 16, 8}, 60);
  }
}

TEST(Mean, GradientsEqualCentralDifferences) { test::expect_right_gradients(around(spec::MeanSpec{}), kPooledImage); }

TEST(Mean, BesideAShortcut) {
  // Two branches read the same value: one sets its value_gradient, and the other adds to it.
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{3, spec::Activation::tanh, true, true},
                  spec::ResidualSpec{.layers = {spec::PoolSpec{spec::PoolSpec::Kind::maximum, 7, 7}},
                                     .shortcut = {spec::PoolSpec{spec::PoolSpec::Kind::mean, 7, 7}},
                                     .activation = spec::Activation::identity},
                  spec::DenseSpec{4, spec::Activation::identity}};
  test::expect_right_gradients(model, {.height = 7, .width = 7, .channels = 3});
  model.layers[1] = spec::ResidualSpec{.layers = {spec::MeanSpec{}},
                                       .shortcut = {spec::PoolSpec{spec::PoolSpec::Kind::maximum, 7, 7}},
                                       .activation = spec::Activation::identity};
  test::expect_right_gradients(model, {.height = 7, .width = 7, .channels = 3});
}

TEST(Mean, ByHand) {
  spec::ModelSpec model;
  model.layers = {spec::MeanSpec{}};
  const Network network({.height = 2, .width = 1, .channels = 2}, model, 1);
  Matrix inputs(1, 4);
  inputs << 1, 10, 2, 30;
  Tape tape;
  network.forward(inputs, {}, tape);
  EXPECT_EQ(tape.logits(), (Matrix(1, 2) << 1.5F, 20.0F).finished());
}

TEST(Mean, SameBitsForAnyNumberOfThreads) {
  test::expect_same_bits_for_thread_counts(around(spec::MeanSpec{}), {16, 16, 8}, 60);
}

}  // namespace
}  // namespace dadsim::models
