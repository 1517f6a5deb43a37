// Compares the accountant of the sampled Gaussian mechanism with numerical integration and published values.
#include "estimate/privacy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace dadsim::estimate {
namespace {

/// Integrates ln A_α by the trapezoidal rule on a fine grid, which is exact to rounding for integrands that decay like
/// a Gaussian. Works on logarithms, at whole and fractional orders. Shares no code with the tested function.
double integrated_divergence(double q, double sigma, double order) {
  const auto log_integrand = [&](double z) {
    const double a = std::log1p(-q);
    const double b = std::log(q) + (2.0 * z - 1.0) / (2.0 * sigma * sigma);
    const double larger = std::max(a, b);
    const double mixture = larger + std::log1p(std::exp(std::min(a, b) - larger));
    return order * mixture - z * z / (2.0 * sigma * sigma) - std::log(sigma * std::sqrt(2.0 * std::numbers::pi));
  };
  const double from = -40.0 * sigma;
  const double to = order + 40.0 * sigma;  // the mass is around 0 and around α
  constexpr int kPoints = 400'000;
  const double step = (to - from) / kPoints;
  double largest = -std::numeric_limits<double>::infinity();
  for (int i = 0; i <= kPoints; ++i) largest = std::max(largest, log_integrand(from + i * step));
  double sum = 0;
  for (int i = 0; i <= kPoints; ++i) sum += std::exp(log_integrand(from + i * step) - largest);
  return (largest + std::log(sum * step)) / (order - 1.0);
}

TEST(Privacy, DivergenceIsThatOfNumericalIntegration) {
  struct Case {
    double q, sigma, order;
  };
  for (const Case& c : {Case{0.01, 1.0, 2},
                        {0.01, 1.0, 1.5},
                        {0.01, 1.0, 32},
                        {0.1, 2.0, 5},
                        {0.1, 2.0, 20.5},
                        {0.5, 2.0, 32.5},
                        {0.004, 1.1, 8.7},
                        {0.004, 0.7, 3.3},
                        {0.02, 0.5, 2.9},
                        {0.9, 4.0, 10.9},
                        {0.02, 6.0, 100},
                        {0.3, 1.0, 1.1}}) {
    const double expected = integrated_divergence(c.q, c.sigma, c.order);
    EXPECT_NEAR(renyi_divergence(c.q, c.sigma, c.order), expected, 1e-7 * expected + 1e-12)
        << c.q << ' ' << c.sigma << ' ' << c.order;
  }
}

TEST(Privacy, DivergenceOfTensorFlowPrivacysOwnTests) {
  // rdp_accountant_test.py of TensorFlow Privacy prints these values with five decimals.
  EXPECT_NEAR(10 * renyi_divergence(0.1, 2.0, 5), 0.07737, 5e-6);
  const std::vector<std::pair<double, double>> of_order = {
      {1.5, 0.00065}, {2.5, 0.001085}, {5, 0.00218075}, {50, 0.023846}, {100, 167.416307}};
  for (const auto& [order, expected] : of_order) {
    EXPECT_NEAR(50 * renyi_divergence(0.01, 2.5, order), expected, 1e-5) << order;
  }
}

TEST(Privacy, WithoutSamplingItIsTheGaussianMechanism) {
  EXPECT_DOUBLE_EQ(renyi_divergence(1, 10, 20), 0.1);  // α ÷ 2σ²
  EXPECT_EQ(renyi_divergence(0, 10, 20), 0);
  EXPECT_EQ(renyi_divergence(0.5, 0, 2), std::numeric_limits<double>::infinity());
  // At a sampling rate near 1, the divergence is near that without sampling.
  EXPECT_NEAR(renyi_divergence(1 - 1e-9, 3, 7.5), 7.5 / 18, 1e-6);
}

TEST(Privacy, FractionalOrdersLieBetweenWholeOnes) {
  // (α − 1) RDP(α) is convex, and RDP does not fall with α.
  for (const double sigma : {0.7, 1.1, 4.0}) {
    double before = 0;
    for (double order = 1.1; order < 12; order += 0.1) {
      const double divergence = renyi_divergence(0.01, sigma, order);
      EXPECT_GT(divergence, before) << sigma << ' ' << order;
      before = divergence;
    }
    EXPECT_NEAR(renyi_divergence(0.01, sigma, 3 + 1e-9), renyi_divergence(0.01, sigma, 3), 1e-7);
  }
}

TEST(Privacy, EpsilonOfPublishedTrainings) {
  // TensorFlow Privacy's tutorials train on MNIST with 60,000 examples, batch 256 and δ = 1e-5. Their tables give σ,
  // epochs and ε, in 2019 (1.19, 3.01, 7.10) and later (2.92, 9.74, 1.20), by the conversion of that time.
  struct Row {
    double sigma, epochs, epsilon;
  };
  for (const Row& row :
       {Row{1.3, 15, 1.19}, {1.1, 60, 3.01}, {0.7, 45, 7.10}, {1.12, 60, 2.92}, {0.6, 30, 9.74}, {1.2, 10, 1.20}}) {
    const SampledGaussian training{256.0 / 60000, row.sigma, static_cast<std::int64_t>(row.epochs * 60000 / 256)};
    const double classic = epsilon_spent(training, 1e-5, Conversion::classic);
    EXPECT_NEAR(classic, row.epsilon, 0.01 * row.epsilon) << row.sigma;
    const double tight = epsilon_spent(training, 1e-5);
    EXPECT_LT(tight, classic);
    EXPECT_GT(tight, 0.7 * classic);
  }
}

TEST(Privacy, EpsilonOfOneGaussianIsAboveTheExactOne) {
  // A single Gaussian mechanism without sampling has the exact curve δ(ε) = Φ(1/2σ − εσ) − e^ε Φ(−1/2σ − εσ) (Balle &
  // Wang, ICML 2018, arXiv 1805.06530). The accountant's ε must be at least this ε, and close to it.
  const auto normal = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  for (const double sigma : {0.8, 2.0, 5.0}) {
    const double epsilon = epsilon_spent({1, sigma, 1}, 1e-5);
    const double delta =
        normal(0.5 / sigma - epsilon * sigma) - std::exp(epsilon) * normal(-0.5 / sigma - epsilon * sigma);
    EXPECT_LE(delta, 1e-5) << sigma;
    const double less = 0.9 * epsilon;
    EXPECT_GT(normal(0.5 / sigma - less * sigma) - std::exp(less) * normal(-0.5 / sigma - less * sigma), 1e-5) << sigma;
  }
}

TEST(Privacy, EpsilonRisesWithStepsAndRateAndFallsWithNoise) {
  double before = 0;
  for (const std::int64_t steps : {1, 10, 100, 1000, 10'000}) {
    const double epsilon = epsilon_spent({0.01, 1.0, steps}, 1e-5);
    EXPECT_GT(epsilon, before);
    before = epsilon;
  }
  EXPECT_GT(epsilon_spent({0.02, 1.0, 100}, 1e-5), epsilon_spent({0.01, 1.0, 100}, 1e-5));
  EXPECT_GT(epsilon_spent({0.01, 0.9, 100}, 1e-5), epsilon_spent({0.01, 1.0, 100}, 1e-5));
  EXPECT_GT(epsilon_spent({0.01, 1.0, 100}, 1e-6), epsilon_spent({0.01, 1.0, 100}, 1e-5));
  EXPECT_EQ(epsilon_spent({0.01, 1.0, 0}, 1e-5), 0);
  EXPECT_EQ(epsilon_spent({0.01, 0, 1}, 1e-5), std::numeric_limits<double>::infinity());
}

TEST(Privacy, TheNoiseForAnEpsilonSpendsIt) {
  for (const double epsilon : {0.1, 3.0, 50.0}) {
    for (const double rate : {0.004, 1.0}) {
      const double sigma = noise_multiplier_for(epsilon, 1e-5, rate, 500);
      const double spent = epsilon_spent({rate, sigma, 500}, 1e-5);
      EXPECT_LE(spent, epsilon);
      EXPECT_GT(spent, 0.9999 * epsilon) << epsilon << ' ' << rate;
    }
  }
  EXPECT_THROW(noise_multiplier_for(1e-9, 1e-5, 1.0, 1'000'000), std::invalid_argument);
  EXPECT_THROW(noise_multiplier_for(0, 1e-5, 1.0, 1), std::invalid_argument);
}

}  // namespace
}  // namespace dadsim::estimate
