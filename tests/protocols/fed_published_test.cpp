#include <gtest/gtest.h>

#include <algorithm>
#include <boost/random/lognormal_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <numeric>

#include "protocols/simulating.hpp"

// Tests published claims on federated learning, on the papers' data or similar data.

namespace dadsim::test {
namespace {

/// Draws Synthetic(α, β), whose samples belong to devices, as its authors do (Li et al., arXiv 1812.06127, §5.1). It
/// has 60 features, 10 classes, and 30 devices with 50 + LogNormal(4, 2) samples. u_k ~ N(0, α), W_k ~ N(u_k, 1), b_k ~
/// N(u_k, 1), B_k ~ N(0, β), v_k ~ N(B_k, 1), x ~ N(v_k, diag(j^−1.2)), y = argmax(x W_k + b_k). A tenth of each
/// device's samples is held back. Devices have at most `most` samples, to save time.
SmallProblem synthetic(double alpha, double beta, std::uint64_t seed, std::int64_t most) {
  constexpr std::size_t kDevices = 30;
  constexpr std::int64_t kFeatures = 60;
  constexpr std::int64_t kClasses = 10;
  SmallProblem problem(1);
  problem.data = {};
  problem.data.shape = {1, 1, kFeatures, 0};
  problem.data.classes = kClasses;
  problem.data.name = "synthetic";
  problem.partition.assign(kDevices, {});
  std::vector<std::vector<float>> rows[2];
  std::vector<std::int32_t> labels[2];
  boost::random::normal_distribution<double> normal;
  for (std::size_t device = 0; device < kDevices; ++device) {
    RandomStream random(seed, Purpose::test, static_cast<std::uint32_t>(device));
    const auto size =
        std::min(most, 50 + static_cast<std::int64_t>(boost::random::lognormal_distribution<double>(4, 2)(random)));
    const double u = std::sqrt(alpha) * normal(random);
    const double centre = std::sqrt(beta) * normal(random);
    std::vector<double> w(kFeatures * kClasses);
    std::vector<double> b(kClasses);
    std::vector<double> v(kFeatures);
    for (double& one : w) one = u + normal(random);
    for (double& one : b) one = u + normal(random);
    for (double& one : v) one = centre + normal(random);
    for (std::int64_t i = 0; i < size; ++i) {
      std::vector<float> x(kFeatures);
      std::vector<double> scores = b;
      for (std::size_t j = 0; j < x.size(); ++j) {
        x[j] = static_cast<float>(v[j] + std::pow(static_cast<double>(j + 1), -0.6) * normal(random));
        for (std::size_t c = 0; c < scores.size(); ++c) scores[c] += x[j] * w[j * kClasses + c];
      }
      const std::size_t held_back = i < size * 9 / 10 ? 0 : 1;
      if (held_back == 0) problem.partition[device].push_back(static_cast<std::int32_t>(rows[0].size()));
      rows[held_back].push_back(std::move(x));
      labels[held_back].push_back(static_cast<std::int32_t>(std::ranges::max_element(scores) - scores.begin()));
    }
  }
  for (const std::size_t part : {0, 1}) {
    models::Samples& samples = part == 0 ? problem.data.train : problem.data.test;
    samples.features.resize(static_cast<Eigen::Index>(rows[part].size()), kFeatures);
    for (std::size_t i = 0; i < rows[part].size(); ++i) {
      std::ranges::copy(rows[part][i], samples.features.row(static_cast<Eigen::Index>(i)).data());
    }
    samples.labels = labels[part];
  }
  return problem;
}

Simulated played_in(const SmallProblem& small, const spec::RunSpec& run, std::uint64_t seed) {
  History history(1, nullptr);
  algorithms::LearningProblem problem = small.problem();
  problem.seed = seed;
  Learning learning(problem, history);
  auto world = closed_form(small.partition.size(), [](world::Node) { return 1e-3; });
  return simulate(world, small, learning, run);
}

/// Returns the accuracies of FedAvg, which drops stragglers, and of FedProx with μ = 1, which uses their partial work.
std::pair<double, double> with_stragglers(std::uint64_t seed, std::int64_t rounds, std::int64_t most) {
  SmallProblem small = synthetic(1, 1, seed, most);
  small.training.optimizer.learning_rate = 0.01;
  small.training.batch = 10;
  small.training.evaluate_every = rounds / 4;
  double accuracies[2];
  for (const bool prox : {false, true}) {
    spec::ParameterValues parameters = {
        {"rounds", std::to_string(rounds)}, {"fraction", "0.3333"}, {"local-epochs", "20"}, {"stragglers", "0.9"}};
    if (prox) parameters["mu"] = "1";
    const Simulated simulated = played_in(small, run_of(prox ? "fedprox" : "fedavg", parameters), seed);
    // Takes the mean over the four quarters of the rounds, since single rounds of FedAvg fluctuate.
    double sum = 0;
    for (std::size_t i = 1; i < simulated.qualities.size(); ++i) sum += simulated.qualities[i][1];
    accuracies[prox ? 1 : 0] = sum / static_cast<double>(simulated.qualities.size() - 1);
  }
  return {accuracies[0], accuracies[1]};
}

/// With nine stragglers of ten, the paper reports 22 points more accuracy on average over five data sets. For this data
/// set it only draws curves, so a separate plain program of the same procedure gives the expected values. With these
/// sizes and rounds, its mean over 60 draws is 0.395 for FedAvg and 0.555 for FedProx, 0.160 more; draws have a
/// standard deviation of 0.06.
TEST(Published, FedProxWithstandsStragglersOnSyntheticData) {
  constexpr int kSeeds = 8;
  constexpr double kReference = 0.160;
  double more = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto [avg, prox] = with_stragglers(seed, 40, 300);
    EXPECT_GT(prox, avg) << seed;
    more += (prox - avg) / kSeeds;
  }
  EXPECT_NEAR(more, kReference, 0.3 * kReference);
}

/// McMahan et al., arXiv 1602.05629: with two shards of class-sorted samples per client, federated averaging needs
/// several times as many rounds as with random samples. Tested with drawn digits and a linear classifier.
TEST(Published, FedAvgNeedsManyMoreRoundsWhereSitesHoldFewClasses) {
  spec::DataSpec spec;
  spec.source = spec::DigitsSource{.train = 4000, .test = 1000};
  SmallProblem small(1);
  small.data = models::load_dataset(spec, 1);
  small.training.batch = 10;
  small.training.optimizer.learning_rate = 0.05;
  small.training.stop = spec::TrainingSpec::Stop::target;
  small.training.target_accuracy = 0.75;
  small.training.evaluate_every = 1;
  std::int64_t rounds[2] = {0, 0};
  for (const auto kind : {spec::SplitSpec::Kind::iid, spec::SplitSpec::Kind::shards}) {
    small.partition = models::split_over_sites({.kind = kind, .alpha = 0.5, .shards = 2, .sizes = {}}, small.data.train,
                                               small.data.classes, 50, 1);
    const Simulated simulated =
        played_in(small, run_of("fedavg", {{"rounds", "100"}, {"fraction", "0.1"}, {"local-epochs", "5"}}), 1);
    rounds[kind == spec::SplitSpec::Kind::iid ? 0 : 1] = simulated.protocol_log.updates;
  }
  EXPECT_LT(rounds[0], 10);
  EXPECT_LT(rounds[1], 100);  // fewer than 100 rounds: the target was reached
  EXPECT_GT(rounds[1], 3 * rounds[0]);
}

}  // namespace
}  // namespace dadsim::test
