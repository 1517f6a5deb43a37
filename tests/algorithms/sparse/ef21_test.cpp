// Compares EF21 with its definition, arXiv 2106.05203, algorithm 2.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <set>

#include "algorithms/one_step.hpp"
#include "algorithms/sign/several_steps.hpp"
#include "compress/registry.hpp"

namespace dadsim::algorithms {
namespace {

using MatrixD = models::MatrixOf<double>;
using test::SeveralSteps;

spec::CompressSpec compressor(const std::string& name, const spec::ParameterValues& given = {}) {
  spec::CompressSpec spec{.method = name,
                          .parameters = default_parameters(compress::compressors().at(name).parameters)};
  for (const auto& [key, value] : given) spec.parameters[key] = value;
  return spec;
}

std::unique_ptr<Algorithm> made(const std::string& name) { return make_algorithm(algorithm_registry().at(name)); }

/// Keeps the k entries of largest magnitude and sets the others to 0.
MatrixD largest_of(const MatrixD& matrix, std::size_t k) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(matrix.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater{}, [&](Eigen::Index i) { return std::abs(matrix.data()[i]); });
  MatrixD kept = MatrixD::Zero(matrix.rows(), matrix.cols());
  for (std::size_t i = 0; i < k; ++i) kept.data()[order[i]] = matrix.data()[order[i]];
  return kept;
}

double off(const TrainingStep& step, const SeveralSteps& steps, std::size_t l) {
  const models::LayerGradient exact = steps.exact(l);
  return (step.gradient(l).weight - exact.weight).norm() / exact.weight.norm();
}

TEST(Ef21, IsItsDefinition) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::peer, spec::ExchangeMode::aggregator}) {
    const std::unique_ptr<Algorithm> algorithm = made("ef21");
    SeveralSteps steps(*algorithm, mode, {9, 1, 3}, compressor("top-k", {{"fraction", "0.1"}}));
    std::vector<std::vector<MatrixD>> estimates(3, std::vector<MatrixD>(3));
    for (int t = 0; t < 12; ++t) {
      const TrainingStep& step = steps.next();
      for (std::size_t l = 0; l < 3; ++l) {
        MatrixD sum = MatrixD::Zero(step.weights(l).out(), step.weights(l).in());
        for (std::size_t site = 0; site < 3; ++site) {
          MatrixD& estimate = estimates[l][site];
          if (t == 0) estimate = MatrixD::Zero(sum.rows(), sum.cols());
          const MatrixD wanted = steps.of_site(site, l).weight.cast<double>();
          const auto k = static_cast<std::size_t>(std::ceil(0.1 * static_cast<double>(wanted.size())));
          estimate += largest_of(wanted - estimate, k);
          sum += estimate;
        }
        EXPECT_LT((step.gradient(l).weight.cast<double>() - sum).norm(), 1e-5 * sum.norm()) << t << ' ' << l;
        EXPECT_LT((step.gradient(l).bias - steps.exact(l).bias).norm(), 1e-6 * steps.exact(l).bias.norm());
      }
    }
  }
}

// An absent site's estimate stays in the sum, so H = Σ_s H_s is over all sites in each step (EF21-PP, arXiv
// 2110.03294). The weight of a site's gradient is its last number of rows ÷ the last numbers of all sites.
TEST(Ef21, KeepsEstimatesOfAbsentSitesInItsSum) {
  const std::vector<int> rows = {9, 1, 3};
  const std::vector<std::vector<std::int32_t>> who = {{0, 2}, {1, 2}, {0, 1, 2}, {1}, {0}, {2}};
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::peer, spec::ExchangeMode::aggregator}) {
    const std::unique_ptr<Algorithm> ef21 = made("ef21"), sharing = made("gradient-sharing");
    SeveralSteps steps(*ef21, mode, rows, compressor("top-k", {{"fraction", "0.1"}})), plain(*sharing, mode, rows);
    std::vector<std::vector<MatrixD>> estimates(3, std::vector<MatrixD>(3));
    std::set<std::int32_t> known;
    for (std::size_t t = 0; t < 24; ++t) {
      const Attendees attendees{who[t % who.size()], 3, {}};
      known.insert(attendees.sites.begin(), attendees.sites.end());
      const auto rows_of = [&](const auto& sites) {
        return std::accumulate(sites.begin(), sites.end(), 0.0, [&](double sum, std::int32_t site) {
          return sum + rows[static_cast<std::size_t>(site)];
        });
      };
      const double share = rows_of(attendees.sites) / rows_of(known);
      TrainingStep& step = steps.next(&attendees);
      plain.next(&attendees);
      for (std::size_t l = 0; l < 3; ++l) {
        for (std::size_t i = 0; i < attendees.sites.size(); ++i) {
          MatrixD& own = estimates[l][static_cast<std::size_t>(attendees.sites[i])];
          const MatrixD wanted = share * plain.of_site(i, l).weight.cast<double>();
          if (own.size() == 0) own = MatrixD::Zero(wanted.rows(), wanted.cols());
          own +=
              largest_of(wanted - own, static_cast<std::size_t>(std::ceil(0.1 * static_cast<double>(wanted.size()))));
        }
        MatrixD sum = MatrixD::Zero(step.weights(l).out(), step.weights(l).in());
        for (const std::int32_t site : known) sum += estimates[l][static_cast<std::size_t>(site)];
        EXPECT_LT((step.gradient(l).weight.cast<double>() - sum).norm(), 1e-5 * sum.norm()) << t << ' ' << l;
        // Biases are sent uncompressed and need no estimates.
        EXPECT_LT((step.gradient(l).bias - plain.exact(l).bias).norm(), 1e-5 * plain.exact(l).bias.norm()) << t;
      }
    }
  }
}

