#include "algorithms/gossip/graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "algorithms/gossip/mixing_weights.hpp"

namespace dadsim::algorithms {
namespace {

step::Neighbours graph(const char* name, std::size_t sites) { return graphs().at(name).make(sites, 5); }

TEST(Graph, EverySiteHasTheNeighboursOfItsKind) {
  EXPECT_EQ(graph("ring", 4).to, (std::vector<std::vector<std::int32_t>>{{1, 3}, {0, 2}, {1, 3}, {0, 2}}));
  EXPECT_EQ(graph("ring", 2).to, (std::vector<std::vector<std::int32_t>>{{1}, {0}}));
  EXPECT_EQ(graph("ring", 1).to, (std::vector<std::vector<std::int32_t>>{{}}));
  for (const auto& to : graph("torus", 16).to) EXPECT_EQ(to.size(), 4U);
  EXPECT_EQ(graph("exponential", 8).to[6], (std::vector<std::int32_t>{0, 2, 7}));
  for (const auto& to : graph("complete", 7).to) EXPECT_EQ(to.size(), 6U);
  EXPECT_EQ(graph("random", 20).to, graph("random", 20).to) << "drawn from the seed";
}

TEST(Graph, MixingKeepsTheMeanAndLeavesAConsensusAlone) {
  for (const GraphInfo& info : graphs().all()) {
    for (const std::size_t sites : {1, 2, 3, 8, 12, 25}) {
      const step::Neighbours neighbours = info.make(sites, 5);
      const MixingWeights weights = mixing_weights(neighbours);
      std::vector<double> columns(sites, 0.0);
      for (std::size_t i = 0; i < sites; ++i) {
        double row = weights.own[i];
        columns[i] += weights.own[i];
        EXPECT_GE(weights.own[i], 0.0F);
        for (const auto& [sender, weight] : weights.from[i]) {
          row += weight;
          columns[static_cast<std::size_t>(sender)] += weight;
          EXPECT_NE(sender, static_cast<std::int32_t>(i)) << "nobody is a neighbour of itself";
        }
        EXPECT_NEAR(row, 1.0, 1e-6) << info.name;
      }
      for (const double column : columns) EXPECT_NEAR(column, 1.0, 1e-6) << info.name << ' ' << sites;
    }
  }
}

// Eigenvalues of a ring with weights of 1/3: λ_k = 1/3 + 2/3 cos(2πk/n).
TEST(Graph, SpectralGapsAreThoseOfTheClosedForms) {
  const auto gap = [](const char* name, std::size_t sites) { return spectral_gap(mixing_weights(graph(name, sites))); };
  for (const auto& [sites, published] : {std::pair<std::size_t, double>{4, 0.67}, {16, 0.05}, {36, 0.01}}) {
    const double closed = 2.0 / 3.0 * (1.0 - std::cos(2.0 * std::numbers::pi / static_cast<double>(sites)));
    EXPECT_NEAR(gap("ring", sites), closed, 1e-6);
    EXPECT_NEAR(gap("ring", sites), published, 0.005) << "as published for CHOCO-SGD";
  }
  // Eigenvalues of an n × n torus with weights of 1/5: λ_kl = 1/5 + 2/5 (cos(2πk/n) + cos(2πl/n)).
  for (const std::size_t side : {4, 6}) {
    const double closed = 2.0 / 5.0 * (1.0 - std::cos(2.0 * std::numbers::pi / static_cast<double>(side)));
    EXPECT_NEAR(gap("torus", side * side), closed, 1e-6);
  }
  EXPECT_NEAR(gap("torus", 4), 0.67, 0.005) << "as published";
  EXPECT_NEAR(gap("torus", 16), 0.4, 1e-6) << "as published";
  EXPECT_NEAR(gap("torus", 36), 0.2, 1e-6) << "as published";
  EXPECT_EQ(gap("complete", 9), 1);
  // The exponential graph of 8 sites is a circulant with neighbours 1, 2 and 4 places away and weights of 1/4. Its λ_k
  // = 1/4 (1 + ω + ω² + ω⁴) is largest at k = 4, with 1/2.
  EXPECT_NEAR(gap("exponential", 8), 0.5, 1e-6);
  EXPECT_GT(gap("random", 16), gap("ring", 16)) << "chords help";
}

}  // namespace
}  // namespace dadsim::algorithms
