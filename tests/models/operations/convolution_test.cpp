#include <gtest/gtest.h>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"

namespace dadsim::models {
namespace {

TEST(Convolution, GradientsEqualCentralDifferences) {
  const spec::SampleShape image{.height = 6, .width = 5, .channels = 2};
  for (const spec::ConvolutionSpec& spec :
       {spec::ConvolutionSpec{.filters = 3, .activation = spec::Activation::tanh},
        spec::ConvolutionSpec{
            .filters = 3, .kernel = 2, .stride = 2, .padding = 0, .activation = spec::Activation::gelu},
        spec::ConvolutionSpec{
            .filters = 4, .kernel = 1, .padding = 0, .activation = spec::Activation::sigmoid, .bias = false},
        spec::ConvolutionSpec{
            .filters = 2, .kernel = 5, .stride = 3, .padding = 4, .activation = spec::Activation::relu}}) {
    SCOPED_TRACE(testing::Message() << "kernel " << spec.kernel);
    spec::ModelSpec model;
    // What is below checks dLoss/dx.
    model.layers = {spec::DenseSpec{3, spec::Activation::tanh, true, true}, spec, spec::ConvolutionSpec{.filters = 2},
                    spec::DenseSpec{4, spec::Activation::identity}};
    test::expect_right_gradients(model, image);
  }
}

TEST(Convolution, InAResidualBlock) {
  spec::ModelSpec model;
  const spec::ConvolutionSpec same{.filters = 2, .activation = spec::Activation::tanh};
  model.layers = {spec::DenseSpec{2, spec::Activation::tanh, true, true},
                  spec::ResidualSpec{.layers = {same, same}, .shortcut = {}, .activation = spec::Activation::gelu},
                  spec::ResidualSpec{.layers = {same},
                                     .shortcut = {spec::ConvolutionSpec{.filters = 2, .kernel = 1, .padding = 0}},
                                     .activation = spec::Activation::identity},
                  spec::DenseSpec{3, spec::Activation::identity}};
  test::expect_right_gradients(model, {.height = 3, .width = 4, .channels = 2});
}

TEST(Convolution, PatchesAreOrderedByPixelOfTheKernelAndByChannel) {
  spec::ModelSpec model;
  model.layers = {spec::ConvolutionSpec{.filters = 1, .kernel = 2, .stride = 2, .padding = 1, .bias = false}};
  const spec::SampleShape image{.height = 2, .width = 3, .channels = 2};
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
  spec::ModelSpec model;
  model.layers = {spec::ConvolutionSpec{.filters = 4}, spec::PoolSpec{spec::PoolSpec::Kind::maximum, 3, 2},
                  spec::ConvolutionSpec{.filters = 5, .stride = 2, .padding = 2, .activation = spec::Activation::gelu},
                  spec::PoolSpec{spec::PoolSpec::Kind::mean, 2, 1}, spec::DenseSpec{3, spec::Activation::identity}};
  test::expect_golden("convolution", model, {.height = 9, .width = 8, .channels = 2});
}

TEST(Convolution, SameBitsForAnyNumberOfThreads) {
  spec::ModelSpec model;
  model.layers = {spec::ConvolutionSpec{.filters = 8}, spec::ConvolutionSpec{.filters = 16, .stride = 2},
                  spec::ConvolutionSpec{.filters = 16, .kernel = 1, .padding = 0},
                  spec::DenseSpec{5, spec::Activation::identity}};
  test::expect_same_bits_for_thread_counts(model, {.height = 14, .width = 14, .channels = 3}, 50);
}

}  // namespace
}  // namespace dadsim::models
