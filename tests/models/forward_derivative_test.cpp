// Compares forward derivatives with central differences, in double precision.
#include <gtest/gtest.h>

#include "models/gradient_check.hpp"
#include "models/network.hpp"

namespace dadsim::models {
namespace {

using Double = NetworkOf<double>;

spec::DenseSpec each_position(std::int64_t units, spec::Activation activation = spec::Activation::identity) {
  return {.units = units, .activation = activation, .bias = true, .each_position = true};
}

/// Moves every matrix l along V (and its bias along v), and compares the tangents of all values with central
/// differences.
void expect_right_tangents(const spec::ModelSpec& spec, const spec::SampleShape& sample) {
  Double network(sample, spec, 11);
  test::disturb_vectors(network, 1100);
  const MatrixOf<double> inputs = test::random_inputs<double>(sample, 5, 12);
  std::vector<WeightsOf<double>> moves(network.layers());
  for (std::size_t l = 0; l < network.layers(); ++l) {
    const WeightsOf<double>& weights = network.layer(l);
    moves[l].weight = test::random_matrix<double>(weights.out(), weights.in(), 20 + l);
    moves[l].bias = test::random_matrix<double>(weights.bias.size(), 1, 40 + l);
  }
  TapeOf<double> tape;
  network.forward(inputs, {}, tape);
  DirectionOf<double> direction;
  direction.add = [&](std::size_t l, const RowsOf<double>& rows, MutableRowsOf<double>& tangent) {
    tangent += rows * moves[l].weight.transpose();
    if (moves[l].bias.size() > 0) tangent.rowwise() += moves[l].bias.transpose();
  };
  std::vector<MatrixOf<double>> tangents;
  network.differentiate(0, network.values() - 1, direction, tape, tangents);

  constexpr double kStep = 1e-6;
  std::vector<TapeOf<double>> moved(2);
  for (const int side : {0, 1}) {
    Double other = network;
    for (std::size_t l = 0; l < network.layers(); ++l) {
      other.layer(l).weight += (side == 0 ? kStep : -kStep) * moves[l].weight;
      other.layer(l).bias += (side == 0 ? kStep : -kStep) * moves[l].bias;
    }
    other.forward(inputs, {}, moved[static_cast<std::size_t>(side)]);
  }
  for (std::size_t value = 1; value < network.values(); ++value) {
    const MatrixOf<double> numeric = (moved[0].values[value] - moved[1].values[value]) / (2 * kStep);
    if (tangents[value].size() == 0) {
      EXPECT_EQ(numeric.norm(), 0) << "value " << value;
      continue;
    }
    EXPECT_LT((numeric - tangents[value]).norm(), 1e-7 * numeric.norm()) << "value " << value;
  }
  EXPECT_GT(tangents.back().norm(), 1e-3);
}

TEST(ForwardDerivative, OfDenseLayersWithEveryActivation) {
  for (const spec::Activation activation : {spec::Activation::identity, spec::Activation::relu, spec::Activation::tanh,
                                            spec::Activation::sigmoid, spec::Activation::gelu}) {
    SCOPED_TRACE(to_string(activation));
    expect_right_tangents({"",
                           {spec::DenseSpec{7, activation}, spec::DenseSpec{6, activation, false},
                            spec::DenseSpec{4, spec::Activation::identity}}},
                          {1, 1, 5});
  }
}

TEST(ForwardDerivative, OfDenseLayersAtEachPosition) {
  expect_right_tangents({"", {each_position(6, spec::Activation::tanh), each_position(3), spec::DenseSpec{4}}},
                        {2, 3, 4});
}

TEST(ForwardDerivative, OfLayerNorms) {
  expect_right_tangents({"", {spec::LayerNormSpec{}, each_position(6), spec::LayerNormSpec{1e-2}, each_position(3)}},
                        {2, 3, 4});
}

TEST(ForwardDerivative, OfMeans) {
  expect_right_tangents({"", {spec::MeanSpec{}, spec::DenseSpec{6}}}, {2, 3, 4});
  expect_right_tangents({"", {each_position(6), spec::MeanSpec{}, spec::DenseSpec{3, spec::Activation::tanh}}},
                        {2, 3, 4});
}

TEST(ForwardDerivative, OfSums) {
  for (const spec::Activation activation :
       {spec::Activation::identity, spec::Activation::tanh, spec::Activation::relu, spec::Activation::gelu}) {
    const spec::ResidualSpec both{{spec::LayerNormSpec{}, each_position(6)}, {each_position(6)}, activation};
    const spec::ResidualSpec beside{{each_position(6)}, {}, activation};
    expect_right_tangents({"", {both, beside, spec::DenseSpec{4}}}, {1, 3, 6});
  }
}

/// Tangents of several groups equal those of each group alone.
TEST(ForwardDerivative, KeepsGroupsApart) {
  constexpr Eigen::Index kGroups = 3;
  const spec::SampleShape sample{1, 2, 4};
  Double network(sample,
                 {"",
                  {each_position(6, spec::Activation::tanh), spec::LayerNormSpec{},
                   spec::ResidualSpec{{each_position(9, spec::Activation::gelu), each_position(6)}, {}, {}}}},
                 3);
  test::disturb_vectors(network, 300);
  TapeOf<double> tape;
  network.forward(test::random_inputs<double>(sample, 4, 5), {}, tape);
  std::vector<MatrixOf<double>> u;
  for (std::size_t l = 0; l < 3; ++l) u.push_back(test::random_matrix<double>(8, network.layer(l).out(), 60 + l));
  DirectionOf<double> direction;
  direction.add = [&](std::size_t l, const RowsOf<double>&, MutableRowsOf<double>& tangent) { tangent += u[l]; };
  direction.groups = kGroups;
  std::vector<MatrixOf<double>> together;
  network.differentiate(0, network.values() - 1, direction, tape, together);

  for (Eigen::Index g = 0; g < kGroups; ++g) {
    Double cut = network;  // a copy without connections into and out of group g
    for (std::size_t l = 1; l < 3; ++l) {
      MatrixOf<double>& weight = cut.layer(l).weight;
      const Eigen::Index out = weight.rows() / kGroups;
      const Eigen::Index in = weight.cols() / kGroups;
      const MatrixOf<double> kept = weight.block(g * out, g * in, out, in);
      weight.setZero();
      weight.block(g * out, g * in, out, in) = kept;
    }
    DirectionOf<double> own;
    own.add = [&](std::size_t l, const RowsOf<double>&, MutableRowsOf<double>& tangent) {
      const Eigen::Index width = tangent.cols() / kGroups;
      tangent.middleCols(g * width, width) += u[l].middleCols(g * width, width);
    };
    std::vector<MatrixOf<double>> alone;
    cut.differentiate(0, network.values() - 1, own, tape, alone);
    const RowsOf<double> expected = as_rows(std::as_const(alone.back()), 6);
    const RowsOf<double> actual = as_rows(std::as_const(together.back()), 6);
    EXPECT_LT((expected.middleCols(g * 2, 2) - actual.middleCols(g * 2, 2)).norm(), 1e-12);
    EXPECT_GT(actual.middleCols(g * 2, 2).norm(), 1e-3);
  }
}

TEST(ForwardDerivative, StartsAtAnyValueThatSeparates) {
  const spec::SampleShape sample{1, 1, 4};
  const Double network(
      sample, {"", {spec::DenseSpec{5}, spec::ResidualSpec{{spec::DenseSpec{5}}, {}, {}}, spec::DenseSpec{3}}}, 3);
  EXPECT_TRUE(network.separates(1));
  EXPECT_FALSE(network.separates(2));  // a shortcut bypasses the layer
  EXPECT_TRUE(network.separates(3));
  TapeOf<double> tape;
  network.forward(test::random_inputs<double>(sample, 2, 5), {}, tape);
  std::vector<MatrixOf<double>> tangents;
  EXPECT_THROW(network.differentiate(2, 4, {}, tape, tangents), std::logic_error);
  network.differentiate(3, 4, {}, tape, tangents);
  EXPECT_EQ(tangents.back().norm(), 0);
}

TEST(ForwardDerivative, OfOtherOperationsThereIsNone) {
  const Network network({4, 4, 1}, {"", {spec::ConvolutionSpec{.filters = 2}}}, 3);
  Tape tape;
  network.forward(test::random_inputs<float>({4, 4, 1}, 2, 5), {}, tape);
  std::vector<Matrix> tangents;
  EXPECT_THROW(network.differentiate(0, 1, {}, tape, tangents), std::logic_error);
}

}  // namespace
}  // namespace dadsim::models
