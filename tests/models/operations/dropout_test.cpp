#include <gtest/gtest.h>

#include <cmath>

#include "models/gradient_check.hpp"

namespace dadsim::models {
namespace {

spec::ModelSpec two_dropouts(double rate) {
  spec::ModelSpec model;
  model.layers = {spec::DenseSpec{6, spec::Activation::tanh}, spec::DropoutSpec{rate},
                  spec::DenseSpec{5, spec::Activation::tanh}, spec::DropoutSpec{rate},
                  spec::DenseSpec{4, spec::Activation::identity}};
  return model;
}

spec::ModelSpec alone(double rate) {
  spec::ModelSpec model;
  model.layers = {spec::DropoutSpec{rate}};
  return model;
}

Matrix through(const spec::ModelSpec& model, const Matrix& inputs, const Pass& pass) {
  const Network network(inputs.cols(), model, 1);
  Tape tape;
  network.forward(inputs, pass, tape);
  return tape.logits();
}

TEST(Dropout, GradientsEqualCentralDifferences) {
  test::expect_right_gradients(two_dropouts(0.3), {.channels = 7});
  // Without masks, gradients are checked as they are.
  test::expect_right_gradients(
      two_dropouts(0.3), {.channels = 7},
      {.samples = 4, .pass = {.training = false, .sites = {}, .seed = 0, .step = 0}, .seed = 12});
}

TEST(Dropout, BesideAShortcut) {
  spec::ModelSpec model;
  model.layers = {
      spec::DenseSpec{5, spec::Activation::tanh},
      spec::ResidualSpec{.layers = {spec::DropoutSpec{0.4}}, .shortcut = {}, .activation = spec::Activation::identity},
      spec::ResidualSpec{.layers = {spec::DenseSpec{5, spec::Activation::tanh}},
                         .shortcut = {spec::DropoutSpec{0.4}},
                         .activation = spec::Activation::identity},
      spec::DenseSpec{4, spec::Activation::identity}};
  test::expect_right_gradients(model, {.channels = 7});
}

TEST(Dropout, DropsTheRateAndScalesTheRest) {
  const Matrix ones = Matrix::Ones(200, 501);
  for (const double rate : {0.0, 0.1, 0.5, 0.9}) {
    const Matrix y = through(alone(rate), ones, {.training = true, .sites = {}, .seed = 1, .step = 2});
    const auto kept = static_cast<float>(1 / (1 - rate));
    EXPECT_TRUE(((y.array() == 0.0F) || (y.array() == kept)).all()) << rate;
    const double dropped = static_cast<double>((y.array() == 0.0F).count()) / static_cast<double>(y.size());
    // The bound is four standard deviations of a binomial share.
    EXPECT_NEAR(dropped, rate, 4 * std::sqrt(rate * (1 - rate) / static_cast<double>(y.size())) + 1e-12) << rate;
  }
}

TEST(Dropout, IsNothingInEvaluation) {
  const Matrix x = test::random_matrix<float>(9, 13, 1);
  EXPECT_EQ(through(alone(0.5), x, {.training = false, .sites = {}, .seed = 1, .step = 2}), x);
}

TEST(Dropout, MasksDifferBySeedStepSampleAndPlaceButNotBySites) {
  const Matrix ones = Matrix::Ones(8, 64);
  const Pass pass{.training = true, .sites = {}, .seed = 1, .step = 2};
  const Matrix mask = through(alone(0.5), ones, pass);
  EXPECT_EQ(through(alone(0.5), ones, pass), mask);
  const std::vector<Eigen::Index> sites{0, 3, 8};
  EXPECT_EQ(through(alone(0.5), ones, {.training = true, .sites = sites, .seed = 1, .step = 2}), mask);
  EXPECT_EQ(through(alone(0.5), Matrix::Ones(5, 64), pass), mask.topRows(5));

  EXPECT_NE(through(alone(0.5), ones, {.training = true, .sites = {}, .seed = 3, .step = 2}), mask);
  EXPECT_NE(through(alone(0.5), ones, {.training = true, .sites = {}, .seed = 1, .step = 3}), mask);
  EXPECT_NE(mask.row(0), mask.row(1));
  // If both layers had the same mask, all values would be 0 or 4.
  spec::ModelSpec twice;
  twice.layers = {spec::DropoutSpec{0.5}, spec::DropoutSpec{0.5}};
  EXPECT_NE(through(twice, ones, pass), Matrix(mask.array().square()));
}

TEST(Dropout, SameBitsForAnyNumberOfThreads) {
  test::expect_same_bits_for_thread_counts(two_dropouts(0.5), {.channels = 30}, 300);
}

}  // namespace
}  // namespace dadsim::models
