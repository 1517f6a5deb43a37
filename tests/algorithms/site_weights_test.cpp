// Tests the weights of sites. With unequal sites that have classes of their own, methods reach the minimum of Σ p_s
// F_s, which the test computes in double precision.
#include "algorithms/site_weights.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <tuple>

#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "models/data/generated.hpp"

namespace dadsim::algorithms {
namespace {

using spec::SiteWeights;

constexpr double kDecay = 0.5;  // λ makes the minimum unique
constexpr double kRate = 0.05;
constexpr std::size_t kClasses = 10;

/// Three sites with 8, 16 and 56 digits, sorted by class, so that a site lacks most classes.
struct Unequal {
  Unequal() {
    data.train = models::draw_digits(0, 80, 3);
    data.test = models::draw_digits(80, 10, 3);
    data.shape = {28, 28, 1};
    data.classes = kClasses;
    std::vector<std::int32_t> order(80);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int32_t i) { return data.train.labels[static_cast<std::size_t>(i)]; });
    for (const auto& [from, until] : {std::pair{0, 8}, {8, 24}, {24, 80}}) {
      partition.emplace_back(order.begin() + from, order.begin() + until);
    }
    problem.model.layers = {spec::DenseSpec{kClasses, spec::Activation::identity, false}};
    problem.training.batch = 80;
    problem.training.epochs = 1000;
    problem.training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = kRate};
    problem.training.optimizer.momentum = 0;
    problem.training.optimizer.weight_decay = kDecay;
  }
  models::Dataset data;
  models::Partition partition;
  LearningProblem problem{data, partition, {}, {}, 3};
};

/// Returns the minimum of Σ p_s F_s + λ/2 ‖W‖² for multinomial logistic regression. Descent with a constant step
/// shrinks the error by 1 − η λ = 0.975 per step.
Eigen::MatrixXd minimum(const Unequal& sites, const std::vector<double>& shares) {
  const Eigen::MatrixXd x = sites.data.train.features.cast<double>();
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(kClasses, x.cols());
  for (int step = 0; step < 1200; ++step) {
    Eigen::MatrixXd gradient = kDecay * w;
    for (std::size_t site = 0; site < sites.partition.size(); ++site) {
      const double each = shares[site] / static_cast<double>(sites.partition[site].size());
      for (const std::int32_t sample : sites.partition[site]) {
        Eigen::VectorXd p = w * x.row(sample).transpose();
        p = (p.array() - p.maxCoeff()).exp();
        p /= p.sum();
        p(sites.data.train.labels[static_cast<std::size_t>(sample)]) -= 1;
        gradient += each * p * x.row(sample);
      }
    }
    w -= kRate * gradient;
  }
  return w;
}

Eigen::MatrixXd learned(const Unequal& sites, const SynchronousMethod& method, SiteWeights weights) {
  spec::RunSpec run = run_of(method, method.lossless);
  run.decentralised = method.decentralised();
  run.exchange = spec::ExchangeMode::peer;
  run.weights = weights;
  const auto learners = make_learners(run, sites.problem, 600);
  const Batch all(sites.partition.begin(), sites.partition.end());
  for (std::int64_t step = 0; step < 600; ++step) learners->train(step, kRate, all);
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(kClasses, sites.data.train.features.cols());
  for (const models::Network* network : learners->networks()) mean += network->layer(0).weight.cast<double>();
  return mean / static_cast<double>(learners->networks().size());
}

/// Returns true for methods that lose nothing with suitable parameters and plain SGD, and for methods that mix weights.
bool comes_to_a_minimum(const SynchronousMethod& method) {
  if (!method.communicates() || !why_no_weights(method).empty() || method.estimates) return false;
  if (method.optimizer == Needs::adam || method.optimizer == Needs::muon) return false;
  if (!method.statistics.empty()) return false;
  return method.decentralised() || method.exact(run_of(method)) || !method.lossless.empty();
}

TEST(SiteWeights, EachMethodComesToTheMinimumOfWhatItIsAskedToMinimise) {
  const Unequal sites;
  const Eigen::MatrixXd by_samples = minimum(sites, site_shares(SiteWeights::samples, sites.partition));
  const Eigen::MatrixXd by_sites = minimum(sites, site_shares(SiteWeights::uniform, sites.partition));
  const double apart = (by_samples - by_sites).norm();
  ASSERT_GT(apart, 0.1 * by_samples.norm()) << "sites that make a difference";
  int methods = 0;
  for (const SynchronousMethod& method : algorithm_registry().all()) {
    if (!comes_to_a_minimum(method)) continue;
    ++methods;
    for (const auto& [weights, own, other] : {std::tuple{SiteWeights::published, &by_samples, &by_sites},
                                              {SiteWeights::samples, &by_samples, &by_sites},
                                              {SiteWeights::uniform, &by_sites, &by_samples}}) {
      const Eigen::MatrixXd w = learned(sites, method, weights);
      const double off = (w - *own).norm() / apart;
      std::printf("[ figure ] %s, %s: %.3g of the way from its minimum to the other\n", method.name.c_str(),
                  to_string(weights), off);
      // At a constant rate, sites that mix weights end near their minimum. Other methods reach it to fp32 precision.
      EXPECT_LT(off, method.decentralised() ? 0.45 : 1e-4) << method.name << ", " << to_string(weights);
      EXPECT_GT((w - *other).norm() / apart, 0.6) << method.name << ", " << to_string(weights);
    }
  }
  EXPECT_GE(methods, 8);
}

TEST(SiteWeights, EqualBatchesWeighSitesAlikeUntilSamplesAreAskedFor) {
  const Unequal sites;
  spec::TrainingSpec training = sites.problem.training;
  EXPECT_TRUE(site_factors(SiteWeights::published, training, sites.partition).empty());
  EXPECT_TRUE(site_factors(SiteWeights::samples, training, sites.partition).empty()) << "as batches are already";
  training.batches = spec::TrainingSpec::Batches::equal;
  training.batch = 4;
  EXPECT_TRUE(site_factors(SiteWeights::uniform, training, sites.partition).empty());
  const std::vector<float> factors = site_factors(SiteWeights::samples, training, sites.partition);
  ASSERT_EQ(factors.size(), 3U);
  EXPECT_FLOAT_EQ(factors[0], 0.3F) << "8 of 80 samples, a third of the rows";
  EXPECT_FLOAT_EQ(factors[2], 2.1F);
}

TEST(SiteWeights, WhatTheyMeanNothingToIsRefusedWithTheReason) {
  for (const SynchronousMethod& method : algorithm_registry().all()) {
    spec::RunSpec run = run_of(method);
    run.weights = SiteWeights::uniform;
    const std::string why = why_no_weights(method);
    const RunFaults faults = faults_of(method, {.run = run});
    EXPECT_EQ(std::ranges::any_of(faults, [&](const RunFault& fault) { return fault.what.find("weights=") == 0; }),
              !why.empty())
        << method.name;
  }
}

}  // namespace
}  // namespace dadsim::algorithms
