#include <gtest/gtest.h>

#include "protocols/simulating.hpp"

namespace dadsim::test {
namespace {

TEST(FedAvg, RoundsOfAllClientsTakeWhatTheFormulasSay) {
  const SmallProblem small(4);
  History history(1, nullptr);
  Learning learning(small.problem(), history);
  auto world = closed_form(4, [](world::Node) { return 0.5; }, {.latency = 0.01, .bandwidth = 1e6});
  const Simulated simulated =
      simulate(world, small, learning, run_of("fedavg", {{"rounds", "3"}, {"local-steps", "2"}}));
  const double bytes = 4.0 * (64 * 10 + 10);  // digits have 8 × 8 pixels
  const double size = simulated.log.nodes[0].sent / 3;
  EXPECT_GT(size, bytes);
  // A round is the model down, two steps of half a second, and the update up. The server takes no time.
  EXPECT_NEAR(simulated.log.seconds, 3 * (2 * 0.5 + 2 * (0.01 + size / 1e6)), 1e-9);
  EXPECT_EQ(simulated.protocol_log.updates, 3);
  EXPECT_EQ(simulated.protocol_log.answered, 12);
  EXPECT_EQ(simulated.qualities.size(), 4U);
  EXPECT_GT(simulated.qualities.back()[1], simulated.qualities.front()[1]);
}

TEST(FedAvg, OneFullStepOfEqualQuadraticsIsGradientDescent) {
  const SmallProblem small(2);
  History history(1, nullptr);
  Quadratics learning(small.problem(), history, {{1, 1}, {1, 3}}, 10);
  auto world = closed_form(2, [](world::Node) { return 1; });
  const Simulated simulated =
      simulate(world, small, learning, run_of("fedavg", {{"rounds", "50"}, {"local-steps", "1"}}));
  double x = 10;
  for (std::size_t round = 0; round < 51; ++round) {
    EXPECT_NEAR(simulated.qualities.at(round)[1], x, 1e-5);
    x -= 0.1 * (x - 2);
  }
}

}  // namespace
}  // namespace dadsim::test
