#include "models/network.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "models/backward.hpp"
#include "models/optimizer.hpp"
#include "models/thread_counts.hpp"
#include "models/uniform.hpp"
#include "support/random.hpp"

namespace dadsim::models {
namespace {

template <class T>
MatrixOf<T> random_matrix(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  RandomStream random(seed, Purpose::test);
  MatrixOf<T> m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<T>(uniform(random, -1, 1));
  return m;
}

std::vector<std::int32_t> random_labels(std::size_t rows, std::int32_t classes, std::uint64_t seed) {
  RandomStream random(seed, Purpose::test, 1);
  std::vector<std::int32_t> labels(rows);
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>(uniform(random, 0, classes));
  return labels;
}

using test::backward;

spec::ModelSpec mlp(const std::vector<std::int64_t>& widths, spec::Activation hidden, spec::Activation last,
                    bool bias) {
  spec::ModelSpec spec;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    spec.layers.push_back(spec::DenseSpec{widths[i], i + 1 < widths.size() ? hidden : last, bias});
  }
  return spec;
}

// Activation of the hidden layers, of the last layer, bias, number of layers.
using GradientCase = std::tuple<spec::Activation, spec::Activation, bool, int>;
class GradientCheck : public testing::TestWithParam<GradientCase> {};

TEST_P(GradientCheck, EqualsCentralDifferences) {
  const auto [hidden, last, bias, layers] = GetParam();
  std::vector<std::int64_t> widths(static_cast<std::size_t>(layers), 6);
  widths.back() = 4;
  NetworkOf<double> network(5, mlp(widths, hidden, last, bias), 11);
  if (bias) {
    for (std::size_t l = 0; l < network.layers(); ++l) {
      network.layer(l).bias = random_matrix<double>(network.layer(l).out(), 1, 20 + l);
    }
  }
  const MatrixOf<double> inputs = random_matrix<double>(7, 5, 3);
  const auto labels = random_labels(7, 4, 4);
  TapeOf<double> tape;
  GradientOf<double> gradient;
  backward(network, inputs, labels, tape, &gradient);

  const double h = 1e-5;
  TapeOf<double> scratch;
  const auto value_gradient = [&](double& parameter) {
    const double kept = parameter;
    parameter = kept + h;
    const double above = backward<double>(network, inputs, labels, scratch, nullptr);
    parameter = kept - h;
    const double below = backward<double>(network, inputs, labels, scratch, nullptr);
    parameter = kept;
    return (above - below) / (2 * h);
  };
  for (std::size_t l = 0; l < network.layers(); ++l) {
    MatrixOf<double> numeric(network.layer(l).out(), network.layer(l).in());
    for (Eigen::Index i = 0; i < numeric.size(); ++i)
      numeric.data()[i] = value_gradient(network.layer(l).weight.data()[i]);
    ASSERT_GT(gradient.matrices[l].weight.norm(), 1e-6);
    EXPECT_LT((numeric - gradient.matrices[l].weight).norm() / gradient.matrices[l].weight.norm(), 1e-6)
        << "weights of layer " << l;
    ASSERT_EQ(gradient.matrices[l].bias.size(), bias ? network.layer(l).out() : 0);
    if (bias) {
      VectorOf<double> numeric_bias(network.layer(l).out());
      for (Eigen::Index i = 0; i < numeric_bias.size(); ++i) numeric_bias[i] = value_gradient(network.layer(l).bias[i]);
      EXPECT_LT((numeric_bias - gradient.matrices[l].bias).norm() / gradient.matrices[l].bias.norm(), 1e-6)
          << "biases of layer " << l;
    }
  }
}

constexpr spec::Activation kAll[] = {spec::Activation::identity, spec::Activation::relu, spec::Activation::tanh,
                                     spec::Activation::sigmoid, spec::Activation::gelu};
INSTANTIATE_TEST_SUITE_P(Hidden, GradientCheck,
                         testing::Combine(testing::ValuesIn(kAll), testing::Values(spec::Activation::identity),
                                          testing::Bool(), testing::Values(2, 3, 4)));
INSTANTIATE_TEST_SUITE_P(Last, GradientCheck,
                         testing::Combine(testing::Values(spec::Activation::tanh), testing::ValuesIn(kAll),
                                          testing::Bool(), testing::Values(1, 2)));

TEST(Activation, ValuesByHand) {
  MatrixOf<double> z(1, 3);
  z << -1.0, 0.0, 2.0;
  const auto of = [&](spec::Activation activation) {
    MatrixOf<double> a = z;
    activate(activation, a);
    return a;
  };
  EXPECT_EQ(of(spec::Activation::identity), z);
  EXPECT_EQ(of(spec::Activation::relu), (MatrixOf<double>(1, 3) << 0.0, 0.0, 2.0).finished());
  EXPECT_NEAR(of(spec::Activation::tanh)(0, 2), 0.96402758007581688, 1e-15);
  EXPECT_NEAR(of(spec::Activation::sigmoid)(0, 0), 0.26894142136999512, 1e-15);
  // Expected values are z·Φ(z) with Φ(−1) = 0.158655253931457 and Φ(2) = 0.977249868051821, from tables of the normal
  // distribution.
  EXPECT_NEAR(of(spec::Activation::gelu)(0, 0), -0.158655253931457, 1e-14);
  EXPECT_NEAR(of(spec::Activation::gelu)(0, 2), 2 * 0.977249868051821, 1e-14);
}

TEST(Activation, DerivativeFromOutputEqualsDerivativeFromInput) {
  const MatrixOf<double> z = 3 * random_matrix<double>(300, 17, 1);
  for (const spec::Activation activation : kAll) {
    MatrixOf<double> a = z;
    activate(activation, a);
    MatrixOf<double> from_input = random_matrix<double>(300, 17, 2);
    MatrixOf<double> from_output = from_input;
    multiply_derivative(activation, z, from_input);
    if (!derivative_from_output(activation)) {
      EXPECT_THROW(multiply_derivative_from_output(activation, a, from_output), std::logic_error);
      continue;
    }
    multiply_derivative_from_output(activation, a, from_output);
    EXPECT_LT((from_input - from_output).cwiseAbs().maxCoeff(), 1e-14) << to_string(activation);
  }
}

TEST(Activation, KeepsNaN) {
  for (const spec::Activation activation : kAll) {
    Matrix z = Matrix::Constant(3, 37, std::numeric_limits<float>::quiet_NaN());
    activate(activation, z);
    EXPECT_TRUE(z.array().isNaN().all()) << to_string(activation);
  }
}

TEST(Activation, RefusesOtherShapes) {
  const Matrix a = Matrix::Zero(3, 4);
  Matrix delta = Matrix::Zero(3, 5);
  EXPECT_THROW(multiply_derivative(spec::Activation::tanh, a, delta), std::logic_error);
  EXPECT_THROW(multiply_derivative_from_output(spec::Activation::tanh, a, delta), std::logic_error);
}

TEST(Network, ForwardByHand) {
  NetworkOf<double> network(2, mlp({2, 2}, spec::Activation::relu, spec::Activation::identity, true), 1);
  network.layer(0).weight << 1, 2, -1, 0;
  network.layer(0).bias << 0.5, 0.25;
  network.layer(1).weight << 1, 1, 2, -1;
  network.layer(1).bias << 0, 1;
  MatrixOf<double> x(2, 2);
  x << 1, 1, -1, 0;
  TapeOf<double> tape;
  network.forward(x, Pass{}, tape);
  EXPECT_EQ(tape.values[0], x);
  EXPECT_EQ(tape.values[1], (MatrixOf<double>(2, 2) << 3.5, 0, 0, 1.25).finished());
  EXPECT_EQ(tape.values[2], (MatrixOf<double>(2, 2) << 3.5, 8, 1.25, -0.25).finished());

  // The loss is −log softmax, with differences of logits of 4.5 and 1.5 in the two rows.
  const std::vector<std::int32_t> labels{0, 0};
  const double loss = network.loss(labels, 2.0, tape);
  EXPECT_NEAR(loss, 0.5 * (std::log1p(std::exp(4.5)) + std::log1p(std::exp(-1.5))), 1e-15);
  const double p = 1 / (1 + std::exp(-4.5));
  EXPECT_NEAR(tape.value_gradients[2](0, 0), -p / 2, 1e-15);
  EXPECT_NEAR(tape.value_gradients[2](0, 1), p / 2, 1e-15);
}

TEST(Network, SmoothedLossByHand) {
  NetworkOf<double> network(1, mlp({3}, spec::Activation::identity, spec::Activation::identity, false), 1);
  network.layer(0).weight << 1, -2, 0.5;
  TapeOf<double> tape;
  MatrixOf<double> x(2, 1);
  x << 1, -0.5;
  network.forward(x, Pass{}, tape);
  const std::vector<std::int32_t> labels{2, 0};
  const std::vector<double> weights{1, 3};  // weights of the rows
  constexpr double kSmoothing = 0.3;
  const double loss = network.loss(labels, 2.0, tape, weights, kSmoothing);
  // Smoothing puts 1 − ε on the label and ε ÷ 3 on each class: 0.1, 0.1, 0.8 in the first row and 0.8, 0.1, 0.1 in the
  // second.
  double expected = 0;
  for (Eigen::Index row = 0; row < 2; ++row) {
    const Eigen::Array3d z = tape.values[1].row(row).transpose().array();
    const Eigen::Array3d log_p = z - std::log(z.exp().sum());
    Eigen::Array3d target = Eigen::Array3d::Constant(0.1);
    target(labels[static_cast<std::size_t>(row)]) = 0.8;
    const double weight = weights[static_cast<std::size_t>(row)];
    expected -= weight * (target * log_p).sum() / 2;
    const Eigen::Array3d gradient = tape.value_gradients[1].row(row).transpose().array();
    EXPECT_LT((gradient - weight * (log_p.exp() - target) / 2).abs().maxCoeff(), 1e-14) << row;
  }
  EXPECT_NEAR(loss, expected, 1e-14);
  EXPECT_THROW(network.loss(labels, 2.0, tape, {}, 1.0), std::logic_error);
  EXPECT_THROW(network.loss(labels, 2.0, tape, {}, -0.1), std::logic_error);
}

TEST(Network, GradientOfTheSmoothedLossIsThatOfDifferences) {
  NetworkOf<double> network(9, mlp({8, 5}, spec::Activation::gelu, spec::Activation::identity, true), 5);
  const MatrixOf<double> inputs = random_matrix<double>(12, 9, 6);
  const auto labels = random_labels(12, 5, 7);
  constexpr double kSmoothing = 0.25;
  TapeOf<double> tape;
  const auto loss = [&] {
    network.forward(inputs, Pass{}, tape);
    return network.loss(labels, 12.0, tape, {}, kSmoothing);
  };
  loss();
  const MatrixOf<double> last = network.delta(1, tape).transpose() * network.input(1, tape);
  network.backpropagate(1, tape);
  const MatrixOf<double> first = network.delta(0, tape).transpose() * network.input(0, tape);
  constexpr double kStep = 1e-5;
  for (const auto& [l, gradient] : {std::pair{0, first}, std::pair{1, last}}) {
    auto& weight = network.layer(static_cast<std::size_t>(l)).weight;
    for (Eigen::Index i = 0; i < weight.size(); ++i) {
      const double before = weight.data()[i];
      weight.data()[i] = before + kStep;
      const double above = loss();
      weight.data()[i] = before - kStep;
      const double below = loss();
      weight.data()[i] = before;
      // Central differences have an error of about the squared step plus rounding ÷ step.
      EXPECT_NEAR(gradient.data()[i], (above - below) / (2 * kStep), 1e-9) << l << ' ' << i;
    }
  }
}

TEST(Network, LossIsStableForHugeLogits) {
  Network network(1, mlp({3}, spec::Activation::identity, spec::Activation::identity, false), 1);
  network.layer(0).weight << 1e30F, 0.0F, -1e30F;
  Tape tape;
  network.forward(Matrix::Ones(2, 1), Pass{}, tape);
  const std::vector<std::int32_t> labels{0, 0};
  EXPECT_EQ(network.loss(labels, 2.0F, tape), 0.0F);
  EXPECT_TRUE(tape.value_gradients[1].allFinite());
}

TEST(Network, SitesAddUpToThePooledGradient) {
  NetworkOf<double> network(9, mlp({8, 5}, spec::Activation::gelu, spec::Activation::identity, true), 5);
  const MatrixOf<double> inputs = random_matrix<double>(12, 9, 6);
  const auto labels = random_labels(12, 5, 7);
  TapeOf<double> pooled;
  GradientOf<double> gradient;
  const double loss = backward(network, inputs, labels, pooled, &gradient);

  // Each of the unequal sites has its own tape, and the denominator counts the rows of all sites.
  double sum_of_losses = 0;
  std::vector<MatrixOf<double>> sums{MatrixOf<double>::Zero(8, 9), MatrixOf<double>::Zero(5, 8)};
  Eigen::Index first = 0;
  for (const Eigen::Index rows : {1, 4, 7}) {
    TapeOf<double> tape;
    network.forward(inputs.middleRows(first, rows), Pass{}, tape);
    sum_of_losses += network.loss(
        std::span(labels).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows)), 12.0, tape);
    network.backpropagate(1, tape);
    for (std::size_t l = 0; l < 2; ++l) {
      sums[l] += weight_gradient<double>(tape.value_gradients[l + 1], tape.values[l], true).weight;
      // The rows of a site in the stacked pass equal the site's own pass.
      EXPECT_LT((network.delta(l, pooled).middleRows(first, rows) - tape.value_gradients[l + 1]).norm(), 1e-14);
      const auto block = weight_gradient<double>(network.delta(l, pooled).middleRows(first, rows),
                                                 network.input(l, pooled).middleRows(first, rows), true);
      EXPECT_LT((block.weight - tape.value_gradients[l + 1].transpose() * tape.values[l]).norm(), 1e-14);
      EXPECT_LT((block.bias - tape.value_gradients[l + 1].colwise().sum().transpose()).norm(), 1e-14);
    }
    first += rows;
  }
  EXPECT_NEAR(sum_of_losses, loss, 1e-14);
  for (std::size_t l = 0; l < 2; ++l) EXPECT_LT((sums[l] - gradient.matrices[l].weight).norm(), 1e-14);
}

