#include <gtest/gtest.h>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"
#include "models/network.hpp"

// Tests the layers around a transformer's blocks: class token, positions and select.

namespace dadsim::models {
namespace {

spec::DenseSpec tokens_each(std::int64_t units) {
  return {.units = units, .activation = spec::Activation::identity, .bias = true, .each_position = true};
}

/// Returns a model that reads the class token after attention has mixed the positions, as classifiers do.
spec::ModelSpec around_attention(bool last) {
  return {.name = "",
          .layers = {tokens_each(6), spec::ClassTokenSpec{}, spec::PositionsSpec{},
                     spec::AttentionSpec{.heads = 2, .causal = false, .bias = false}, spec::SelectSpec{last},
                     spec::DenseSpec{.units = 3, .activation = spec::Activation::identity}}};
}

TEST(ClassToken, HasRightGradients) {
  for (const bool last : {false, true}) {
    test::expect_right_gradients(around_attention(last), {.height = 2, .width = 3, .channels = 4});
  }
}

TEST(ClassToken, IsPyTorchs) {
  test::expect_golden("class_token", around_attention(false), {.height = 1, .width = 5, .channels = 3});
  test::expect_golden("class_token_last", around_attention(true), {.height = 1, .width = 5, .channels = 3});
}

TEST(ClassToken, HasTheSameBitsForAnyNumberOfThreads) {
  test::expect_same_bits_for_thread_counts(around_attention(false), {.height = 1, .width = 9, .channels = 3}, 300);
}

TEST(ClassToken, AddsToSlopesThatAreThere) {
  // Puts each of the three layers next to another reader of its input.
  const auto beside = [](std::vector<spec::LayerSpec> layers, std::vector<spec::LayerSpec> shortcut) {
    return spec::ResidualSpec{
        .layers = std::move(layers), .shortcut = std::move(shortcut), .activation = spec::Activation::tanh};
  };
  const spec::LayerSpec classifier = spec::DenseSpec{.units = 3, .activation = spec::Activation::identity};
  const spec::SampleShape sample{.height = 1, .width = 4, .channels = 3};
  for (const std::vector<spec::LayerSpec>& layers : std::vector<std::vector<spec::LayerSpec>>{
           {beside({spec::ClassTokenSpec{}}, {spec::ClassTokenSpec{}, spec::PositionsSpec{}})},
           {beside({spec::PositionsSpec{}}, {})},
           {beside({spec::SelectSpec{false}}, {spec::SelectSpec{true}})},
       }) {
    spec::ModelSpec spec{.name = "", .layers = {tokens_each(5)}};
    spec.layers.insert(spec.layers.end(), layers.begin(), layers.end());
    spec.layers.push_back(classifier);
    test::expect_right_gradients(spec, sample);
  }
}

TEST(Select, ReadsOnePosition) {
  const spec::SampleShape sample{.height = 2, .width = 3, .channels = 4};
  const Matrix inputs = test::random_inputs<float>(sample, 2, 3);
  for (const bool last : {false, true}) {
    const Network network(sample, {.name = "", .layers = {spec::SelectSpec{last}}}, 1);
    Tape tape;
    network.forward(inputs, {}, tape);
    EXPECT_EQ(tape.logits(), last ? Matrix(inputs.rightCols(4)) : Matrix(inputs.leftCols(4)));
  }
}

}  // namespace
}  // namespace dadsim::models
