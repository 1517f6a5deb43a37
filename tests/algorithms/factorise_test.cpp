#include "algorithms/pieces/factorise.hpp"

#include <gtest/gtest.h>

#include <Eigen/SVD>
#include <boost/random/normal_distribution.hpp>

#include "algorithms/one_step.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

models::Matrix random_matrix(Eigen::Index rows, Eigen::Index columns, std::uint32_t stream) {
  RandomStream random(11, Purpose::test, stream);
  boost::random::normal_distribution<float> normal;
  models::Matrix matrix(rows, columns);
  for (float& x : matrix.reshaped()) x = normal(random);
  return matrix;
}

float relative_error(const Factors& factors, const models::Matrix& exact) {
  return (factors.left.transpose() * factors.right - exact).norm() / exact.norm();
}

constexpr FactoriseOptions kAll{.cap = 1000, .iterations = 3, .tolerance = 0};

TEST(Factorise, AllComponentsGiveTheProductWhateverTheIterations) {
  for (const auto& [rows, out, in] :
       {std::tuple{4, 10, 20}, std::tuple{40, 10, 20}, std::tuple{40, 20, 10}, std::tuple{1, 7, 9}}) {
    const models::Matrix delta = random_matrix(rows, out, 1);
    const models::Matrix input = random_matrix(rows, in, 2);
    const models::Matrix exact = delta.transpose() * input;
    for (const FactoriseBranch branch : {FactoriseBranch::gram, FactoriseBranch::explicit_}) {
      for (const std::int64_t iterations : {1, 10}) {
        FactoriseOptions options = kAll;
        options.iterations = iterations;
        const Factors factors = factorise(delta, input, options, 1, 0, 0, branch);
        EXPECT_EQ(factors.rank(), std::min({rows, out, in}));
        EXPECT_LT(relative_error(factors, exact), 2e-6F);
      }
    }
  }
}

TEST(Factorise, DirectionsAreOrthonormal) {
  const Factors factors = factorise(random_matrix(32, 50, 1), random_matrix(32, 80, 2),
                                    {.cap = 12, .iterations = 2, .tolerance = 0}, 1, 0, 0);
  ASSERT_EQ(factors.rank(), 12);
  models::Matrix directions = factors.left;
  for (Eigen::Index k = 0; k < 12; ++k) directions.row(k).normalize();
  EXPECT_LT((directions * directions.transpose() - models::Matrix::Identity(12, 12)).cwiseAbs().maxCoeff(), 1e-5F);
  for (Eigen::Index k = 0; k < 12; ++k) EXPECT_NEAR(factors.right.row(k).norm(), 1.0F, 1e-5F);
}

TEST(Factorise, BranchesAgree) {
  const models::Matrix delta = random_matrix(24, 16, 1);
  const models::Matrix input = random_matrix(24, 30, 2);
  const FactoriseOptions options{.cap = 5, .iterations = 60, .tolerance = 0};
  const Factors gram = factorise(delta, input, options, 1, 0, 0, FactoriseBranch::gram);
  const Factors explicit_product = factorise(delta, input, options, 1, 0, 0, FactoriseBranch::explicit_);
  const models::Matrix a = gram.left.transpose() * gram.right;
  const models::Matrix b = explicit_product.left.transpose() * explicit_product.right;
  EXPECT_LT((a - b).norm() / a.norm(), 2e-3F);
}

TEST(Factorise, IsCloseToTheBestApproximation) {
  // The singular values decay, as those of gradients do.
  models::Matrix delta = random_matrix(32, 40, 1);
  models::Matrix input = random_matrix(32, 60, 2);
  for (Eigen::Index row = 0; row < 32; ++row) delta.row(row) *= std::pow(0.7F, static_cast<float>(row));
  const models::Matrix exact = delta.transpose() * input;
  const Eigen::JacobiSVD<Eigen::MatrixXf> svd(exact);
  for (const int cap : {1, 2, 5, 8}) {
    const Factors factors = factorise(delta, input, {.cap = cap, .iterations = 10, .tolerance = 0}, 1, 0, 0);
    ASSERT_EQ(factors.rank(), cap);
    const float best = svd.singularValues().tail(svd.singularValues().size() - cap).norm();
    EXPECT_LT((factors.left.transpose() * factors.right - exact).norm(), 1.02F * best) << "cap " << cap;
    for (int k = 0; k < cap; ++k) EXPECT_NEAR(factors.left.row(k).norm() / svd.singularValues()[k], 1.0F, 0.05F);
  }
}

TEST(Factorise, FindsTheRankThatThereIs) {
  const models::Matrix delta = random_matrix(3, 40, 1).replicate(10, 1);  // 30 rows of rank 3
  const models::Matrix input = random_matrix(30, 50, 2);
  for (const FactoriseBranch branch : {FactoriseBranch::gram, FactoriseBranch::explicit_}) {
    const Factors factors = factorise(delta, input, {.cap = 20, .iterations = 5, .tolerance = 1e-4}, 1, 0, 0, branch);
    EXPECT_EQ(factors.rank(), 3);
    EXPECT_LT(relative_error(factors, delta.transpose() * input), 1e-5F);
  }
}