// Sizes are larger than one tile, and no multiples of a tile.
TEST(Network, TilesGiveThePlainProducts) {
  NetworkOf<double> network(130, mlp({300, 1100, 11}, spec::Activation::tanh, spec::Activation::identity, true), 8);
  const MatrixOf<double> inputs = random_matrix<double>(515, 130, 9);
  const auto labels = random_labels(515, 11, 10);
  TapeOf<double> tape;
  GradientOf<double> gradient;
  backward(network, inputs, labels, tape, &gradient);
  for (std::size_t l = 0; l < 3; ++l) {
    MatrixOf<double> z = tape.values[l] * network.layer(l).weight.transpose();
    z.rowwise() += network.layer(l).bias.transpose();
    if (l < 2) z = z.array().tanh();
    EXPECT_LT((z - tape.values[l + 1]).cwiseAbs().maxCoeff(), 1e-12);
    const MatrixOf<double> g = tape.value_gradients[l + 1].transpose() * tape.values[l];
    EXPECT_LT((g - gradient.matrices[l].weight).norm(), 1e-12 * g.norm());
    if (l > 0) {
      MatrixOf<double> below = tape.value_gradients[l + 1] * network.layer(l).weight;
      below.array() *= 1 - tape.values[l].array().square();
      EXPECT_LT((below - tape.value_gradients[l]).norm(), 1e-12 * below.norm());
    }
  }
}

