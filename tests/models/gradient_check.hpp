#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "models/network.hpp"
#include "models/thread_counts.hpp"
#include "models/uniform.hpp"
#include "support/random.hpp"

// Checks a network's gradients, for any ModelSpec.
//
// EXAMPLE
//     ModelSpec spec{.layers = {ConvolutionSpec{.filters = 3}, MeanSpec{}, DenseSpec{4, Activation::identity}}};
//     test::expect_right_gradients(spec, {.height = 5, .width = 4, .channels = 2});
//     test::expect_same_bits_for_thread_counts(spec, {.height = 5, .width = 4, .channels = 2}, 300);

namespace dadsim::test {

/// Returns numbers drawn evenly from −1 to 1.
template <class T>
models::MatrixOf<T> random_matrix(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  RandomStream random(seed, Purpose::test);
  models::MatrixOf<T> m(rows, cols);
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = static_cast<T>(models::uniform(random, -1, 1));
  return m;
}

/// Returns samples × sample.size() values, or symbols if the sample consists of symbols.
template <class T>
models::MatrixOf<T> random_inputs(const spec::SampleShape& sample, Eigen::Index samples, std::uint64_t seed) {
  models::MatrixOf<T> inputs = random_matrix<T>(samples, sample.size(), seed);
  if (sample.vocabulary == 0) return inputs;
  const auto symbol = [&](T value) {
    return static_cast<T>(static_cast<int>((value + 1) / 2 * static_cast<T>(sample.vocabulary)));
  };
  return inputs.unaryExpr(symbol);
}

inline std::vector<std::int32_t> random_labels(std::size_t rows, std::int64_t classes, std::uint64_t seed) {
  RandomStream random(seed, Purpose::test, 1);
  std::vector<std::int32_t> labels(rows);
  for (std::int32_t& label : labels) {
    label = static_cast<std::int32_t>(models::uniform(random, 0, static_cast<double>(classes)));
  }
  return labels;
}

/// Returns one label for each row of logits.
template <class T>
std::vector<std::int32_t> random_labels(const models::NetworkOf<T>& network, Eigen::Index samples, std::uint64_t seed) {
  const spec::SampleShape out = network.output_shape();
  return random_labels(static_cast<std::size_t>(samples * out.positions()), out.channels, seed);
}

/// Changes biases, gains and shifts, since zeros and ones would hide mistakes.
template <class T>
void disturb_vectors(models::NetworkOf<T>& network, std::uint64_t seed) {
  for (models::WeightsOf<T>& weights : network.parameters().matrices) {
    if (weights.has_bias()) weights.bias += random_matrix<T>(weights.out(), 1, ++seed) / T(2);
  }
  for (models::VectorOf<T>& vector : network.parameters().vectors) {
    vector += random_matrix<T>(vector.size(), 1, ++seed) / T(2);
  }
}

/// Returns the loss. Unless `gradient` is null, also computes the gradient of all parameters.
template <class T>
T loss_and_gradient(const models::NetworkOf<T>& network, const models::MatrixOf<T>& inputs,
                    const std::vector<std::int32_t>& labels, const models::Pass& pass, models::TapeOf<T>& tape,
                    models::GradientOf<T>* gradient) {
  network.forward(inputs, pass, tape);
  const T loss = network.loss(labels, static_cast<T>(labels.size()), tape);
  if (gradient == nullptr) return loss;
  gradient->matrices.resize(network.layers());
  for (std::size_t l = network.layers(); l-- > 0;) {
    const models::WeightsOf<T>& weights = network.layer(l);
    if (!weights.embedding) {
      models::weight_gradient<T>(network.delta(l, tape), network.input(l, tape), weights.has_bias(),
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

struct GradientCheck {
  Eigen::Index samples = 4;
  models::Pass pass{.training = true, .sites = {}, .seed = 5, .step = 3};
  std::uint64_t seed = 11;  ///< draws weights, inputs and labels
};

/// Compares the gradient of every matrix, table, bias and vector with central differences, in double. A matrix's
/// gradient is Δᵀ A by construction. Also checks that A and Δ have the rows that the network's shape states.
inline void expect_right_gradients(const spec::ModelSpec& spec, const spec::SampleShape& sample,
                                   const GradientCheck& check = {}) {
  models::NetworkOf<double> network(sample, spec, check.seed);
  disturb_vectors(network, 100 * check.seed);
  const models::MatrixOf<double> inputs = random_inputs<double>(sample, check.samples, check.seed + 1);
  const auto labels = random_labels(network, check.samples, check.seed + 2);
  models::TapeOf<double> tape;
  models::GradientOf<double> gradient;
  loss_and_gradient(network, inputs, labels, check.pass, tape, &gradient);

  std::vector<spec::LayerShape> shapes;
  for (const spec::LayerShape& shape : network.shape().layers) {
    if (shape.has_matrix()) shapes.push_back(shape);
  }
  ASSERT_EQ(shapes.size(), network.layers());
  for (std::size_t l = 0; l < network.layers(); ++l) {
    EXPECT_EQ(shapes[l].in, network.layer(l).in()) << "matrix " << l;
    EXPECT_EQ(shapes[l].out, network.layer(l).out()) << "matrix " << l;
    EXPECT_EQ(shapes[l].has_outer_product(), !network.layer(l).embedding) << "matrix " << l;
    if (network.layer(l).embedding) continue;
    const Eigen::Index rows = check.samples * shapes[l].rows_per_sample;
    EXPECT_EQ(network.input(l, tape).rows(), rows) << "matrix " << l;
    EXPECT_EQ(network.delta(l, tape).rows(), rows) << "matrix " << l;
  }

  models::TapeOf<double> scratch;
  const auto value_gradient = [&](double& parameter) {
    constexpr double kStep = 1e-5;
    const double kept = parameter;
    parameter = kept + kStep;
    const double above = loss_and_gradient<double>(network, inputs, labels, check.pass, scratch, nullptr);
    parameter = kept - kStep;
    const double below = loss_and_gradient<double>(network, inputs, labels, check.pass, scratch, nullptr);
    parameter = kept;
    return (above - below) / (2 * kStep);
  };
  // A gradient of exactly zero (a bias before a batch norm) is known only to 1e-9, as the loss has 16 digits.
  const auto expect_equal = [&](auto& parameter, const auto& analytic, const std::string& what) {
    ASSERT_EQ(parameter.rows(), analytic.rows()) << what;
    ASSERT_EQ(parameter.cols(), analytic.cols()) << what;
    auto numeric = parameter;
    for (Eigen::Index i = 0; i < parameter.size(); ++i) numeric.data()[i] = value_gradient(parameter.data()[i]);
    EXPECT_LT((numeric - analytic).norm(), 1e-6 * std::max(analytic.norm(), 1e-3)) << what;
  };
  ASSERT_EQ(gradient.matrices.size(), network.layers());
  for (std::size_t l = 0; l < network.layers(); ++l) {
    EXPECT_GT(gradient.matrices[l].weight.norm(), 1e-6) << "matrix " << l << " has no gradient to check";
    expect_equal(network.layer(l).weight, gradient.matrices[l].weight, "weights of matrix " + std::to_string(l));
    expect_equal(network.layer(l).bias, gradient.matrices[l].bias, "biases of matrix " + std::to_string(l));
  }
  ASSERT_EQ(gradient.vectors.size(), network.parameters().vectors.size());
  for (std::size_t v = 0; v < gradient.vectors.size(); ++v) {
    expect_equal(network.parameters().vectors[v], gradient.vectors[v], "vector " + std::to_string(v));
  }
}

/// Expects the same bits from forward and backward passes in float with 1, 2 and 4 threads.
inline void expect_same_bits_for_thread_counts(const spec::ModelSpec& spec, const spec::SampleShape& sample,
                                               Eigen::Index samples,
                                               const models::Pass& pass = {
                                                   .training = true, .sites = {}, .seed = 5, .step = 3}) {
  models::Network network(sample, spec, 7);
  disturb_vectors(network, 700);
  const models::Matrix inputs = random_inputs<float>(sample, samples, 8);
  const auto labels = random_labels(network, samples, 9);
  const auto everything = [&] {
    models::Tape tape;
    models::Gradient gradient;
    std::vector<models::Matrix> all;
    all.push_back(models::Matrix::Constant(1, 1, loss_and_gradient(network, inputs, labels, pass, tape, &gradient)));
    all.push_back(tape.logits());
    for (const models::LayerGradient& matrix : gradient.matrices) {
      all.push_back(matrix.weight);
      all.push_back(matrix.bias);
    }
    for (const models::Vector& vector : gradient.vectors) all.push_back(vector);
    return all;
  };
  expect_same_for_thread_counts(everything,
                                [](const std::vector<models::Matrix>& a, const std::vector<models::Matrix>& b) {
                                  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_bits);
                                });
}

}  // namespace dadsim::test
