#include <gtest/gtest.h>

#include "models/golden.hpp"
#include "models/gradient_check.hpp"
#include "models/network.hpp"
#include "models/operations/operations.hpp"

namespace dadsim::models {
namespace {

spec::DenseSpec each(std::int64_t units, spec::Activation activation = spec::Activation::identity) {
  return {.units = units, .activation = activation, .bias = true, .each_position = true};
}

spec::ModelSpec attention_between_dense(const spec::AttentionSpec& attention, std::int64_t width) {
  return {.name = "", .layers = {each(width), attention, each(4)}};
}

TEST(Attention, HasRightGradients) {
  for (const bool causal : {false, true}) {
    for (const std::int64_t heads : {1, 3}) {
      SCOPED_TRACE(testing::Message() << heads << " heads, causal " << causal);
      test::expect_right_gradients(attention_between_dense({.heads = heads, .causal = causal, .bias = true}, 6),
                                   {.height = 1, .width = 5, .channels = 3});
    }
  }
}

TEST(Attention, HasRightGradientsOverMoreRowsThanAreWorkedOnTogether) {
  test::GradientCheck check;
  check.samples = 1;
  for (const bool causal : {false, true}) {
    test::expect_right_gradients(attention_between_dense({.heads = 2, .causal = causal, .bias = false}, 4),
                                 {.height = 1, .width = 131, .channels = 2}, check);
  }
}

TEST(Attention, AddsToASlopeThatIsThere) {
  const auto attention = make_attention_scores<double>({.heads = 2, .causal = true, .bias = false},
                                                       {.height = 1, .width = 5, .channels = 12});
  const ParametersOf<double> none;
  const Pass pass;
  const MatrixOf<double> input = test::random_matrix<double>(3, 60, 1);
  MatrixOf<double> output, given = test::random_matrix<double>(3, 20, 2), value_gradient;
  ScratchOf<double> scratch;
  std::vector<VectorOf<double>> gradients;
  const FlowOf<double> flow{.parameters = none,
                            .pass = pass,
                            .input = input,
                            .second = nullptr,
                            .output = output,
                            .value_gradient = given,
                            .scratch = scratch,
                            .vector_gradients = gradients};
  attention->forward(flow);
  attention->backpropagate(flow, value_gradient, false);
  const MatrixOf<double> there = test::random_matrix<double>(3, 60, 3);
  MatrixOf<double> sum = there;
  attention->backpropagate(flow, sum, true);
  EXPECT_LT((sum - there - value_gradient).cwiseAbs().maxCoeff(), 1e-14);
  EXPECT_GT(value_gradient.norm(), 0.1);
}

TEST(Attention, IsPyTorchs) {
  for (const bool causal : {false, true}) {
    test::expect_golden(
        causal ? "attention_causal" : "attention",
        {.name = "", .layers = {spec::AttentionSpec{.heads = 3, .causal = causal, .bias = true}, each(5)}},
        {.height = 1, .width = 7, .channels = 12});
  }
}

TEST(Attention, HasTheSameBitsForAnyNumberOfThreads) {
  test::expect_same_bits_for_thread_counts(attention_between_dense({.heads = 3, .causal = true, .bias = true}, 24),
                                           {.height = 1, .width = 70, .channels = 5}, 30);
}

TEST(Attention, DoesNotSeeWhatFollowsIfCausal) {
  const spec::SampleShape sample{.height = 1, .width = 100, .channels = 6};
  for (const bool causal : {false, true}) {
    const Network network(
        sample, {.name = "", .layers = {spec::AttentionSpec{.heads = 2, .causal = causal, .bias = true}, each(3)}}, 1);
    Matrix inputs = test::random_inputs<float>(sample, 2, 3);
    Tape before, after;
    network.forward(inputs, {}, before);
    constexpr Eigen::Index kChanged = 70;
    inputs.rightCols(6 * (100 - kChanged)).array() += 1.0F;
    network.forward(inputs, {}, after);
    EXPECT_EQ(before.logits().leftCols(3 * kChanged) == after.logits().leftCols(3 * kChanged), causal);
    EXPECT_FALSE(before.logits() == after.logits());
  }
}

TEST(Attention, StaysFiniteForScoresThatOverflow) {
  const spec::SampleShape sample{.height = 1, .width = 3, .channels = 4};
  const Network network(sample,
                        {.name = "", .layers = {spec::AttentionSpec{.heads = 1, .causal = false, .bias = true}}}, 1);
  Tape tape;
  network.forward(Matrix(1e6F * test::random_inputs<float>(sample, 2, 3)), {}, tape);
  EXPECT_TRUE(tape.logits().allFinite());
}

}  // namespace
}  // namespace dadsim::models