TEST(Network, ForwardRowsEqualsForward) {
  const Network network(20, mlp({30, 4}, spec::Activation::gelu, spec::Activation::identity, true), 2);
  const Matrix inputs = random_matrix<float>(50, 20, 3);
  Tape tape;
  network.forward(inputs, Pass{}, tape);
  Matrix z;
  const Matrix hidden = forward_rows<float>(network.layer(0), spec::Activation::gelu, inputs, &z);
  EXPECT_TRUE(test::same_bits(hidden, tape.values[1]));
  EXPECT_TRUE(test::same_bits(z, tape.scratch[0].matrices[0]));
  EXPECT_TRUE(test::same_bits(forward_rows<float>(network.layer(1), spec::Activation::identity, hidden, nullptr),
                              tape.values[2]));
}

TEST(Network, KeepsItsMemoryFromStepToStep) {
  const Network network(20, mlp({30, 4}, spec::Activation::gelu, spec::Activation::identity, true), 2);
  const auto labels = random_labels(50, 4, 1);
  Tape tape;
  Gradient gradient;
  backward<float>(network, random_matrix<float>(50, 20, 3), labels, tape, &gradient);
  std::vector<const float*> before;
  const auto places = [&] {
    std::vector<const float*> list;
    for (const auto* group : {&tape.values, &tape.scratch[0].matrices, &tape.value_gradients}) {
      for (const Matrix& m : *group) list.push_back(m.data());
    }
    for (const LayerGradient& g : gradient.matrices) list.insert(list.end(), {g.weight.data(), g.bias.data()});
    return list;
  };
  before = places();
  const Matrix next = random_matrix<float>(50, 20, 4);
  backward<float>(network, next, labels, tape, &gradient);
  EXPECT_EQ(places(), before);
  EXPECT_TRUE(test::same_bits(tape.values[0], next));
  // Inputs that are already on the tape are not copied.
  network.forward(tape.inputs(), Pass{}, tape);
  EXPECT_EQ(places(), before);
  EXPECT_TRUE(test::same_bits(tape.values[0], next));
}

