// Tests which sums mixing preserves and how fast sites converge, in double precision and with the fp32 code that
// learns.
#include "algorithms/gossip/consensus.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace dadsim::algorithms {
namespace {

using test::Numbers;

constexpr std::uint64_t kConsensusSeed = 11;

/// Errors after 1,000 and 3,000 iterations on a ring of 8 sites with 100 × 100 normal numbers each.
struct Errors {
  double after_1000, after_3000, mean_moved;
};

template <class Iteration>
Errors errors_of(const Iteration& iterate) {
  Numbers x = test::normal_numbers(8, 100, 100, kConsensusSeed);
  const models::MatrixOf<double> mean = test::mean_of(x);
  Errors errors{};
  for (int t = 0; t < 3000; ++t) {
    iterate(x);
    if (t + 1 == 1000) errors.after_1000 = test::spread(x);
  }
  errors.after_3000 = test::spread(x);
  errors.mean_moved = (test::mean_of(x) - mean).cwiseAbs().maxCoeff();
  return errors;
}

Errors power_gossip(double gamma, bool random_start) {
  const Topology ring = test::topology("ring", 8);
  test::PowerAveraging averaging(ring.at(0).mixing, 1, gamma, random_start);
  return errors_of([&](Numbers& x) { averaging.iterate(x, kConsensusSeed); });
}

Errors choco_top_50(double gamma) {
  const Topology ring = test::topology("ring", 8);
  test::ChocoAveraging averaging(test::normal_numbers(8, 100, 100, kConsensusSeed), 50);
  return errors_of([&](Numbers& x) { averaging.iterate(x, ring.at(0).mixing, gamma); });
}

/// Expects equal errors within a factor of two, which different random numbers explain.
void expect_near(double error, double expected, const std::string& what) {
  EXPECT_LT(error, 2 * expected) << what;
  EXPECT_GT(error, expected / 2) << what;
  std::printf("[ figure ] %s: %.3g, expected %.3g\n", what.c_str(), error, expected);
}

TEST(Consensus, NormalNumbersAreAsFarApartAsTheyShouldBe) {
  EXPECT_NEAR(test::spread(test::normal_numbers(8, 100, 100, kConsensusSeed)), 10000.0 * 7 / 8, 100);
}

// The step 1.3084 is 2 ÷ (λ₂ + λ_max) of I − W for a ring of 8 sites.
TEST(Consensus, PowerGossipComesTogetherAsItsRecursionSays) {
  const Errors warm = power_gossip(1.308, false);
  expect_near(warm.after_1000, 6.5, "PowerGossip, gamma 1.308, warm, 1000");
  expect_near(warm.after_3000, 1.6e-4, "PowerGossip, gamma 1.308, warm, 3000");
  EXPECT_LT(warm.mean_moved, 1e-12);
  const Errors random = power_gossip(1.308, true);
  expect_near(random.after_1000, 29.6, "PowerGossip, gamma 1.308, random, 1000");
  expect_near(random.after_3000, 2.0e-3, "PowerGossip, gamma 1.308, random, 3000");
  EXPECT_LT(random.mean_moved, 1e-12);
  const Errors untuned = power_gossip(1, false);
  expect_near(untuned.after_1000, 16.5, "PowerGossip, gamma 1, warm, 1000");
  expect_near(untuned.after_3000, 3.2e-3, "PowerGossip, gamma 1, warm, 3000");
  EXPECT_LT(untuned.mean_moved, 1e-12);
}

// 50 entries with their indices take as many bytes as a vector of 100.
TEST(Consensus, ChocoComesTogetherAsItsRecursionSays) {
  const std::vector<std::array<double, 3>> expected{{0.02, 4.9, 5.1e-5}, {0.005, 335, 5.3}};
  for (const auto& [gamma, after_1000, after_3000] : expected) {
    const Errors errors = choco_top_50(gamma);
    expect_near(errors.after_1000, after_1000, "CHOCO top-50, gamma " + std::to_string(gamma) + ", 1000");
    expect_near(errors.after_3000, after_3000, "CHOCO top-50, gamma " + std::to_string(gamma) + ", 3000");
    EXPECT_LT(errors.mean_moved, 1e-12);
  }
}

TEST(Consensus, PlainMixingKeepsTheMeanOnEveryGraphWithSuchWeights) {
  for (const char* name : {"ring", "torus", "exponential", "complete", "star", "random", "erdos-renyi", "matchings",
                           "one-peer-exponential"}) {
    const Topology topology = test::topology(name, 12);
    ASSERT_TRUE(topology.doubly_stochastic()) << name;
    Numbers x = test::normal_numbers(12, 5, 5, kConsensusSeed);
    const models::MatrixOf<double> mean = test::mean_of(x);
    const double before = test::spread(x);
    for (int t = 0; t < 200; ++t) {
      const Numbers sent = x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        std::vector<gossip::Weighed<double>> others;
        for (const auto& [j, weight] : topology.at(t).mixing.from[i]) {
          others.push_back({weight, &sent[static_cast<std::size_t>(j)]});
        }
        gossip::pull(x[i], sent[i], others);
      }
    }
    EXPECT_LT((test::mean_of(x) - mean).cwiseAbs().maxCoeff(), 1e-12) << name;
    EXPECT_LT(test::spread(x), 1e-4 * before) << name;
  }
}

// Degrees differ in the directed graph, so without the weights w, sites would not converge to the mean.
TEST(Consensus, PushSumKeepsItsMassAndComesToTheMean) {
  for (const char* name : {"directed", "exponential", "one-peer-exponential", "star", "ring"}) {
    for (const std::size_t sites : {5, 8, 13}) {
      const Topology topology = test::topology(name, sites);
      Numbers x = test::normal_numbers(sites, 3, 4, kConsensusSeed);
      Numbers w(sites, models::MatrixOf<double>::Ones(1, 1));
      const models::MatrixOf<double> mean = test::mean_of(x);
      double furthest = 0;
      for (int t = 0; t < 600; ++t) {
        test::push_sum(x, topology.at(t));
        test::push_sum(w, topology.at(t));
        for (const auto& weight : w) furthest = std::max(furthest, std::abs(weight(0) - 1));
      }
      EXPECT_LT((test::mean_of(x) - mean).cwiseAbs().maxCoeff(), 1e-12) << name;
      EXPECT_NEAR(test::mean_of(w)(0), 1, 1e-12) << name;
      for (std::size_t i = 0; i < sites; ++i) {
        EXPECT_LT((x[i] / w[i](0) - mean).cwiseAbs().maxCoeff(), 1e-11) << name << ' ' << sites;
      }
      if (topology.regular()) {
        EXPECT_LT(furthest, 1e-12) << name << ": where degrees are alike weights stay at one";
      } else {
        EXPECT_GT(furthest, 0.05) << name;
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::algorithms