// If the gradient is constant, estimates converge to it, while error feedback keeps applying a few large entries at a
// time.
TEST(Ef21, EstimatesBecomeAGradientThatStandsStill) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::peer, spec::ExchangeMode::aggregator}) {
    for (const char* name : {"top-k", "redsync", "int8", "natural"}) {
      const std::unique_ptr<Algorithm> algorithm = made("ef21");
      SeveralSteps steps(*algorithm, mode, {9, 1, 3}, compressor(name));
      steps.repeats = true;
      for (int t = 0; t < 250; ++t) steps.next();
      const TrainingStep& step = steps.next();
      for (std::size_t l = 0; l < 3; ++l) {
        EXPECT_LT(off(step, steps, l), 1e-4) << name;
        const models::LayerGradient exact = steps.exact(l);
        EXPECT_LT((step.gradient(l).bias - exact.bias).norm(), 1e-4 * exact.bias.norm()) << name;
      }
    }
  }
  const std::unique_ptr<Algorithm> sharing = made("gradient-sharing");
  spec::CompressSpec remembers = compressor("top-k");
  remembers.memory = true;
  SeveralSteps steps(*sharing, spec::ExchangeMode::peer, {9, 1, 3}, remembers);
  steps.repeats = true;
  for (int t = 0; t < 250; ++t) steps.next();
  EXPECT_GT(off(steps.next(), steps, 0), 0.5);
}

TEST(Ef21, WithoutACompressorIsGradientSharing) {
  for (const spec::ExchangeMode mode : {spec::ExchangeMode::peer, spec::ExchangeMode::aggregator}) {
    const std::unique_ptr<Algorithm> ef21 = made("ef21"), sharing = made("gradient-sharing");
    SeveralSteps one(*ef21, mode, {5, 0, 3}), other(*sharing, mode, {5, 0, 3});
    for (int t = 0; t < 3; ++t) {
      const TrainingStep& a = one.next();
      const TrainingStep& b = other.next();
      for (std::size_t l = 0; l < 3; ++l) EXPECT_EQ(a.gradient(l).weight, b.gradient(l).weight);
    }
  }
}

// Differences from estimates are encoded as gradients are.
TEST(Ef21, SendsWhatTheCompressorMakesOfAGradient) {
  test::OneStep::Setup setup;
  setup.rows = {5, 1, 2};
  for (const char* name : {"top-k", "int8", "sign", "qsgd"}) {
    setup.compress = compressor(name);
    const test::OneStep ef21("ef21", setup), sharing("gradient-sharing", setup);
    EXPECT_EQ(ef21.uplink_bytes, sharing.uplink_bytes) << name;
    EXPECT_EQ(ef21.recorded().over, ef21.uplink_bytes) << name;
  }
}

TEST(Ef21, RefusesWhatItsEstimatesDoNotGoWith) {
  spec::RunSpec run = test::run_of("ef21", spec::ExchangeMode::peer);
  const RunFacts facts{run, 4};
  EXPECT_TRUE(faults_of(algorithm_registry().at("ef21"), facts).empty());
  run.compress = compressor("dgc");
  EXPECT_EQ(faults_of(algorithm_registry().at("ef21"), facts).size(), 1U);
  run.compress = compressor("top-k");
  EXPECT_TRUE(faults_of(algorithm_registry().at("ef21"), facts).empty());
  run.absence.does = spec::AbsenceSpec::Does::without;
  EXPECT_TRUE(faults_of(algorithm_registry().at("ef21"), facts).empty());
  run.weights = spec::SiteWeights::uniform;
  EXPECT_EQ(faults_of(algorithm_registry().at("ef21"), facts).size(), 1U);
  run.weights = spec::SiteWeights::published;
  run.absence.estimate = spec::AbsenceSpec::Estimate::unbiased;
  EXPECT_EQ(faults_of(algorithm_registry().at("ef21"), facts).size(), 1U);
}

}  // namespace
}  // namespace dadsim::algorithms