TEST(Network, InitialWeightsFillTheirRange) {
  const Network he(400, mlp({100, 50, 10}, spec::Activation::relu, spec::Activation::identity, true), 3);
  const auto check = [](const WeightsOf<float>& layer, double limit) {
    EXPECT_LE(layer.weight.cwiseAbs().maxCoeff(), static_cast<float>(limit));
    EXPECT_GT(layer.weight.maxCoeff(), 0.95 * limit);
    EXPECT_LT(layer.weight.minCoeff(), -0.95 * limit);
    EXPECT_NEAR(layer.weight.cast<double>().mean(), 0,
                4 * limit / std::sqrt(3.0 * static_cast<double>(layer.weight.size())));
    EXPECT_EQ(layer.bias.cwiseAbs().sum(), 0.0F);
  };
  check(he.layer(0), std::sqrt(6.0 / 400));
  check(he.layer(1), std::sqrt(6.0 / 100));
  check(he.layer(2), std::sqrt(6.0 / 60));
  const NetworkOf<double> same(400, mlp({100, 50, 10}, spec::Activation::relu, spec::Activation::identity, true), 3);
  EXPECT_EQ(same.layer(1).weight.cast<float>(), he.layer(1).weight);
  const Network other(400, mlp({100, 50, 10}, spec::Activation::relu, spec::Activation::identity, true), 4);
  EXPECT_NE(other.layer(0).weight, he.layer(0).weight);
}

