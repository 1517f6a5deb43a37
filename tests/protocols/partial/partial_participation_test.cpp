#include "protocols/partial/partial_participation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

/// Returns unequal sites. A batch contains a whole site, so every step has the same gradients.
SmallProblem uneven(double rate, double epochs) {
  SmallProblem small(4, 120, rate);
  std::vector<std::int32_t>& first = small.partition[0];
  for (std::size_t from = 1; from < 4; ++from) {
    for (std::size_t k = 0; k < 5 * from; ++k) {
      first.push_back(small.partition[from].back());
      small.partition[from].pop_back();
    }
  }
  small.training.batch = 1000;
  small.training.batches = spec::TrainingSpec::Batches::equal;
  small.training.epochs = epochs;
  small.training.evaluate_every = 1'000'000;
  return small;
}

/// Returns how far the initial weights move in a simulation; `seconds` is the computing time of each site.
std::vector<double> displacement(
    const SmallProblem& small, const spec::RunSpec& run,
    const std::function<double(world::Node)>& seconds = [](world::Node) { return 0.01; }) {
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = closed_form(4, seconds);
  struct Kept final : Learning {
    using Learning::Learning;
    Value evaluate(const Value& weights) override {
      last = weights;
      return Learning::evaluate(weights);
    }
    Value last;
  } kept(small.problem(), history);
  simulate(world, small, kept, run);
  const std::vector<float> before = history.get(kept.initial())->numbers;
  const std::vector<float> after = history.get(kept.last)->numbers;
  std::vector<double> moved;
  for (std::size_t i = 0; i < before.size(); ++i) {
    moved.push_back(static_cast<double>(after[i]) - static_cast<double>(before[i]));
  }
  return moved;
}

double norm(const std::vector<double>& of) {
  double sum = 0;
  for (const double x : of) sum += x * x;
  return std::sqrt(sum);
}

/// Returns ‖a − b‖ ÷ ‖b‖.
double distance(std::vector<double> a, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
  return norm(a) / norm(b);
}

// At so small a rate gradients stay constant, and the displacement is the sum of the steps' gradients. Its expectation
// is that with all sites. Sites' own gradients give the standard error of the mean of n draws of 2 of 4 sites.
TEST(PartialParticipation, TheExpectedGradientIsThatOfAllSites) {
  constexpr double kSteps = 600;
  const SmallProblem small = uneven(1e-4, kSteps);
  for (const std::string protocol : {"partial-dad", "partial-gradient-sharing"}) {
    const std::vector<double> all = displacement(small, run_of(protocol));
    const std::vector<double> half = displacement(small, run_of(protocol, {{"fraction", "0.5"}}));
    const std::vector<double> biased =
        displacement(small, run_of(protocol, {{"fraction", "0.5"}, {"estimate", "present"}}));
    // Gradients of single sites, weighted by N_s ÷ ΣN.
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    const Value start = learning.initial();
    std::vector<std::vector<double>> parts;
    for (std::size_t site = 0; site < 4; ++site) {
      const auto gradient = history.get(learning.gradient(start, site, protocols::SiteBatches::How::steps, 0));
      std::vector<double>& part = parts.emplace_back(gradient->numbers.begin(), gradient->numbers.end());
      for (double& x : part) x *= static_cast<double>(small.partition[site].size()) / 120;
    }
    double variance = 0;  // variance of the estimate from one draw, summed over coordinates
    std::vector<double> full(parts[0].size());
    for (const auto& part : parts) {
      for (std::size_t i = 0; i < full.size(); ++i) full[i] += part[i];
    }
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b) {
        for (std::size_t i = 0; i < full.size(); ++i) {
          const double off = 2 * (parts[a][i] + parts[b][i]) - full[i];
          variance += off * off / 6;
        }
      }
    }
    const double expected_error = std::sqrt(variance / kSteps) / norm(full);
    const double error = distance(half, all);
    EXPECT_LT(error, 3 * expected_error) << protocol;
    EXPECT_GT(error, expected_error / 3) << protocol << ": no draws at all?";
    // The mean over the sites present gives small sites too much weight.
    EXPECT_GT(distance(biased, all), 0);
  }
}

// In every sixteenth computation, the largest site takes five times the deadline. It misses the five steps that end
// meanwhile, and takes part in the next ones, which count by the inverse of its share of timely steps so far. Over all
// steps, its gradients weigh about as if it were never late. The first steps, before the share is known, add a tenth.
TEST(PartialParticipation, WhoIsSeldomInTimeCountsForTheStepsThatItMissed) {
  const SmallProblem small = uneven(1e-4, 120);
  const std::vector<double> all = displacement(small, run_of("partial-gradient-sharing"));
  int computations = 0;
  const auto late_at_times = [&](world::Node node) { return node == 0 && computations++ % 16 == 0 ? 1.0 : 0.01; };
  const auto distance_with = [&](const char* estimate) {
    computations = 0;
    const spec::RunSpec run = run_of("partial-gradient-sharing", {{"deadline", "0.2"}, {"estimate", estimate}});
    return distance(displacement(small, run, late_at_times), all);
  };
  EXPECT_LT(distance_with("unbiased"), 0.1);
  EXPECT_GT(distance_with("present"), 0.2) << "is it never late?";
}

