// Tests the weights of sites in event-driven methods. Sites differ in samples, speed and minima.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>

#include "methods/method.hpp"
#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

using spec::SiteWeights;

/// Every site has the loss ½ (x − b)²; the site with the most samples is the slowest.
const std::vector<Quadratics::Site> kSites = {{1, 0}, {1, 1}, {1, 3}, {1, 2}};
const std::vector<std::int64_t> kSamples = {20, 60, 120, 40};

double minimum(SiteWeights weights) {
  double sum = 0;
  double all = 0;
  for (std::size_t site = 0; site < kSites.size(); ++site) {
    const double share = weights == SiteWeights::uniform ? 1 : static_cast<double>(kSamples[site]);
    sum += share * kSites[site].minimum;
    all += share;
  }
  return sum / all;
}

/// Returns the final model, averaged over the last fifth of the evaluations, since at a constant rate the model moves
/// around its minimum.
double ends_at(const std::string& method, SiteWeights weights, const spec::ParameterValues& parameters,
               double rate = 0.02) {
  SmallProblem small = unequal_problem(kSamples);
  small.training.optimizer.learning_rate = rate;
  small.training.epochs = 1e6;
  small.training.evaluate_every = 20;
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, kSites, 4);
  auto world = closed_form(kSites.size(),
                           [](world::Node node) {
                             return std::vector<double>{0.2, 0.7, 1.3, 0.31}.at(node);
                           },
                           {.latency = 0.01, .bandwidth = 1e9});
  spec::RunSpec run = run_of(method, parameters);
  run.weights = weights;
  const Simulated simulated = simulate(world, small, learning, run);
  const std::size_t from = simulated.qualities.size() * 4 / 5;
  double sum = 0;
  for (std::size_t i = from; i < simulated.qualities.size(); ++i) sum += simulated.qualities[i][1];
  return sum / static_cast<double>(simulated.qualities.size() - from);
}

struct Case {
  const char* method;
  spec::ParameterValues parameters;
  double rate = 0.02;
};

const std::vector<Case> kCases = {
    {"async-sgd", {{"updates", "6000"}}},
    {"async-sgd", {{"updates", "6000"}, {"staleness", "damped"}}},
    {"ad-psgd", {{"updates", "20000"}, {"graph", "complete"}}, 0.004},
    // With a large alpha, a client's model undoes updates that others made since the client received its model.
    {"fedasync", {{"updates", "24000"}, {"local-steps", "1"}, {"alpha", "0.02"}}, 0.5},
    {"fedasync", {{"updates", "6000"}, {"local-steps", "1"}, {"alpha", "0.02"}, {"staleness", "constant"}}, 0.5},
    {"fedbuff", {{"updates", "2000"}, {"local-steps", "1"}, {"buffer", "3"}}},
    {"fedavg", {{"rounds", "600"}, {"local-steps", "1"}}},
    {"fedprox", {{"rounds", "600"}, {"local-steps", "1"}, {"mu", "0"}}},
    {"hierfavg", {{"rounds", "600"}, {"local-steps", "1"}, {"groups", "2"}, {"edge-rounds", "1"}}},
    {"scaffold", {{"rounds", "600"}, {"local-steps", "3"}}},
    {"local-sgd", {{"rounds", "600"}, {"period", "1"}}},
    {"diloco", {{"rounds", "600"}, {"period", "1"}, {"outer-rate", "1"}, {"outer-momentum", "0"}}},
};

TEST(SiteWeights, EventDrivenMethodsComeToTheMinimumOfWhatTheyAreAskedToMinimise) {
  for (const auto& [method, parameters, rate] : kCases) {
    for (const SiteWeights weights : {SiteWeights::samples, SiteWeights::uniform}) {
      const double x = ends_at(method, weights, parameters, rate);
      std::printf("[ figure ] %s, %s: %.4f, its minimum %.4f\n", method, to_string(weights), x, minimum(weights));
      // The minima of the two weightings are 0.54 apart. Steps of rate 0.02 from stale models shift a result by a few
      // hundredths.
      EXPECT_NEAR(x, minimum(weights), 0.05) << method << ", " << to_string(weights);
    }
  }
}

// Without weights, faster sites contribute more often, so the model reaches neither minimum.
TEST(SiteWeights, ContributionsThatCountAsTheyComeGoWhereTheFastWant) {
  const double x = ends_at("async-sgd", SiteWeights::published, {{"updates", "6000"}});
  double sum = 0;
  double all = 0;
  const std::vector<double> seconds = {0.22, 0.72, 1.32, 0.33};  // seconds per site, including one message in each
                                                                 // direction
  for (std::size_t site = 0; site < kSites.size(); ++site) {
    sum += kSites[site].minimum / seconds[site];
    all += 1 / seconds[site];
  }
  EXPECT_NEAR(x, sum / all, 0.05);
  EXPECT_LT(x, minimum(SiteWeights::uniform) - 0.2);
}

}  // namespace
}  // namespace dadsim::test
