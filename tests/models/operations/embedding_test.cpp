#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"
#include "models/network.hpp"
#include "spec/preset.hpp"

namespace dadsim::models {
namespace {

constexpr spec::SampleShape kSymbols{.height = 1, .width = 6, .channels = 1, .vocabulary = 9};

spec::DenseSpec each_symbol(std::int64_t units, spec::Activation activation = spec::Activation::identity) {
  return {.units = units, .activation = activation, .bias = true, .each_position = true};
}

TEST(Embedding, HasRightGradients) {
  const spec::ModelSpec spec{.name = "",
                             .layers = {spec::EmbeddingSpec{5}, spec::PositionsSpec{},
                                        each_symbol(4, spec::Activation::tanh), each_symbol(3)}};
  test::expect_right_gradients(spec, kSymbols);
}

TEST(Embedding, InALanguageModelIsPyTorchs) {
  const spec::Preset& preset = *spec::preset_registry().find("language-model");
  const spec::ParameterValues values{{"width", "8"}, {"heads", "2"}, {"blocks", "2"}, {"hidden", "12"}};
  test::expect_golden("language_model", preset.make(values, kSymbols, 9), kSymbols);
}

TEST(Embedding, HasTheSameBitsForAnyNumberOfThreads) {
  test::expect_same_bits_for_thread_counts(
      {.name = "", .layers = {spec::EmbeddingSpec{7}, spec::PositionsSpec{}, each_symbol(3)}}, kSymbols, 300);
}

TEST(Embedding, ReadsTheRowsOfItsTable) {
  const Network network(kSymbols, {.name = "", .layers = {spec::EmbeddingSpec{4}}}, 1);
  ASSERT_TRUE(network.layer(0).embedding);
  Matrix symbols(1, 6);
  symbols << 8, 0, 3, 3, 1, 8;
  Tape tape;
  network.forward(symbols, {}, tape);
  for (Eigen::Index i = 0; i < 6; ++i) {
    EXPECT_EQ(as_rows(tape.logits(), Eigen::Index{4}).row(i),
              network.layer(0).weight.row(static_cast<Eigen::Index>(symbols(i))));
  }
}

TEST(Embedding, AddsTheGradientOfSomeSamplesAlone) {
  const spec::ModelSpec spec{.name = "", .layers = {spec::EmbeddingSpec{4}, each_symbol(3)}};
  const Network network(kSymbols, spec, 1);
  const Matrix symbols = test::random_inputs<float>(kSymbols, 5, 2);
  Tape tape;
  Gradient all;
  test::loss_and_gradient(network, symbols, test::random_labels(network, 5, 3), {}, tape, &all);
  Matrix sum = Matrix::Zero(9, 4);
  network.add_embedding_gradient(0, tape, 0, 2, sum);
  EXPECT_GT((sum - all.matrices[0].weight).norm(), 1e-3F);
  network.add_embedding_gradient(0, tape, 2, 3, sum);
  EXPECT_EQ(sum, all.matrices[0].weight);
}

TEST(Embedding, RefusesSymbolsOutsideItsVocabulary) {
  const Network network(kSymbols, {.name = "", .layers = {spec::EmbeddingSpec{4}}}, 1);
  for (const float symbol : {-1.0F, 9.0F, std::numeric_limits<float>::quiet_NaN()}) {
    Matrix symbols = Matrix::Zero(2, 6);
    symbols(1, 4) = symbol;
    Tape tape;
    EXPECT_THROW(network.forward(symbols, {}, tape), std::logic_error) << symbol;
  }
}

}  // namespace
}  // namespace dadsim::models
