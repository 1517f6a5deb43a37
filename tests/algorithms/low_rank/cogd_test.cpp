#include "algorithms/low_rank/cogd.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "algorithms/one_step.hpp"
#include "algorithms/registry.hpp"
#include "compress/registry.hpp"

namespace dadsim::algorithms {
namespace {

using models::Matrix;
using models::Network;

/// Provides a network 6 → 3 → 8 → 4, whose first two layers are a pair of factors with three components.
class CogdTest : public testing::Test {
 protected:
  CogdTest()
      : network({1, 1, 6},
                {"",
                 {spec::DenseSpec{3, spec::Activation::identity, false}, spec::DenseSpec{8},
                  spec::DenseSpec{4, spec::Activation::identity}}},
                3),
        step(network, spec::ExchangeMode::peer, 1) {
    RandomStream random(5, Purpose::test);
    boost::random::normal_distribution<float> normal;
    samples.features.resize(20, 6);
    for (float& x : samples.features.reshaped()) x = normal(random);
    for (std::int32_t i = 0; i < 20; ++i) samples.labels.push_back(i % 4);
  }

  std::vector<std::vector<std::int32_t>> batch_of(std::int64_t number) const {
    const auto first = static_cast<std::int32_t>(number);
    return {{first, first + 1, first + 2}, {first + 3, first + 4}};
  }
  const models::Gradient& run(Algorithm& algorithm, std::int64_t number) {
    step.set_update_rule({{.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 0.1}, nullptr, 0.1, 10});
    step.begin(number, samples, batch_of(number));
    algorithm.run(step);
    step.finish();
    return step.gradient();
  }
  models::Gradient shared(std::int64_t number) {
    return run(*make_algorithm(algorithm_registry().at("gradient-sharing")), number);
  }
  void descend(const models::Gradient& gradient) {
    for (std::size_t l = 0; l < 3; ++l) {
      network.layer(l).weight -= 0.1F * gradient.matrices[l].weight;
      if (network.layer(l).has_bias()) network.layer(l).bias -= 0.1F * gradient.matrices[l].bias;
    }
  }