TEST(Network, InitialWeightsFillTheRangeThatIsAskedFor) {
  for (const std::optional<double> initial : {std::optional<double>(), std::optional<double>(0.03)}) {
    spec::ConvolutionSpec convolution{.filters = 30, .kernel = 5, .padding = 2};
    convolution.initial_limit = initial;
    spec::DenseSpec dense{.units = 10, .activation = spec::Activation::identity};
    dense.initial_limit = initial;
    const Network network({.height = 4, .width = 4, .channels = 3}, {"", {convolution, dense}}, 3);
    const std::array<double, 2> limits = {initial.value_or(std::sqrt(6.0 / (25 * 3))),
                                          initial.value_or(std::sqrt(6.0 / (480 + 10)))};
    for (std::size_t l = 0; l < 2; ++l) {
      EXPECT_LE(network.layer(l).weight.cwiseAbs().maxCoeff(), static_cast<float>(limits[l]));
      EXPECT_GT(network.layer(l).weight.maxCoeff(), 0.95 * limits[l]);
      EXPECT_LT(network.layer(l).weight.minCoeff(), -0.95 * limits[l]);
    }
  }
}

TEST(Network, NameAndShape) {
  const Network network(784, mlp({512, 256, 10}, spec::Activation::relu, spec::Activation::identity, false), 1);
  EXPECT_EQ(network.name(), "MLP 784-512-256-10");
  const spec::ModelShape shape = network.shape();
  ASSERT_EQ(shape.layers.size(), 3U);
  spec::LayerShape second = spec::dense_shape("fc2", 512, 256, false);
  second.delta_follows = true;  // nothing but a ReLU is between this layer and the next
  EXPECT_EQ(shape.layers[1], second);
  EXPECT_FALSE(shape.layers[2].delta_follows);
  EXPECT_EQ(shape.parameters(), 535040);
}