TEST(Factorise, AsReleasedDropsTheLastTwoThatWereTried) {
  using enum FactoriseOptions::FactorStop;
  const auto rank = [](const models::Matrix& delta, FactoriseOptions::FactorStop stop) {
    const models::Matrix input = random_matrix(delta.rows(), 50, 2);
    return factorise(delta, input, {.cap = 8, .iterations = 10, .tolerance = 1e-3, .stop = stop}, 1, 0, 0).rank();
  };
  // If the cap ends the search, the last two components count too.
  const models::Matrix full = random_matrix(30, 40, 1);
  EXPECT_EQ(rank(full, directions), 8);
  EXPECT_EQ(rank(full, released), 6);
  // The remainder of a single row is zero, or noise in any direction.
  const models::Matrix one = random_matrix(1, 40, 1);
  EXPECT_EQ(rank(one, directions), 1);
  EXPECT_EQ(rank(one, released), 0);
}

TEST(Factorise, NothingInNothingOut) {
  EXPECT_EQ(factorise(models::Matrix::Zero(8, 5), random_matrix(8, 6, 2), kAll, 1, 0, 0).rank(), 0);
  EXPECT_EQ(factorise(random_matrix(8, 5, 1), models::Matrix::Zero(8, 6), kAll, 1, 0, 0).rank(), 0);
  const Factors empty = factorise(models::Matrix(0, 5), models::Matrix(0, 6), kAll, 1, 0, 0);
  EXPECT_EQ(empty.rank(), 0);
  EXPECT_EQ(empty.left.cols(), 5);
  EXPECT_EQ(empty.right.cols(), 6);
}

TEST(Factorise, OneRowOneComponent) {
  const models::Matrix delta = random_matrix(1, 5, 1);
  const models::Matrix input = random_matrix(1, 6, 2);
  const Factors factors = factorise(delta, input, {.cap = 1, .iterations = 1, .tolerance = 0.01}, 1, 0, 0);
  EXPECT_EQ(factors.rank(), 1);
  EXPECT_LT(relative_error(factors, delta.transpose() * input), 1e-6F);
}

TEST(Factorise, ScaleDoesNotMatter) {
  const models::Matrix delta = random_matrix(16, 20, 1);
  const models::Matrix input = random_matrix(16, 20, 2);
  for (const float scale : {1e-15F, 1e-6F, 1e6F, 1e15F}) {
    for (const FactoriseBranch branch : {FactoriseBranch::gram, FactoriseBranch::explicit_}) {
      const Factors factors =
          factorise(scale * delta, input, {.cap = 16, .iterations = 3, .tolerance = 0}, 1, 0, 0, branch);
      EXPECT_EQ(factors.rank(), 16) << scale;
      // Compares at scale 1, where fp32 can represent the norm.
      const models::Matrix product = (factors.left / scale).transpose() * factors.right;
      const models::Matrix exact = delta.transpose() * input;
      EXPECT_LT((product - exact).norm() / exact.norm(), 5e-6F) << scale;
    }
  }
}

TEST(Factorise, TakesTheCheaperBranch) {
  const FactoriseOptions options;
  EXPECT_EQ(cheaper_branch(32, 784, 512, options), FactoriseBranch::gram);
  EXPECT_EQ(cheaper_branch(100000, 576, 64, options), FactoriseBranch::explicit_);
}

TEST(RankDad, WithoutACutItIsDad) {
  for (const std::string mode : {"one-way", "two-way"}) {
    for (const spec::ExchangeMode exchange : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      for (const std::vector<std::int32_t>& rows : {std::vector<std::int32_t>{6, 6}, std::vector<std::int32_t>{1, 9, 3},
                                                    std::vector<std::int32_t>{40, 2, 30}}) {
        for (const bool bias : {true, false}) {
          test::OneStep::Setup setup;
          setup.rows = rows;
          setup.exchange = exchange;
          setup.bias = bias;
          setup.parameters = {{"cap", "64"}, {"tolerance", "0"}, {"iterations", "10"}, {"mode", mode}};
          test::OneStep::Setup dad = setup;
          dad.parameters = {};
          EXPECT_LT(test::OneStep("rank-dad", setup).relative_difference(test::OneStep("dad", dad)), 1e-5)
              << mode << ' ' << to_string(exchange);
        }
      }
    }
  }
}

// Padding with zero components changes the bytes sent and nothing else.
TEST(RankDad, PaddingFindsTheSameAndSendsOneSize) {
  for (const spec::ExchangeMode exchange : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
    for (const std::string mode : {"two-way", "one-way"}) {
      test::OneStep::Setup setup;
      setup.exchange = exchange;
      setup.rows = {3, 6};  // the first site has at most three components
      setup.parameters = {{"cap", "5"}, {"mode", mode}, {"padding", "none"}};
      const test::OneStep plain("rank-dad", setup);
      setup.parameters["padding"] = "cap";
      const test::OneStep padded("rank-dad", setup);
      EXPECT_LT(padded.relative_difference(plain), 1e-6) << mode;
      EXPECT_EQ(padded.ranks.site, plain.ranks.site);
      EXPECT_EQ(padded.ranks.merged, plain.ranks.merged);
      const double floats = 5 * (13 + 20) + 5 * (21 + 9) + 5 * (10 + 5);
      EXPECT_EQ(padded.uplink_bytes, (std::vector<double>{4 * floats, 4 * floats}));
      EXPECT_LT(plain.uplink_bytes[0], plain.uplink_bytes[1]);
      setup.parameters["padding"] = "agree";
      const test::OneStep agreed("rank-dad", setup);
      EXPECT_LT(agreed.relative_difference(plain), 1e-6) << mode;
      // Peers pad to the largest number of components that any peer found. They exchange this number first, one per
      // layer.
      const bool peers = exchange == spec::ExchangeMode::peer;
      const double most = plain.uplink_bytes[1] + (peers ? 3 * 4 : 0);
      EXPECT_EQ(agreed.uplink_bytes, (std::vector<double>{peers ? most : plain.uplink_bytes[0], most}));
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms
