#include <gtest/gtest.h>

#include <cmath>

#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

/// Returns the first coordinate after rounds of five steps each.
double end_of(const std::string& protocol, const std::vector<Quadratics::Site>& sites,
              const spec::ParameterValues& changed) {
  // Sites have equally many samples, and therefore equal weights.
  const SmallProblem small(sites.size(), 20 * static_cast<std::int64_t>(sites.size()));
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, sites, 10);
  auto world = closed_form(sites.size(), [](world::Node) { return 1; });
  spec::ParameterValues parameters = {{"rounds", "300"}, {"local-steps", "5"}};
  parameters.insert(changed.begin(), changed.end());
  return simulate(world, small, learning, run_of(protocol, parameters)).qualities.back()[1];
}

const std::vector<Quadratics::Site> kTwo = {{1, 0}, {4, 10}};
// Σ a b ÷ Σ a.
constexpr double kMinimum = 4.0 * 10 / (1 + 4);

TEST(Scaffold, ReachesTheMinimumThatFedAvgMisses) {
  // K steps take x to b + (1 − η a)^K (x − b). The mean over the clients therefore stops where Σ (1 − (1 − η a)^K) (x −
  // b) = 0.
  double weights = 0;
  double weighted = 0;
  for (const auto& [a, b] : kTwo) {
    const double moved = 1 - std::pow(1 - 0.1 * a, 5);
    weights += moved;
    weighted += moved * b;
  }
  const double biased = weighted / weights;
  EXPECT_GT(std::abs(biased - kMinimum), 0.5);
  EXPECT_NEAR(end_of("fedavg", kTwo, {}), biased, 1e-4);
  EXPECT_NEAR(end_of("scaffold", kTwo, {}), kMinimum, 1e-4);
}

TEST(Scaffold, ReachesItWithSomeOfTheClientsToo) {
  std::vector<Quadratics::Site> sites;
  double a_b = 0;
  double a_sum = 0;
  for (int i = 0; i < 6; ++i) {
    sites.push_back({0.5 + 0.3 * i, static_cast<double>((7 * i) % 5)});
    a_b += sites.back().curvature * sites.back().minimum;
    a_sum += sites.back().curvature;
  }
  EXPECT_NEAR(end_of("scaffold", sites, {{"fraction", "0.5"}, {"rounds", "2000"}}), a_b / a_sum, 1e-3);
  EXPECT_NEAR(end_of("scaffold", sites, {{"fraction", "0.5"}, {"rounds", "2000"}, {"server-rate", "0.5"}}), a_b / a_sum,
              1e-3);
}

TEST(Scaffold, SendsTwiceAsMuchEachWay) {
  const SmallProblem small(2);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, kTwo, 10);
  double sent[2][2];
  for (const bool scaffold : {false, true}) {
    auto world = closed_form(2, [](world::Node) { return 1; });
    const Simulated simulated =
        simulate(world, small, learning, run_of(scaffold ? "scaffold" : "fedavg", {{"rounds", "3"}}));
    sent[scaffold ? 1 : 0][0] = simulated.log.nodes[0].sent;
    sent[scaffold ? 1 : 0][1] = simulated.log.nodes[0].received;
  }
  EXPECT_GT(sent[0][0], 0);
  EXPECT_NEAR(sent[1][0], 2 * sent[0][0], 1e-6);
  EXPECT_NEAR(sent[1][1], 2 * sent[0][1], 1e-6);
}

TEST(Scaffold, LearnsOnANetwork) {
  const SmallProblem small(4);
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = closed_form(4, [](world::Node) { return 1; });
  const Simulated simulated =
      simulate(world, small, learning, run_of("scaffold", {{"rounds", "4"}, {"fraction", "0.5"}}));
  EXPECT_LT(simulated.qualities.back()[0], 0.95 * simulated.qualities.front()[0]);
}

}  // namespace
}  // namespace dadsim::test