TEST(Network, RefusesWhatDoesNotFit) {
  const spec::ModelSpec spec = mlp({4, 3}, spec::Activation::relu, spec::Activation::identity, true);
  EXPECT_THROW(Network(0, spec, 1), std::logic_error);
  EXPECT_THROW(Network(5, spec::ModelSpec{}, 1), std::logic_error);
  const Network network(5, spec, 1);
  Tape tape;
  EXPECT_THROW(network.loss(std::vector<std::int32_t>{0}, 1.0F, tape), std::logic_error);
  EXPECT_THROW(network.forward(Matrix::Zero(2, 4), Pass{}, tape), std::logic_error);
  network.forward(Matrix::Zero(2, 5), Pass{}, tape);
  EXPECT_THROW(network.loss(std::vector<std::int32_t>{0}, 1.0F, tape), std::logic_error);
  EXPECT_THROW(network.loss(std::vector<std::int32_t>{0, 3}, 2.0F, tape), std::logic_error);
  EXPECT_THROW(network.loss(std::vector<std::int32_t>{0, -1}, 2.0F, tape), std::logic_error);
  EXPECT_THROW(network.loss(std::vector<std::int32_t>{0, 1}, 0.0F, tape), std::logic_error);
  EXPECT_THROW(network.backpropagate(0, tape), std::logic_error);
  EXPECT_THROW(network.backpropagate(2, tape), std::logic_error);
  EXPECT_THROW(weight_gradient<float>(Matrix::Zero(2, 3), Matrix::Zero(3, 3), true), std::logic_error);
}

TEST(Network, SameBitsForAnyNumberOfThreads) {
  const Matrix inputs = random_matrix<float>(600, 300, 1);
  const auto labels = random_labels(600, 10, 2);
  for (const spec::Activation activation : {spec::Activation::relu, spec::Activation::gelu}) {
    test::expect_same_for_thread_counts(
        [&] {
          Network network(300, mlp({700, 300, 10}, activation, spec::Activation::identity, true), 1);
          const auto optimizer = make_optimizer(spec::OptimizerSpec{}, network);
          Tape tape;
          Gradient gradient;
          for (int step = 0; step < 3; ++step) {
            backward(network, inputs, labels, tape, &gradient);
            optimizer->update(network, gradient, 1e-3);
          }
          std::vector<Matrix> weights;
          for (std::size_t l = 0; l < network.layers(); ++l) {
            weights.push_back(network.layer(l).weight);
            weights.emplace_back(network.layer(l).bias);
          }
          return weights;
        },
        [](const auto& a, const auto& b) {
          return std::equal(a.begin(), a.end(), b.begin(), b.end(), test::same_bits);
        });
  }
}

}  // namespace
}  // namespace dadsim::models
