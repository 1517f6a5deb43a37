#include <gtest/gtest.h>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"

namespace dadsim::models {
namespace {

constexpr spec::SampleShape kImage{.height = 3, .width = 4, .channels = 2};

spec::ModelSpec around(const spec::BatchNormSpec& norm) {
  spec::ModelSpec model;
  model.layers = {spec::ConvolutionSpec{.filters = 3, .activation = spec::Activation::tanh}, norm,
                  spec::DenseSpec{4, spec::Activation::identity}};
  return model;
}

TEST(BatchNorm, GradientsEqualCentralDifferences) {
  const std::vector<Eigen::Index> sites{0, 2, 2, 5};  // the second site has no samples
  for (const spec::Activation activation : {spec::Activation::identity, spec::Activation::relu, spec::Activation::tanh,
                                            spec::Activation::sigmoid, spec::Activation::gelu}) {
    SCOPED_TRACE(to_string(activation));
    const spec::ModelSpec model = around({.activation = activation});
    test::expect_right_gradients(model, kImage,
                                 {.samples = 5, .pass = {.training = true, .sites = {}, .seed = 0, .step = 0}});
    test::expect_right_gradients(model, kImage,
                                 {.samples = 5, .pass = {.training = true, .sites = sites, .seed = 0, .step = 0}});
    test::expect_right_gradients(model, kImage,
                                 {.samples = 5, .pass = {.training = false, .sites = sites, .seed = 0, .step = 0}});
  }
}

TEST(BatchNorm, BesideAShortcut) {
  spec::ModelSpec model;
  const spec::ConvolutionSpec same{.filters = 2, .activation = spec::Activation::tanh};
  model.layers = {
      same,
      spec::ResidualSpec{.layers = {spec::BatchNormSpec{}, same},
                         .shortcut = {spec::BatchNormSpec{}},
                         .activation = spec::Activation::identity},
      spec::ResidualSpec{.layers = {same}, .shortcut = {spec::BatchNormSpec{}}, .activation = spec::Activation::relu},
      spec::DenseSpec{4, spec::Activation::identity}};
  test::expect_right_gradients(model, kImage);
}

TEST(BatchNorm, EqualsPyTorchInTrainingAndInEvaluation) {
  const spec::ConvolutionSpec plain{.filters = 4, .activation = spec::Activation::identity, .bias = false};
  spec::ConvolutionSpec half = plain;
  half.stride = 2;
  spec::ConvolutionSpec projection = half;
  projection.kernel = 1;
  projection.padding = 0;
  spec::ModelSpec model;
  model.layers = {spec::ResidualSpec{.layers = {half, spec::BatchNormSpec{1e-3, 0.2, spec::Activation::relu}, plain,
                                                spec::BatchNormSpec{}},
                                     .shortcut = {projection, spec::BatchNormSpec{}},
                                     .activation = spec::Activation::relu},
                  spec::MeanSpec{}, spec::DenseSpec{3, spec::Activation::identity}};
  const spec::SampleShape image{.height = 6, .width = 5, .channels = 2};
  test::expect_golden("batch_norm", model, image);

  const test::Golden golden("batch_norm");
  Network network(image, model, 1);
  golden.put_parameters(network);
  Tape tape;
  const Matrix inputs = golden.at("input").cast<float>();
  network.forward(inputs, {.training = true, .sites = {}, .seed = 0, .step = 0}, tape);
  network.update_running_statistics(tape);
  ASSERT_EQ(network.parameters().averages.size(), 6U);
  for (std::size_t a = 0; a < 6; ++a) {
    golden.expect_equal(network.parameters().averages[a], "average" + std::to_string(a));
  }
  network.forward(inputs, {.training = false, .sites = {}, .seed = 0, .step = 0}, tape);
  golden.expect_equal(tape.logits(), "evaluated");
}

TEST(BatchNorm, SitesHaveStatisticsOfTheirOwn) {
  const spec::ModelSpec model = around({.momentum = 0.25, .activation = spec::Activation::relu});
  const spec::SampleShape image{.height = 9, .width = 8, .channels = 2};
  Network network(image, model, 3);
  test::disturb_vectors(network, 30);
  const Matrix first = test::random_inputs<float>(image, 7, 1);
  const Matrix second = 3.0F * test::random_inputs<float>(image, 4, 2).array() + 1.0F;
  const auto first_labels = test::random_labels(network, 7, 3);
  const auto second_labels = test::random_labels(network, 4, 4);
  Matrix both(11, image.size());
  both << first, second;
  std::vector<std::int32_t> labels = first_labels;
  labels.insert(labels.end(), second_labels.begin(), second_labels.end());

  Tape stacked, alone;
  const std::vector<Eigen::Index> sites{0, 7, 11};
  const auto initial = network.parameters().averages;
  network.forward(both, {.training = true, .sites = sites, .seed = 0, .step = 0}, stacked);
  network.loss(labels, 11, stacked);
  network.backpropagate(1, stacked);
  network.update_running_statistics(stacked);
  const auto followed = network.parameters().averages;

  std::vector<VectorOf<double>> average = {VectorOf<double>::Zero(3), VectorOf<double>::Zero(3)};
  Vector shift_gradient = Vector::Zero(3);
  const auto pass = [&](const Matrix& inputs, const std::vector<std::int32_t>& own_labels, Eigen::Index begin) {
    network.forward(inputs, {.training = true, .sites = {}, .seed = 0, .step = 0}, alone);
    // Products of fewer rows are rounded differently.
    const Eigen::Index positions = image.positions();
    const Matrix logits = stacked.logits().middleRows(begin, inputs.rows());
    EXPECT_LT((alone.logits() - logits).norm(), 1e-5 * logits.norm()) << begin;
    network.loss(own_labels, 11, alone);
    network.backpropagate(1, alone);
    const Matrix delta = network.delta(0, stacked).middleRows(begin * positions, inputs.rows() * positions);
    EXPECT_LT((network.delta(0, alone) - delta).norm(), 1e-5 * delta.norm()) << begin;
    shift_gradient += alone.vector_gradients[1];
    network.parameters().averages = initial;
    network.update_running_statistics(alone);
    for (std::size_t a = 0; a < 2; ++a) average[a] += network.parameters().averages[a] / 2;
  };
  pass(first, first_labels, 0);
  pass(second, second_labels, 7);
  EXPECT_LT((shift_gradient - stacked.vector_gradients[1]).norm(), 1e-6 * shift_gradient.norm());
  for (std::size_t a = 0; a < 2; ++a) EXPECT_LT((average[a] - followed[a]).norm(), 1e-12 * average[a].norm());
}

TEST(BatchNorm, NormalisesFarFromZero) {
  // In float, the variance as E[x²] − E[x]² would lose all digits.
  spec::ModelSpec model;
  model.layers = {spec::BatchNormSpec{.epsilon = 1e-12}};
  Network network(spec::SampleShape{1, 1, 1}, model, 1);
  const Matrix x = test::random_matrix<float>(1000, 1, 1).array() + 3000.0F;
  Tape tape;
  network.forward(x, {.training = true, .sites = {}, .seed = 0, .step = 0}, tape);
  EXPECT_NEAR(tape.logits().mean(), 0, 1e-3);
  EXPECT_NEAR(tape.logits().squaredNorm() / 1000, 1, 1e-3);
}

TEST(BatchNorm, SameBitsForAnyNumberOfThreads) {
  const std::vector<Eigen::Index> sites{0, 20, 70};
  test::expect_same_bits_for_thread_counts(around({.activation = spec::Activation::relu}), {12, 12, 3}, 70,
                                           {.training = true, .sites = sites, .seed = 0, .step = 0});
}

}  // namespace
}  // namespace dadsim::models