  Network network;
  models::Samples samples;
  TrainingStep step;
};

TEST_F(CogdTest, FindsPairs) {
  const auto pairs = [](const std::vector<spec::LayerSpec>& layers) {
    return factor_pairs(Network({1, 1, 9}, {"", layers}, 1));
  };
  const auto linear = [](std::int64_t units) { return spec::DenseSpec{units, spec::Activation::identity}; };
  EXPECT_EQ(factor_pairs(network), std::vector<std::size_t>{0});
  EXPECT_EQ(pairs({linear(3), linear(8), linear(2), linear(4)}), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(pairs({linear(4), linear(3), linear(8)}), std::vector<std::size_t>{1});  // 4 → 3 is no bottleneck
  EXPECT_TRUE(pairs({spec::DenseSpec{3}, linear(8)}).empty());                       // a ReLU separates the layers
  EXPECT_TRUE(pairs({linear(3), spec::LayerNormSpec{}, linear(8)}).empty());
  EXPECT_TRUE(pairs({linear(9), linear(8)}).empty());
}

TEST_F(CogdTest, MovesThoseWhosePartnerIsTheLargest) {
  // α = (10 − 2) ÷ 20 moves, of three components, the one above the 0.6-quantile of ‖v_j‖₁.
  network.layer(0).weight.row(1) *= 3.0F;
  network.layer(0).weight.row(2) *= 1e-3F;
  network.layer(1).weight.col(1) *= 2.0F;
  Cogd algorithm({.cap = 0});
  const Network before = network;
  const models::Gradient gradient = run(algorithm, 2);
  models::Gradient plain = shared(2);
  for (std::size_t l = 0; l < 3; ++l) {
    EXPECT_LT((gradient.matrices[l].weight - plain.matrices[l].weight).norm(), 1e-6F);
  }
  // Residual ‖dLoss/dz_j‖ over the samples of both sites, from the backward pass before the update.
  models::Vector residual = step.deltas(0).colwise().norm().transpose();
  residual /= residual.maxCoeff();
  descend(gradient);
  const Network descended = network;
  algorithm.updated(step, network);
  EXPECT_EQ(algorithm.moved(), 1);
  const float of_v = (descended.layer(0).weight.row(1) - before.layer(0).weight.row(1)).norm();
  const float of_u = (descended.layer(1).weight.col(1) - before.layer(1).weight.col(1)).norm();
  const float beta = 0.1F * residual(1) * std::min(1.0F, of_v / (of_u + 1e-5F));
  EXPECT_GT(beta, 1e-3F);
  Matrix expected = descended.layer(1).weight;
  expected.col(1) += beta * before.layer(1).weight.col(1);
  EXPECT_LT((network.layer(1).weight - expected).norm(), 1e-6F);
  EXPECT_EQ(network.layer(0).weight, descended.layer(0).weight);
}

TEST_F(CogdTest, NobodyIsMovedAtTheEnd) {
  network.layer(0).weight.row(1) *= 3.0F;
  network.layer(1).weight.col(1) *= 2.0F;
  Cogd algorithm({});
  descend(run(algorithm, 10));  // in the last step, α is 0
  algorithm.updated(step, network);
  EXPECT_EQ(algorithm.moved(), 0);
}

TEST_F(CogdTest, CapsAndShrinks) {
  Cogd algorithm({.strength = 0, .l1 = 1, .cap = 0.5});
  descend(run(algorithm, 0));
  const Matrix v = network.layer(0).weight;
  const Matrix u = network.layer(1).weight;
  algorithm.updated(step, network);
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    const float x = v.data()[i];
    EXPECT_FLOAT_EQ(network.layer(0).weight.data()[i], std::copysign(std::max(std::abs(x) - 0.1F, 0.0F), x));
  }
  for (Eigen::Index j = 0; j < 3; ++j) {
    EXPECT_GT(u.col(j).norm(), 0.5F);
    EXPECT_NEAR(network.layer(1).weight.col(j).norm(), 0.5, 1e-6);
    EXPECT_LT((network.layer(1).weight.col(j) - u.col(j) * (0.5F / u.col(j).norm())).norm(), 1e-6F);
  }
}

TEST_F(CogdTest, FactorsTakeTurns) {
  Cogd algorithm({.update = Cogd::CogdUpdate::alternating});
  for (const std::int64_t number : {0, 1}) {
    const models::Gradient gradient = run(algorithm, number);
    const std::vector<double> bytes = step.exchange().uplink_bytes();
    const models::Gradient plain = shared(number);
    const std::size_t rests = number == 0 ? 1 : 0;
    EXPECT_EQ(gradient.matrices[rests].weight.norm(), 0);
    EXPECT_LT((gradient.matrices[1 - rests].weight - plain.matrices[1 - rests].weight).norm(), 1e-6F);
    EXPECT_LT((gradient.matrices[2].weight - plain.matrices[2].weight).norm(), 1e-6F);
    const double rank = 3;
    const double sent = (number == 0 ? 6 * 3 : 3 * 8 + 8) + 8 * 4 + 4 + rank;
    EXPECT_EQ(bytes, std::vector<double>(2, 4 * sent));
    // The optimizer's state must not move the resting factor either.
    network.layer(rests).weight.array() += 1.0F;
    const Matrix before = network.layer(rests).weight.array() - 1.0F;
    const Matrix other = network.layer(1 - rests).weight;
    Cogd plain_turns({.update = Cogd::CogdUpdate::alternating, .strength = 0, .cap = 0});
    network.layer(rests).weight = before;
    run(plain_turns, number);
    network.layer(rests).weight.array() += 1.0F;
    plain_turns.updated(step, network);
    EXPECT_EQ(network.layer(rests).weight, before);
    EXPECT_EQ(network.layer(1 - rests).weight, other);
  }
}

// A factor's error is kept during the other factor's turn: V is sent in steps 0 and 2 as if step 1 had not happened.
TEST_F(CogdTest, WhatIsKeptOfAFactorWaitsForItsTurn) {
  spec::CompressSpec compress{.method = "top-k",
                              .parameters = default_parameters(compress::compressors().at("top-k").parameters),
                              .memory = true};
  compress.parameters.at("fraction") = "0.2";
  const auto last = [&](Algorithm& algorithm, const std::vector<std::int64_t>& numbers) {
    TrainingStep compressed(network, spec::ExchangeMode::peer, 1, compress);
    compressed.set_update_rule({{.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 0.1}, nullptr, 0.1, 10});
    for (const std::int64_t number : numbers) {
      compressed.begin(number, samples, batch_of(number));
      algorithm.run(compressed);
      compressed.finish();
    }
    return compressed.gradient();
  };
  Cogd turns({.update = Cogd::CogdUpdate::alternating, .strength = 0, .cap = 0});
  const std::unique_ptr<Algorithm> all = make_algorithm(algorithm_registry().at("gradient-sharing"));
  const Matrix v = last(turns, {0, 1, 2}).matrices[0].weight;
  EXPECT_LT((v - last(*all, {0, 2}).matrices[0].weight).norm(), 1e-6F);
  EXPECT_GT((v - last(*all, {2}).matrices[0].weight).norm(), 1e-3F);  // the error of step 0 matters
}

TEST_F(CogdTest, GradientsOfUAreOld) {
  Cogd algorithm({.update = Cogd::CogdUpdate::stale, .staleness = 2});
  for (std::int64_t number = 0; number < 5; ++number) {
    const models::Gradient gradient = run(algorithm, number);
    const models::Gradient now = shared(number);
    EXPECT_LT((gradient.matrices[0].weight - now.matrices[0].weight).norm(), 1e-6F);
    if (number < 2) {
      EXPECT_EQ(gradient.matrices[1].weight.norm(), 0);
    } else {
      EXPECT_LT((gradient.matrices[1].weight - shared(number - 2).matrices[1].weight).norm(), 1e-6F);
      EXPECT_LT((gradient.matrices[1].bias - shared(number - 2).matrices[1].bias).norm(), 1e-6F);
    }
  }
}

TEST_F(CogdTest, CountsTheDead) {
  EXPECT_EQ(Cogd::dead_components(network, 0), 0);
  network.layer(0).weight.row(2).setZero();
  EXPECT_EQ(Cogd::dead_components(network, 0), 1);
  network.layer(1).weight.col(0) *= 1e-4F;
  EXPECT_EQ(Cogd::dead_components(network, 0), 2);
  Cogd algorithm({});
  run(algorithm, 0);
  algorithm.updated(step, network);
  EXPECT_EQ(step.ranks().site, (std::vector<double>{1, 1, 4}));
}

}  // namespace
}  // namespace dadsim::algorithms
