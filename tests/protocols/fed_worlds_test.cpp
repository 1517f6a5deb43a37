#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "protocols/simulating.hpp"
#include "sim/star.hpp"
#include "sim/world.hpp"

// Compares rounds on a star without contention, with kernels of one second: by hand, by formulas, and simulated.

namespace dadsim::test {
namespace {

/// Returns the number of kernels that a node computes.
double kernels_of(const world::Work& work) {
  double kernels = 0;
  for (const world::Work::Piece& piece : work.pieces) {
    for (std::size_t i = piece.first; i < piece.behind; ++i) {
      const auto* compute = std::get_if<schedule::ComputeTask>(&piece.schedule->tasks[i].what);
      if (compute == nullptr || compute->who != piece.who) continue;
      kernels += piece.times * compute->launches[piece.entry];
    }
  }
  return kernels;
}

TEST(FederatedWorlds, ARoundTakesAsLongInBothAsByHand) {
  const SmallProblem small(3, 60);
  const spec::RunSpec run = run_of("fedavg", {{"rounds", "4"}, {"local-epochs", "2"}});
  const Star star{.workers = 3, .rate = 1e5, .latency = 0.05};

  History first(1, nullptr);
  Learning learning(small.problem(), first);
  double worker_kernels = 0;
  double server_kernels = 0;
  world::ClosedFormWorld formulas({.nodes = 4,
                                   .line =
                                       [&](world::Node, world::Node) {
                                         return world::ClosedFormWorld::SiteLine{star.latency, star.rate};
                                       },
                                   .seconds =
                                       [&](world::Node node, const world::Work& work) {
                                         const double kernels = kernels_of(work);
                                         (node == 3 ? server_kernels : worker_kernels) = kernels;
                                         return kernels;
                                       },
                                   .link = nullptr});
  const Simulated by_formula = simulate(formulas, small, learning, run);

  const TemporaryFile file(star.xml());
  History second(1, nullptr);
  Learning again(small.problem(), second);
  const auto simulated = sim::simulate_world(cluster_on(file.path(), star.workers));
  const Simulated by_simulation = simulate(*simulated, small, again, run);

  // A round is the model down, local training on four batches, the update up, and the mean.
  const double bytes = by_formula.log.nodes[0].sent / 4;
  EXPECT_GT(bytes, 4.0 * 784 * 10);
  EXPECT_GT(worker_kernels, 4);
  EXPECT_GE(server_kernels, 1);
  const double by_hand = 4 * (2 * star.to_hub(bytes) + worker_kernels + server_kernels);
  EXPECT_NEAR(by_formula.log.seconds / by_hand, 1, 1e-9);
  EXPECT_NEAR(by_simulation.log.seconds / by_hand, 1, 1e-3);
  EXPECT_NEAR(by_simulation.log.seconds / by_formula.log.seconds, 1, 1e-6);
  EXPECT_EQ(by_simulation.qualities, by_formula.qualities);
  EXPECT_EQ(by_simulation.log.nodes[0].sent, by_formula.log.nodes[0].sent);
}

TEST(FederatedWorlds, AllProtocolsAreLearnedAlikeInBoth) {
  for (const char* protocol : {"fedprox", "scaffold", "fedopt", "hierfavg", "fedbuff", "fedasync"}) {
    const SmallProblem small(4, 80);
    spec::RunSpec run = run_of(protocol);
    for (const char* length : {"rounds", "updates"}) {
      if (run.parameters.contains(length)) run.parameters[length] = "3";
    }
    if (run.parameters.contains("buffer")) run.parameters["buffer"] = "2";
    const Star star{.workers = 4, .rate = 1e6, .latency = 0.01};
    History history(1, nullptr);
    Learning learning(small.problem(), history);
    // A message between two workers uses two links.
    world::ClosedFormWorld formulas({.nodes = 5,
                                     .line =
                                         [&](world::Node from, world::Node to) {
                                           const double links = from == 4 || to == 4 ? 1 : 2;
                                           return world::ClosedFormWorld::SiteLine{links * star.latency, star.rate};
                                         },
                                     .seconds = [](world::Node, const world::Work& work) { return kernels_of(work); },
                                     .link = nullptr});
    const Simulated by_formula = simulate(formulas, small, learning, run);
    const TemporaryFile file(star.xml());
    const auto simulated = sim::simulate_world(cluster_on(file.path(), star.workers));
    const Simulated by_simulation = simulate(*simulated, small, learning, run);
    EXPECT_NEAR(by_simulation.log.seconds / by_formula.log.seconds, 1, 1e-6) << protocol;
    EXPECT_EQ(by_simulation.protocol_log.answered, by_formula.protocol_log.answered) << protocol;
    EXPECT_EQ(by_simulation.protocol_log.samples, by_formula.protocol_log.samples) << protocol;
  }
}

}  // namespace
}  // namespace dadsim::test
