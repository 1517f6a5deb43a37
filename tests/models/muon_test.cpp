// Compares Muon with its definition: the Newton–Schulz polynomial, applied to singular values that Eigen computes in
// double.
#include "models/muon.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <array>
#include <cmath>

#include "models/optimizer.hpp"
#include "support/random.hpp"

namespace dadsim::models {
namespace {

using NewtonSchulz = spec::OptimizerSpec::NewtonSchulz;
using Scale = spec::OptimizerSpec::MuonScale;
using MatrixD = Eigen::MatrixXd;

Matrix drawn(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::srand(seed);
  Matrix matrix = Matrix::Random(rows, columns);
  matrix.col(0) *= 4;  // makes the singular values unequal
  matrix.row(rows / 2) *= 0.3F;
  return matrix;
}

/// Applies the published iterations to one number.
double polynomial(double x, NewtonSchulz kind) {
  const std::array<double, 3> fixed{3.4445, -4.7750, 2.0315};
  const std::array<std::array<double, 3>, 5> tuned{{{4.0848, -6.8946, 2.9270},
                                                    {3.9505, -6.3029, 2.6377},
                                                    {3.7418, -5.5913, 2.3037},
                                                    {2.8769, -3.1427, 1.2046},
                                                    {2.8366, -3.0525, 1.2012}}};
  for (std::size_t i = 0; i < 5; ++i) {
    const auto& [a, b, c] = kind == NewtonSchulz::fixed ? fixed : tuned[i];
    x = a * x + b * std::pow(x, 3) + c * std::pow(x, 5);
  }
  return x;
}

/// Returns U p(Σ ÷ ‖M‖) Vᵀ.
MatrixD expected(const MatrixD& m, NewtonSchulz kind) {
  const Eigen::JacobiSVD<MatrixD> svd(m, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Eigen::VectorXd values = svd.singularValues() / m.norm();
  for (double& value : values) value = polynomial(value, kind);
  return svd.matrixU() * values.asDiagonal() * svd.matrixV().transpose();
}

TEST(NewtonSchulz, MovesSingularValuesNearOne) {
  for (const NewtonSchulz kind : {NewtonSchulz::fixed, NewtonSchulz::tuned}) {
    for (const auto& [rows, columns] : {std::pair{30, 17}, {17, 30}, {24, 24}, {40, 3}, {1, 9}, {1, 1}}) {
      const Matrix m = drawn(rows, columns, 3);
      const Matrix x = orthogonalised(m, kind);
      EXPECT_LT((x.cast<double>() - expected(m.cast<double>(), kind)).norm(), 2e-4 * x.norm())
          << rows << ' ' << columns;
      const Eigen::VectorXd of_m = Eigen::JacobiSVD<MatrixD>(m.cast<double>()).singularValues() / m.norm();
      const Eigen::VectorXd values = Eigen::JacobiSVD<MatrixD>(x.cast<double>()).singularValues();
      for (Eigen::Index i = 0; i < values.size(); ++i) {
        if (of_m(i) < 0.02) continue;  // the two polynomials map [0.02, 1] to [0.6818, 1.1344] and to [0.9777, 1.0318]
        EXPECT_GT(values(i), kind == NewtonSchulz::fixed ? 0.68 : 0.977) << rows << ' ' << columns;
        EXPECT_LT(values(i), kind == NewtonSchulz::fixed ? 1.135 : 1.032) << rows << ' ' << columns;
      }
    }
  }
}

TEST(NewtonSchulz, KnowsNoScaleAndTurnsWithItsInput) {
  const Matrix m = drawn(20, 12, 5);
  const Matrix x = orthogonalised(m, NewtonSchulz::fixed);
  EXPECT_LT((orthogonalised(1e3F * m, NewtonSchulz::fixed) - x).norm(), 1e-4F * x.norm());
  EXPECT_LT((orthogonalised(m.transpose(), NewtonSchulz::fixed) - x.transpose()).norm(), 1e-4F * x.norm());
  const Matrix turn = Eigen::JacobiSVD<Eigen::MatrixXf>(drawn(20, 20, 7), Eigen::ComputeFullU).matrixU();
  EXPECT_LT((orthogonalised(turn * m, NewtonSchulz::fixed) - turn * x).norm(), 1e-3F * x.norm());
  EXPECT_EQ(orthogonalised(Matrix::Zero(3, 4), NewtonSchulz::tuned), Matrix::Zero(3, 4));
}

TEST(Muon, HasThreeRulesOfShape) {
  EXPECT_DOUBLE_EQ(muon_scale(Scale::tall, 400, 100), 2);
  EXPECT_DOUBLE_EQ(muon_scale(Scale::tall, 100, 400), 1);
  EXPECT_DOUBLE_EQ(muon_scale(Scale::spectral, 400, 100), 2);
  EXPECT_DOUBLE_EQ(muon_scale(Scale::spectral, 100, 400), 0.5);
  EXPECT_DOUBLE_EQ(muon_scale(Scale::rms, 400, 100), 4);
  EXPECT_DOUBLE_EQ(muon_scale(Scale::rms, 100, 400), 4);
}

Network network_of(const std::vector<std::int64_t>& widths) {
  spec::ModelSpec model;
  for (std::size_t l = 1; l < widths.size(); ++l)
    model.layers.push_back(spec::DenseSpec{widths[l], spec::Activation::tanh, true});
  return {widths.front(), model, 3};
}

Gradient gradient_of(const Network& network, unsigned seed) {
  Gradient gradient;
  for (std::size_t l = 0; l < network.layers(); ++l) {
    const WeightsOf<float>& weights = network.layer(l);
    gradient.matrices.push_back({drawn(weights.out(), weights.in(), seed + static_cast<unsigned>(l)),
                                 drawn(weights.out(), 1, seed + 10).col(0)});
  }
  return gradient;
}

spec::OptimizerSpec muon() {
  return {.kind = spec::OptimizerSpec::Kind::muon,
          .learning_rate = 0.02,
          .momentum = 0.9,
          .nesterov = true,
          .weight_decay = 0.1,
          .beta2 = 0.95,
          .adam_rate = 3e-3};
}

// The first two matrices take orthogonal steps. AdamW, at its own rate, updates the last matrix and all biases.
TEST(Muon, TakesHiddenMatricesAndLeavesTheRestToAdamW) {
  for (const Scale scale : {Scale::tall, Scale::spectral, Scale::rms}) {
    for (const bool nesterov : {true, false}) {
      spec::OptimizerSpec spec = muon();
      spec.scale = scale;
      spec.nesterov = nesterov;
      Network network = network_of({7, 12, 9, 4}), others = network;
      const auto optimizer = make_optimizer(spec, network);
      spec::OptimizerSpec adamw = spec;
      adamw.kind = spec::OptimizerSpec::Kind::adamw;
      const auto rest = make_optimizer(adamw, others);
      std::vector<MatrixD> weights, momenta;
      for (std::size_t l = 0; l < 3; ++l) {
        weights.emplace_back(network.layer(l).weight.cast<double>());
        momenta.emplace_back(MatrixD::Zero(weights[l].rows(), weights[l].cols()));
      }
      for (unsigned t = 0; t < 4; ++t) {
        const Gradient gradient = gradient_of(network, 20 * t);
        const double half = t < 2 ? 1 : 0.5;  // factor of the schedule
        optimizer->update(network, gradient, half * spec.learning_rate);
        rest->update(others, gradient, half * spec.adam_rate);
        for (std::size_t l = 0; l < 2; ++l) {
          const MatrixD g = gradient.matrices[l].weight.cast<double>();
          momenta[l] = 0.9 * momenta[l] + 0.1 * g;
          const MatrixD u = nesterov ? MatrixD(0.9 * momenta[l] + 0.1 * g) : momenta[l];
          const double rate = half * 0.02;
          weights[l] = (1 - rate * 0.1) * weights[l] -
                       rate * muon_scale(scale, g.rows(), g.cols()) * expected(u, NewtonSchulz::fixed);
          EXPECT_LT((network.layer(l).weight.cast<double>() - weights[l]).norm(), 1e-5 * weights[l].norm());
          EXPECT_LT((network.layer(l).bias - others.layer(l).bias).norm(), 1e-6F) << "AdamW";
        }
        EXPECT_LT((network.layer(2).weight - others.layer(2).weight).norm(), 1e-6F) << "AdamW";
      }
    }
  }
}

TEST(Muon, AppliesDirectionsAsTheyAre) {
  spec::OptimizerSpec spec = muon();
  spec.clip_norm = 1e-3;  // clipping must not change the length of a direction
  Network network = network_of({7, 12, 4});
  const Matrix before = network.layer(0).weight;
  Gradient gradient = gradient_of(network, 1);
  gradient.matrices[0].is_direction = true;
  make_optimizer(spec, network)->update(network, gradient, 0.02);
  const Matrix wanted =
      0.998F * before - 0.02F * static_cast<float>(std::sqrt(12.0 / 7.0)) * gradient.matrices[0].weight;
  EXPECT_LT((network.layer(0).weight - wanted).norm(), 1e-6F * wanted.norm());
}

TEST(Muon, StateComesBack) {
  Network one = network_of({7, 12, 4});
  const auto first = make_optimizer(muon(), one);
  first->update(one, gradient_of(one, 1), 0.02);
  Network other = one;
  const auto second = make_optimizer(muon(), other);
  second->set_state(first->state());
  first->update(one, gradient_of(one, 2), 0.02);
  second->update(other, gradient_of(one, 2), 0.02);
  EXPECT_EQ(one.layer(0).weight, other.layer(0).weight);
  EXPECT_EQ(one.layer(1).weight, other.layer(1).weight);
  EXPECT_THROW(second->set_state({}), std::logic_error);
}

spec::LayerShape shape_of(spec::LayerKind kind, std::int64_t in, std::int64_t out) {
  spec::LayerShape layer = spec::dense_shape("", in, out, true);
  layer.kind = kind;
  return layer;
}

TEST(Muon, LeavesOutTablesTheLastMatrixAndAFirstConvolution) {
  using enum spec::LayerKind;
  const auto hidden = [](const std::vector<spec::LayerShape>& layers) { return spec::hidden_matrices({"", layers}); };
  using Hidden = std::vector<bool>;
  EXPECT_EQ(hidden({shape_of(dense, 3, 4), shape_of(dense, 4, 5), shape_of(dense, 5, 2)}), (Hidden{true, true, false}));
  EXPECT_EQ(hidden({shape_of(convolution, 27, 16), shape_of(convolution, 144, 16), shape_of(dense, 16, 10)}),
            (Hidden{false, true, false}));
  EXPECT_EQ(hidden({shape_of(embedding, 8, 100), shape_of(dense, 8, 8), shape_of(dense, 8, 100)}),
            (Hidden{false, true, false}));
  spec::LayerShape tied = shape_of(dense, 8, 100);
  tied.parameters = 100;
  tied.forward_macs_per_sample = 800;
  EXPECT_EQ(hidden({shape_of(embedding, 8, 100), shape_of(dense, 8, 8), tied}), (Hidden{false, true}))
      << "a decoder that shares the table ends the network";
}

}  // namespace
}  // namespace dadsim::models