TEST(PartialParticipation, RankDadWithAllComponentsIsDad) {
  const SmallProblem small = uneven(1e-2, 20);
  const std::vector<double> dad = displacement(small, run_of("partial-dad", {{"fraction", "0.5"}}));
  const std::vector<double> rank = displacement(
      small,
      run_of("partial-rank-dad", {{"fraction", "0.5"}, {"cap", "64"}, {"tolerance", "0"}, {"iterations", "200"}}));
  EXPECT_LT(distance(rank, dad), 1e-3);
}

// A site that needs several times the deadline is late in every step: it never contributes, but goes on.
TEST(PartialParticipation, WhoIsLateIsLeftOutAndGoesOn) {
  SmallProblem small(3);
  small.training.evaluate_every = 1000;
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = closed_form(3, [](world::Node node) { return node == 2 ? 1.0 : 0.01; });
  const Simulated simulated = simulate(world, small, learning, run_of("partial-dad", {{"deadline", "0.2"}}));
  const std::int64_t steps = learning.budget();
  EXPECT_EQ(simulated.protocol_log.updates, steps);
  EXPECT_EQ(simulated.protocol_log.took_part[0], steps);
  EXPECT_EQ(simulated.protocol_log.took_part[1], steps);
  EXPECT_EQ(simulated.protocol_log.took_part[2], 0);
  EXPECT_EQ(simulated.protocol_log.late, steps);
  EXPECT_GT(simulated.protocol_log.wasted_seconds, 0);
}

// The released search drops the last two components that it tried. With a layer of two units and one row per site, no
// site has a component in some steps. The aggregator ends such a step, so sites still advance together. With a
// deadline, it does so then, since no message announces an empty result.
TEST(PartialParticipation, AStepInWhichNothingIsFoundIsTakenTogether) {
  for (const char* deadline : {"0", "0.2"}) {
    SmallProblem small(3);
    small.model.layers = {spec::DenseSpec{.units = 2}, spec::DenseSpec{.units = 10}};
    small.training.batch = 3;
    small.training.epochs = 0.2;
    small.training.evaluate_every = 1000;
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    auto world = closed_form(3, [](world::Node node) { return node == 2 ? 0.1 : 0.01; });
    const Simulated simulated =
        simulate(world, small, learning, run_of("partial-rank-dad", {{"stop", "released"}, {"deadline", deadline}}));
    EXPECT_EQ(simulated.protocol_log.updates, learning.budget()) << deadline;
    EXPECT_EQ(simulated.protocol_log.took_part[0], learning.budget()) << deadline;
    EXPECT_GT(simulated.log.seconds, 1) << "five steps until the deadline, or all at the pace of the slowest";
  }
}

// The aggregator and all sites go down during a step, so no site is left to end it. The step must still end once the
// aggregator is back.
TEST(PartialParticipation, AStepThatAllSitesHaveLeftIsOver) {
  SmallProblem small(2);
  small.training.evaluate_every = 1000;
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = closed_form(2, [](world::Node) { return 1.0; });
  const std::vector<Fate> fates{{0.5, 2, false}, {0.6, 0, false}, {0.6, 1, false},
                                {0.8, 2, true},  {1.5, 0, true},  {1.5, 1, true}};
  const Simulated simulated = simulate(world, small, learning, run_of("partial-gradient-sharing"), {}, fates);
  EXPECT_EQ(simulated.protocol_log.updates, learning.budget());
  EXPECT_EQ(simulated.protocol_log.took_part[0], learning.budget() - 1);
}

// A site goes down and comes back twice while the aggregator computes. The aggregator learns of this afterwards, when
// the site has already asked for weights, and must not treat it as absent.
TEST(PartialParticipation, NewsFromBeforeASiteAskedDoesNotCount) {
  SmallProblem small(2);
  small.training.evaluate_every = 1000;
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  world::ClosedFormWorld world({.nodes = 3,
                                .line = {},
                                .seconds = [](world::Node node, const world::Work&) { return node == 2 ? 1.0 : 0.1; },
                                .link = nullptr});
  const std::vector<Fate> fates{{0.3, 1, false}, {0.4, 1, true}, {0.5, 1, false}, {0.6, 1, true}};
  const Simulated simulated = simulate(world, small, learning, run_of("partial-gradient-sharing"), {}, fates);
  EXPECT_EQ(simulated.protocol_log.updates, learning.budget());
  EXPECT_EQ(simulated.protocol_log.took_part[0], learning.budget());
  EXPECT_EQ(simulated.protocol_log.took_part[1], learning.budget());
}

}  // namespace
}  // namespace dadsim::test
