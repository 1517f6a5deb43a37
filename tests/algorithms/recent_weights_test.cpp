#include "algorithms/recent_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace dadsim::algorithms {
namespace {

models::Network dense(std::int64_t features, std::int64_t units, bool bias) {
  spec::ModelSpec spec;
  spec.layers = {spec::DenseSpec{units, spec::Activation::identity, bias}};
  return {features, spec, 1};
}

/// A network with one weight, whose value is the number of the step; its accuracy is a hundredth of the weight.
class Between : public testing::Test {
 protected:
  Between() : network_(dense(1, 1, false)) {}

  /// Returns the steps that are evaluated, from `begin` on.
  std::vector<std::int64_t> at(std::vector<double> targets, std::int64_t every, std::int64_t steps) {
    RecentWeights between(std::move(targets), every, networks());
    std::vector<step::Evaluation> curve{{.step = 0}};
    for (std::int64_t done = 1; done <= steps; ++done) {
      network_.layer(0).weight(0, 0) = static_cast<float>(done);
      if (done % every == 0) {
        between.add_to(curve, evaluated(done, networks()), networks(),
                       [this](std::int64_t step, const auto& all) { return evaluated(step, all); });
      } else if (between.wants(done)) {
        between.keep(done, networks());
      }
    }
    std::vector<std::int64_t> all;
    for (const step::Evaluation& one : curve) all.push_back(one.step);
    EXPECT_EQ(network_.layer(0).weight(0, 0), static_cast<float>(steps)) << "nothing is changed where it lies";
    return all;
  }

  static step::Evaluation evaluated(std::int64_t step, const RecentWeights::Networks& networks) {
    EXPECT_EQ(networks.front()->layer(0).weight(0, 0), static_cast<float>(step));
    return {.step = step, .accuracy = static_cast<double>(networks.front()->layer(0).weight(0, 0)) / 1000};
  }

  RecentWeights::Networks networks() { return {&network_}; }

  models::Network network_;
};

TEST_F(Between, TheStepIsFoundWhereThereAreFewer) {
  EXPECT_EQ(at({0.0235}, 10, 40), (std::vector<std::int64_t>{0, 10, 20, 23, 24, 25, 30, 40}))
      << "of 21 … 29: 25, 23, 24";
}

TEST_F(Between, ASixteenthWhereThereAreMore) {
  const std::vector<std::int64_t> found = at({0.3}, 320, 640);
  EXPECT_EQ(found, (std::vector<std::int64_t>{0, 160, 240, 280, 300, 320, 640})) << "every twentieth is kept";
}

TEST_F(Between, WithoutATargetThatIsMetNothingIsLookedAt) {
  EXPECT_EQ(at({0.9}, 10, 40), (std::vector<std::int64_t>{0, 10, 20, 30, 40}));
  EXPECT_EQ(at({}, 10, 20), (std::vector<std::int64_t>{0, 10, 20}));
  EXPECT_EQ(at({0.02}, 1, 30).size(), 31U) << "every step is evaluated";
}

TEST_F(Between, SeveralTargetsShareWhatIsLookedAt) {
  const std::vector<std::int64_t> found = at({0.0235, 0.0255}, 10, 40);
  EXPECT_EQ(found, (std::vector<std::int64_t>{0, 10, 20, 23, 24, 25, 26, 27, 28, 30, 40}));
}

TEST(RecentWeights, BytesAreThoseOfAllThatIsCopied) {
  const models::Network network = dense(6, 4, true);
  EXPECT_EQ(bytes_of(network.parameters()), 4 * (6 * 4 + 4));
}

TEST(RecentWeights, ManyNetworksHaveFewerCopiesOrNone) {
  // Weights of 1,025 networks of 32 kB take 33 MB. Four copies exceed the limit, three do not.
  const models::Network network = dense(2048, 4, false);
  const auto looked_at = [&](std::size_t count) {
    const RecentWeights::Networks networks(count, &network);
    RecentWeights between({0.5}, 16, networks);
    std::vector<step::Evaluation> curve{{.step = 0}};
    for (std::int64_t done = 1; done < 16; ++done) {
      if (between.wants(done)) between.keep(done, networks);
    }
    between.add_to(curve, {.step = 16, .accuracy = 0.6}, networks,
                   [](std::int64_t step, const auto&) -> step::Evaluation { return {.step = step}; });
    std::vector<std::int64_t> all;
    for (const step::Evaluation& one : curve) all.push_back(one.step);
    return all;
  };
  EXPECT_EQ(looked_at(1025), (std::vector<std::int64_t>{0, 8, 12, 16})) << "4, 8, 12 are there";
  EXPECT_EQ(looked_at(5000), (std::vector<std::int64_t>{0, 16}));
}

}  // namespace
}  // namespace dadsim::algorithms
