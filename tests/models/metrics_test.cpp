#include "models/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "models/data/generated.hpp"
#include "models/thread_counts.hpp"
#include "models/uniform.hpp"

namespace dadsim::models {
namespace {

// Returns the AUC by its definition, over all pairs of a positive and a negative sample; a tie counts as one half.
double auc_by_pairs(const MatrixOf<double>& scores, const std::vector<std::int32_t>& labels) {
  double sum = 0;
  double classes = 0;
  for (Eigen::Index c = 0; c < scores.cols(); ++c) {
    double won = 0;
    double pairs = 0;
    for (Eigen::Index i = 0; i < scores.rows(); ++i) {
      if (labels[static_cast<std::size_t>(i)] != c) continue;
      for (Eigen::Index j = 0; j < scores.rows(); ++j) {
        if (labels[static_cast<std::size_t>(j)] == c) continue;
        pairs += 1;
        won += scores(i, c) > scores(j, c) ? 1 : (scores(i, c) == scores(j, c) ? 0.5 : 0);
      }
    }
    if (pairs == 0) continue;
    sum += won / pairs;
    classes += 1;
  }
  return sum / classes;
}

TEST(Auc, EqualsTheDefinitionByPairs) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, Purpose::test);
    const Eigen::Index rows = 40 + static_cast<Eigen::Index>(seed);
    // Integer logits, in rows with few different normalisers, give many ties.
    Matrix logits(rows, 4);
    std::vector<std::int32_t> labels;
    for (Eigen::Index i = 0; i < logits.size(); ++i) {
      logits.data()[i] = std::floor(static_cast<float>(uniform(random, 0, seed % 2 == 0 ? 2 : 1000)));
    }
    // For some seeds, class 3 is absent.
    for (Eigen::Index i = 0; i < rows; ++i)
      labels.push_back(static_cast<std::int32_t>(uniform(random, 0, seed % 3 == 0 ? 3 : 4)));
    MatrixOf<double> scores = logits.cast<double>();
    for (Eigen::Index i = 0; i < rows; ++i) {
      auto z = scores.row(i).array();
      z -= z.maxCoeff();
      z -= std::log(z.exp().sum());
    }
    EXPECT_NEAR(evaluate_logits(logits, labels).auc, auc_by_pairs(scores, labels), 1e-12) << "seed " << seed;
  }
}

TEST(Auc, Ends) {
  Matrix logits(4, 2);
  logits << 3, 0, 2, 0, 0, 1, 0, 5;
  EXPECT_DOUBLE_EQ(evaluate_logits(logits, {0, 0, 1, 1}).auc, 1.0);
  EXPECT_DOUBLE_EQ(evaluate_logits(logits, {1, 1, 0, 0}).auc, 0.0);
  EXPECT_DOUBLE_EQ(evaluate_logits(Matrix::Zero(4, 2), {0, 1, 0, 1}).auc, 0.5);
  EXPECT_TRUE(std::isnan(evaluate_logits(logits, {0, 0, 0, 0}).auc)) << "no class has both";
}

TEST(Auc, RanksProbabilitiesNotLogits) {
  // By its logits, column 0 ranks the negative sample (5) above the positive (1); by probabilities, the order is the
  // opposite.
  Matrix logits(2, 2);
  logits << 1, -9, 5, 9;
  EXPECT_DOUBLE_EQ(evaluate_logits(logits, {0, 1}).auc, 1.0);
}

TEST(Quality, LossAndAccuracyByHand) {
  Matrix logits(3, 3);
  logits << 1, 1, 0,  // equal logits predict class 0
      0, 2, 0,        //
      0, 0, 3;
  const Quality quality = evaluate_logits(logits, {1, 1, 2});
  EXPECT_NEAR(quality.accuracy, 2.0 / 3, 1e-15);
  const double e = std::exp(1.0);
  const double loss = (std::log(2 * e + 1) - 1 + std::log(e * e + 2) - 2 + std::log(std::exp(3.0) + 2) - 3) / 3;
  EXPECT_NEAR(quality.loss, loss, 1e-14);
}

TEST(Quality, StableForHugeLogits) {
  Matrix logits(2, 2);
  logits << 1e30F, -1e30F, 1e30F, -1e30F;
  const Quality quality = evaluate_logits(logits, {0, 1});
  EXPECT_EQ(quality.accuracy, 0.5);
  EXPECT_NEAR(quality.loss, 1e30, 1e24);
}

TEST(Quality, DivergedNetworkIsNeverRight) {
  Matrix logits = Matrix::Constant(3, 2, std::numeric_limits<float>::quiet_NaN());
  const Quality quality = evaluate_logits(logits, {0, 0, 1});
  EXPECT_EQ(quality.accuracy, 0);
  EXPECT_TRUE(std::isnan(quality.loss));
  EXPECT_TRUE(std::isnan(quality.auc));
}

TEST(Quality, RefusesWhatDoesNotFit) {
  EXPECT_THROW(evaluate_logits(Matrix::Zero(2, 2), {0}), std::logic_error);
  EXPECT_THROW(evaluate_logits(Matrix::Zero(2, 2), {0, 2}), std::logic_error);
  EXPECT_THROW(evaluate_logits(Matrix::Zero(0, 2), {}), std::logic_error);
}

TEST(Evaluate, EqualsTheForwardPassForAnyNumberOfThreads) {
  const Samples samples = draw_digits(0, 700, 3);
  spec::ModelSpec spec;
  spec.layers = {spec::DenseSpec{150, spec::Activation::gelu, true},
                 spec::DenseSpec{10, spec::Activation::identity, true}};
  const Network network(784, spec, 1);
  Tape tape;
  network.forward(samples.features, Pass{}, tape);
  const Quality whole = evaluate_logits(tape.logits(), samples.labels);
  const Quality blocks = evaluate(network, samples);
  EXPECT_NEAR(blocks.loss, whole.loss, 1e-6);
  EXPECT_NEAR(blocks.accuracy, whole.accuracy, 2.0 / 700);
  EXPECT_NEAR(blocks.auc, whole.auc, 1e-5);
  test::expect_same_for_thread_counts([&] { return evaluate(network, samples); },
                                      [](const Quality& a, const Quality& b) {
                                        return a.loss == b.loss && a.accuracy == b.accuracy && a.auc == b.auc;
                                      });
}

}  // namespace
}  // namespace dadsim::models
