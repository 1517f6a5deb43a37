#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>

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
    // The layers before the convolution test dLoss/dx.
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
  inputs << 1, 2, 3, 4, 5, 6,  // the upper row has three pixels of two channels
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

/// Compares forward(), backpropagate() and weight_gradient() with the definition's sums, in double.
template <class T>
void expect_definition(const spec::ConvolutionSpec& spec, const spec::SampleShape& image) {
  SCOPED_TRACE(testing::Message() << "kernel " << spec.kernel << ", stride " << spec.stride << ", padding "
                                  << spec.padding << ", " << image.height << " × " << image.width << " × "
                                  << image.channels << " to " << spec.filters);
  constexpr Eigen::Index kSamples = 9;  // more samples than one sum has
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{image.channels, spec::Activation::identity, true, true}, spec};
  NetworkOf<T> network(image, model, 1);
  network.layer(0).weight.setIdentity();  // an identity, so that dLoss/dx of the picture is computed
  test::disturb_vectors(network, 5);
  TapeOf<T> tape;
  network.forward(test::random_inputs<T>(image, kSamples, 2), {}, tape);
  const spec::SampleShape out = network.output_shape();
  const auto labels = test::random_labels(network, kSamples, 4);
  network.loss(labels, T(kSamples), tape);
  LayerGradientOf<T> gradient;
  network.weight_gradient(1, tape, gradient);
  network.backpropagate(1, tape);

  const MatrixOf<T>& x = tape.values[1];
  const RowsOf<T> delta = network.delta(1, tape);
  const auto& weights = network.layer(1);
  using Doubles = MatrixOf<double>;
  Doubles y = Doubles::Zero(kSamples * out.positions(), out.channels);
  Doubles dx = Doubles::Zero(kSamples, image.size());
  Doubles dw = Doubles::Zero(weights.out(), weights.in());
  for (Eigen::Index row = 0; row < y.rows(); ++row) {
    const Eigen::Index sample = row / out.positions();
    const Eigen::Index oy = row % out.positions() / out.width;
    const Eigen::Index ox = row % out.width;
    if (weights.has_bias()) y.row(row) = weights.bias.transpose().template cast<double>();
    for (Eigen::Index k = 0; k < weights.in(); ++k) {
      const Eigen::Index in_y = oy * spec.stride - spec.padding + k / image.channels / spec.kernel;
      const Eigen::Index in_x = ox * spec.stride - spec.padding + k / image.channels % spec.kernel;
      if (in_y < 0 || in_y >= image.height || in_x < 0 || in_x >= image.width) continue;
      const Eigen::Index at = (in_y * image.width + in_x) * image.channels + k % image.channels;
      for (Eigen::Index f = 0; f < out.channels; ++f) {
        const auto w = static_cast<double>(weights.weight(f, k));
        y(row, f) += w * static_cast<double>(x(sample, at));
        dx(sample, at) += w * static_cast<double>(delta(row, f));
        dw(f, k) += static_cast<double>(delta(row, f)) * static_cast<double>(x(sample, at));
      }
    }
  }
  const auto expect_close = [](const Doubles& is, const Doubles& should, const char* what) {
    const double scale = std::max(1.0, should.cwiseAbs().maxCoeff());
    EXPECT_LE((is - should).cwiseAbs().maxCoeff(), 100 * scale * static_cast<double>(std::numeric_limits<T>::epsilon()))
        << what;
  };
  expect_close(as_rows(tape.logits(), Eigen::Index{out.channels}).template cast<double>(), y, "y");
  expect_close(tape.value_gradients[1].template cast<double>(), dx, "dx");
  expect_close(gradient.weight.template cast<double>(), dw, "dW");
  // Gathering the rows only at this point gives the same result.
  LayerGradientOf<T> of_rows;
  weight_gradient<T>(delta, network.input(1, tape), weights.has_bias(), of_rows);
  expect_close(of_rows.weight.template cast<double>(), dw, "dW of rows");
  EXPECT_EQ(gradient.bias, of_rows.bias);
}

TEST(Convolution, IsItsDefinitionForAnyShape) {
  for (const auto& [kernel, stride, padding] :
       {std::tuple(1, 1, 0), std::tuple(1, 2, 0), std::tuple(1, 2, 1), std::tuple(2, 3, 0), std::tuple(2, 1, 1),
        std::tuple(3, 1, 1), std::tuple(3, 2, 1), std::tuple(3, 1, 4), std::tuple(5, 1, 2), std::tuple(5, 3, 4),
        std::tuple(5, 2, 0), std::tuple(4, 4, 2)}) {
    for (const auto& [channels, filters] :
         {std::tuple(1, 6), std::tuple(3, 16), std::tuple(7, 17), std::tuple(16, 33), std::tuple(20, 1)}) {
      const spec::ConvolutionSpec spec{.filters = filters,
                                       .kernel = kernel,
                                       .stride = stride,
                                       .padding = padding,
                                       .activation = spec::Activation::identity,
                                       .bias = filters % 2 == 0};
      expect_definition<float>(spec, {.height = 7, .width = 9, .channels = channels});
      expect_definition<double>(spec, {.height = 5, .width = 6, .channels = channels});
    }
  }
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
