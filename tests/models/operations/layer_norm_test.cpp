#include <gtest/gtest.h>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"
#include "models/network.hpp"

namespace dadsim::models {
namespace {

spec::DenseSpec tokens_of(std::int64_t units) {
  return {.units = units, .activation = spec::Activation::identity, .bias = true, .each_position = true};
}

TEST(LayerNorm, HasRightGradients) {
  test::expect_right_gradients({.name = "", .layers = {tokens_of(6), spec::LayerNormSpec{}, tokens_of(3)}},
                               {.height = 2, .width = 3, .channels = 4});
}

TEST(LayerNorm, AddsToASlopeThatIsThere) {
  test::expect_right_gradients(
      {.name = "",
       .layers = {tokens_of(6),
                  spec::ResidualSpec{
                      .layers = {spec::LayerNormSpec{1e-2}}, .shortcut = {}, .activation = spec::Activation::tanh},
                  tokens_of(3)}},
      {.height = 2, .width = 3, .channels = 4});
}

TEST(LayerNorm, IsPyTorchs) {
  test::expect_golden("layer_norm", {.name = "", .layers = {tokens_of(6), spec::LayerNormSpec{1e-3}, tokens_of(4)}},
                      {.height = 1, .width = 3, .channels = 4});
}

TEST(LayerNorm, HasTheSameBitsForAnyNumberOfThreads) {
  test::expect_same_bits_for_thread_counts({.name = "", .layers = {tokens_of(13), spec::LayerNormSpec{}, tokens_of(3)}},
                                           {.height = 5, .width = 7, .channels = 4}, 40);
}

TEST(LayerNorm, KeepsItsDigitsFarFromZero) {
  const spec::SampleShape sample{.height = 1, .width = 1, .channels = 64};
  const Network network(sample, {.name = "", .layers = {spec::LayerNormSpec{}}}, 1);
  const Matrix inputs = test::random_inputs<float>(sample, 3, 3);
  Tape near, far;
  network.forward(inputs, {}, near);
  // 1000 + x represents x to 3e-5. A variance computed as a difference of squares would lose all digits.
  network.forward(Matrix(inputs.array() + 1000.0F), {}, far);
  EXPECT_LT((near.logits() - far.logits()).cwiseAbs().maxCoeff(), 5e-4F);
}

}  // namespace
}  // namespace dadsim::models
