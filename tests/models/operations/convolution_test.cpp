#include <gtest/gtest.h>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"

namespace dadsim {
namespace {

TEST(Convolution, GradientsEqualCentralDifferences) {
  const SampleShape image{.height = 6, .width = 5, .channels = 2};
  for (const ConvolutionSpec& spec :
       {ConvolutionSpec{.filters = 3, .activation = Activation::tanh},
        ConvolutionSpec{.filters = 3, .kernel = 2, .stride = 2, .padding = 0, .activation = Activation::gelu},
        ConvolutionSpec{.filters = 4, .kernel = 1, .padding = 0, .activation = Activation::sigmoid, .bias = false},
        ConvolutionSpec{.filters = 2, .kernel = 5, .stride = 3, .padding = 4, .activation = Activation::relu}}) {
    SCOPED_TRACE(testing::Message() << "kernel " << spec.kernel);
    ModelSpec model;
    // What is below checks dLoss/dx.
    model.layers = {DenseSpec{3, Activation::tanh, true, true}, spec, ConvolutionSpec{.filters = 2},
                    DenseSpec{4, Activation::identity}};
    test::expect_right_gradients(model, image);
  }
}

TEST(Convolution, InAResidualBlock) {
  ModelSpec model;
  const ConvolutionSpec same{.filters = 2, .activation = Activation::tanh};
  model.layers = {DenseSpec{2, Activation::tanh, true, true},
                  ResidualSpec{.layers = {same, same}, .shortcut = {}, .activation = Activation::gelu},
                  ResidualSpec{.layers = {same},
                               .shortcut = {ConvolutionSpec{.filters = 2, .kernel = 1, .padding = 0}},
                               .activation = Activation::identity},
                  DenseSpec{3, Activation::identity}};
  test::expect_right_gradients(model, {.height = 3, .width = 4, .channels = 2});
}

TEST(Convolution, PatchesAreOrderedByPixelOfTheKernelAndByChannel) {
  ModelSpec model;
  model.layers = {ConvolutionSpec{.filters = 1, .kernel = 2, .stride = 2, .padding = 1, .bias = false}};
  const SampleShape image{.height = 2, .width = 3, .channels = 2};
  Network network(image, model, 1);
  Matrix inputs(1, 12);
  inputs << 1, 2, 3, 4, 5, 6,  // the upper row: three pixels of two channels
      7, 8, 9, 10, 11, 12;
  Tape tape;
  network.forward(inputs, {}, tape);
  Matrix expected(4, 8);
  expected << 0, 0, 0, 0, 0, 0, 1, 2,  //
      0, 0, 0, 0, 3, 4, 5, 6,          //
      0, 0, 7, 8, 0, 0, 0, 0,          //
      9, 10, 11, 12, 0, 0, 0, 0;
  EXPECT_EQ(Matrix(network.input(0, tape)), expected);
}

TEST(Convolution, EqualsPyTorch) {
  ModelSpec model;
  model.layers = {ConvolutionSpec{.filters = 4}, PoolSpec{PoolSpec::Kind::maximum, 3, 2},
                  ConvolutionSpec{.filters = 5, .stride = 2, .padding = 2, .activation = Activation::gelu},
                  PoolSpec{PoolSpec::Kind::mean, 2, 1}, DenseSpec{3, Activation::identity}};
  test::expect_golden("convolution", model, {.height = 9, .width = 8, .channels = 2});
}

TEST(Convolution, SameBitsForAnyNumberOfThreads) {
  ModelSpec model;
  model.layers = {ConvolutionSpec{.filters = 8}, ConvolutionSpec{.filters = 16, .stride = 2},
                  ConvolutionSpec{.filters = 16, .kernel = 1, .padding = 0}, DenseSpec{5, Activation::identity}};
  test::expect_same_bits_for_thread_counts(model, {.height = 14, .width = 14, .channels = 3}, 50);
}

}  // namespace
}  // namespace dadsim
