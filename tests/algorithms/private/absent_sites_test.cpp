// Tests private steps that some sites miss: divisor, noise, and the ε of each site.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "algorithms/batches.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/registry.hpp"
#include "estimate/privacy.hpp"
#include "models/data/generated.hpp"
#include "models/flat.hpp"

namespace dadsim::algorithms {
namespace {

/// Four sites with 3, 5, 9 and 14 digits, sorted by class; every step uses every sample.
struct PrivateSites {
  explicit PrivateSites(std::uint64_t seed = 5) : problem{data, partition, {}, {}, seed} {
    data.train = models::draw_digits(0, 31, 5);
    data.test = models::draw_digits(31, 10, 5);
    data.shape = {28, 28, 1};
    data.classes = 10;
    std::vector<std::int32_t> order(31);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int32_t i) { return data.train.labels[static_cast<std::size_t>(i)]; });
    for (const auto& [from, until] : {std::pair{0, 3}, {3, 8}, {8, 17}, {17, 31}}) {
      partition.emplace_back(order.begin() + from, order.begin() + until);
    }
    problem.model.layers = {spec::DenseSpec{6, spec::Activation::tanh, true},
                            spec::DenseSpec{10, spec::Activation::identity, true}};
    problem.training.batch = 31;
    problem.training.batches = spec::TrainingSpec::Batches::poisson;
    problem.training.epochs = 100;
    problem.training.optimizer = {.kind = spec::OptimizerSpec::Kind::sgd, .learning_rate = 1};
    problem.training.optimizer.momentum = 0;
  }
  /// Returns minus the gradient of a step in which only the sites `there` are present. Without `all_rows`, the last
  /// site has half of its expected samples.
  std::vector<float> moved(const spec::RunSpec& run, const std::vector<std::int32_t>& there,
                           bool all_rows = true) const {
    const auto learners = make_learners(run, problem, 10);
    const std::vector<float> before = models::flat_state(*learners->networks().front());
    Batch batch(partition.begin(), partition.end());
    if (!all_rows) batch[3].resize(7);
    const Attendees attendees{there, 4, {}};
    learners->train(0, 1, batch, &attendees);
    std::vector<float> after = models::flat_state(*learners->networks().front());
    for (std::size_t k = 0; k < after.size(); ++k) after[k] -= before[k];
    return after;
  }

  models::Dataset data;
  models::Partition partition;
  LearningProblem problem;
};

spec::RunSpec run_with(const char* method, const spec::ParameterValues& parameters, bool central = false) {
  spec::RunSpec run = run_of(algorithm_registry().at(method), parameters);
  run.exchange = central ? spec::ExchangeMode::aggregator : spec::ExchangeMode::peer;
  return run;
}

double distance_of(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::pow(static_cast<double>(a[k] - b[k]), 2);
  return std::sqrt(sum);
}

TEST(PrivateAbsence, WithoutNoiseAndClippingItIsTheMeanOverThoseThatAreThere) {
  const PrivateSites sites;
  const std::vector<std::int32_t> there{1, 3};
  const std::vector<float> plain = sites.moved(run_with("gradient-sharing", {}), there);
  for (const char* method : {"dp-sgd", "rgp", "lsg"}) {
    const spec::RunSpec run = run_with(method, algorithm_registry().at(method).lossless);
    EXPECT_LT(distance_of(sites.moved(run, there), plain), 1e-5 * distance_of(plain, std::vector<float>(plain.size())))
        << method;
  }
  // The divisor is the expected batch of the sites present, 5 + 14, whatever number of their samples was drawn.
  const spec::RunSpec run = run_with("dp-sgd", {{"clip", "1e30"}, {"noise-multiplier", "0"}});
  const std::vector<float> few = sites.moved(run, there, false);
  const std::vector<float> mean = sites.moved(run_with("gradient-sharing", {}), there, false);
  std::vector<float> expected = mean;
  for (float& x : expected) x *= 12.0F / 19.0F;
  EXPECT_LT(distance_of(few, expected), 1e-5 * distance_of(mean, std::vector<float>(mean.size())));
}

TEST(PrivateAbsence, TheNoiseIsWholeWhoeverIsThere) {
  struct Case {
    const char* noise;
    double sites_adding;
  };
  const std::vector<std::int32_t> there{1, 3};
  for (const Case& c : {Case{"local", 1}, {"central", 1}, {"per-site", 2}}) {
    double squares = 0;
    double count = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const PrivateSites sites(seed);
      const bool central = std::string(c.noise) == "central";
      const auto of = [&](const char* sigma) {
        return sites.moved(
            run_with("dp-sgd", {{"clip", "0.25"}, {"noise-multiplier", sigma}, {"noise", c.noise}}, central), there);
      };
      const std::vector<float> quiet = of("0");
      squares += std::pow(distance_of(of("2"), quiet), 2);
      count += static_cast<double>(quiet.size());
    }
    const double variance = c.sites_adding * std::pow(2 * 0.25 / 19, 2);  // σ²C² ÷ B², where B is the batch of the
                                                                          // sites present
    EXPECT_NEAR(squares / count, variance, 5 * std::sqrt(2 / count) * variance) << c.noise;
  }
}

TEST(PrivateAbsence, EverySiteHasSpentWhatItHasBegun) {
  const spec::RunSpec run = run_with("dp-sgd", {{"noise-multiplier", "2"}});
  RunContext taken{.sites = 3, .batch = 30, .sampling_rate = 0.1, .sampled = true, .steps = 100};
  taken.rows = {2, 8, 20};
  taken.rates = {0.1, 0.1, 0.1};
  RunFacts facts{run, 3};
  facts.planned = facts.taken = taken;
  const MethodInfo& info = algorithm_registry().at("dp-sgd");
  EXPECT_DOUBLE_EQ(info.privacy(facts)->epsilon, estimate::epsilon_spent({0.1, 2, 100}, 1e-5));
  facts.taken->begun = {40, 97, 50};  // no site began all steps; steps that were broken off count too
  EXPECT_DOUBLE_EQ(info.privacy(facts)->epsilon, estimate::epsilon_spent({0.1, 2, 97}, 1e-5));
  const std::string remark = info.remark(facts);
  EXPECT_NE(remark.find("site 2 spent most, in 97 steps"), std::string::npos) << remark;
  EXPECT_NE(remark.find("site 1 began 40"), std::string::npos) << remark;
}

}  // namespace
}  // namespace dadsim::algorithms
