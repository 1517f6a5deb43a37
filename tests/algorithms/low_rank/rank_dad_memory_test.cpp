// Tests that rank-dAD with error feedback loses nothing over several steps.
#include <gtest/gtest.h>

#include <boost/random/normal_distribution.hpp>
#include <cmath>

#include "algorithms/low_rank/rank_dad.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::size_t kSites = 3;

/// Several steps of one instance on unequal sites.
class RankDadSteps {
 public:
  RankDadSteps(bool remembers, RankDad::Mode mode, spec::ExchangeMode exchange)
      : algorithm_({{.cap = 1, .iterations = 4, .tolerance = 0}, Padding::none}, mode, false, remembers),
        step_(network_, exchange, kSeed, {}) {
    RandomStream random(kSeed, Purpose::test);
    boost::random::normal_distribution<float> normal;
    samples_.features.resize(200, 7);
    for (float& x : samples_.features.reshaped()) x = normal(random);
    for (std::int32_t i = 0; i < 200; ++i) samples_.labels.push_back(i % 4);
  }

  /// Takes the next step, and adds its gradient and the exact gradient to the sums.
  void next() {
    std::vector<std::vector<std::int32_t>> batch(kSites);
    for (std::size_t site = 0; site < kSites; ++site) {
      for (std::size_t i = 0; i < 2 * site + 3; ++i) batch[site].push_back(next_sample_++ % 200);
    }
    step_.begin(number_++, samples_, batch);
    algorithm_.run(step_);
    step_.finish();
    for (std::size_t l = 0; l < step_.matrices(); ++l) {
      add(given_, l, step_.gradient(l));
      add(exact_, l, models::weight_gradient<float>(step_.deltas(l), step_.inputs(l), true));
    }
  }

  /// Returns ‖Σ given + held − Σ exact‖ ÷ ‖Σ exact‖ for matrix l and its bias.
  double lost(std::size_t l, bool with_held) const {
    models::Matrix sum = with_bias(given_[l]);
    if (with_held) {
      for (std::size_t of = 0; of <= kSites; ++of) {
        const models::Matrix& held = algorithm_.memory(l).held(of);
        if (held.size() > 0) sum += held;
      }
    }
    const models::Matrix exact = with_bias(exact_[l]);
    return (sum - exact).norm() / exact.norm();
  }
  std::size_t matrices() const { return step_.matrices(); }

 private:
  static models::Matrix with_bias(const models::LayerGradient& gradient) {
    models::Matrix whole(gradient.weight.rows(), gradient.weight.cols() + 1);
    whole << gradient.weight, gradient.bias;
    return whole;
  }
  static void add(std::vector<models::LayerGradient>& sums, std::size_t l, const models::LayerGradient& gradient) {
    if (sums.size() <= l) {
      sums.push_back(gradient);
      return;
    }
    sums[l].weight += gradient.weight;
    sums[l].bias += gradient.bias;
  }

  models::Network network_{
      7,
      {.name = "",
       .layers = {spec::DenseSpec{9, spec::Activation::tanh, true}, spec::DenseSpec{6, spec::Activation::tanh, true},
                  spec::DenseSpec{4, spec::Activation::identity, true}}},
      kSeed};
  models::Samples samples_;
  RankDad algorithm_;
  TrainingStep step_;
  std::int64_t number_ = 0;
  std::int32_t next_sample_ = 0;
  std::vector<models::LayerGradient> given_, exact_;
};

TEST(RankDadMemory, WhatWasGivenAndWhatIsHeldIsTheSumOfTheGradients) {
  for (const RankDad::Mode mode : {RankDad::Mode::two_way, RankDad::Mode::one_way}) {
    for (const spec::ExchangeMode exchange : {spec::ExchangeMode::aggregator, spec::ExchangeMode::peer}) {
      RankDadSteps steps(true, mode, exchange);
      for (int i = 0; i < 12; ++i) steps.next();
      for (std::size_t l = 0; l < steps.matrices(); ++l) {
        EXPECT_LT(steps.lost(l, true), 1e-5) << "layer " << l;
        EXPECT_GT(steps.lost(l, false), 1e-2) << "one component is too few, or this test says nothing";
      }
    }
  }
}

TEST(RankDadMemory, LosesLessOverStepsThanWithout) {
  RankDadSteps with(true, RankDad::Mode::two_way, spec::ExchangeMode::peer);
  RankDadSteps without(false, RankDad::Mode::two_way, spec::ExchangeMode::peer);
  for (int i = 0; i < 60; ++i) {
    with.next();
    without.next();
  }
  for (std::size_t l = 0; l < with.matrices(); ++l) EXPECT_LT(with.lost(l, false), 0.8 * without.lost(l, false));
}

}  // namespace
}  // namespace dadsim::algorithms
