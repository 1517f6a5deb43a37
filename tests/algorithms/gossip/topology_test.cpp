#include "algorithms/gossip/topology.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "algorithms/gossip/graph.hpp"
#include "algorithms/registry.hpp"
#include "support/diagnostics.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::algorithms {
namespace {

spec::ParameterValues choose_graph(const std::string& graph, const std::string& probability = "0.5",
                                   const std::string& edges = "") {
  return {{"graph", graph}, {"probability", probability}, {"edges", edges}};
}

double gap_of_period(const Topology& topology) {
  std::vector<MixingWeights> period;
  for (std::size_t t = 0; t < topology.period(); ++t) {
    period.push_back(topology.at(static_cast<std::int64_t>(t)).mixing);
  }
  return spectral_gap(period);
}

TEST(Topology, OnePeerExponentialAveragesExactlyInLogarithmicallyManySteps) {
  for (const std::size_t sites : {2, 4, 8, 16}) {
    const Topology topology(choose_graph("one-peer-exponential"), sites, 1);
    EXPECT_EQ(topology.period(), static_cast<std::size_t>(std::log2(sites) + 0.5));
    EXPECT_NEAR(gap_of_period(topology), 1, 1e-6) << sites;
    for (std::size_t t = 0; t < topology.period(); ++t) {
      for (const auto& to : topology.at(static_cast<std::int64_t>(t)).graph->to) EXPECT_EQ(to.size(), 1U);
    }
    EXPECT_EQ(topology.varies(), sites > 2);
    EXPECT_TRUE(topology.regular());
  }
  const Topology seven(choose_graph("one-peer-exponential"), 7, 1);
  EXPECT_LT(gap_of_period(seven), 0.99) << "not a power of two";
  EXPECT_GT(gap_of_period(seven), 0.5);
}

TEST(Topology, MatchingsPairOffAllSitesAnewInEveryStep) {
  for (const std::size_t sites : {5, 8}) {
    const Topology topology(choose_graph("matchings"), sites, 3);
    EXPECT_TRUE(topology.undirected());
    EXPECT_NE(*topology.at(0).graph, *topology.at(1).graph);
    for (std::size_t t = 0; t < topology.period(); ++t) {
      std::size_t alone = 0;
      for (const auto& to : topology.at(static_cast<std::int64_t>(t)).graph->to) {
        EXPECT_LE(to.size(), 1U);
        alone += to.empty() ? 1 : 0;
      }
      EXPECT_EQ(alone, sites % 2);
    }
    EXPECT_GT(gap_of_period(topology), 0.99);
    EXPECT_EQ(*Topology(choose_graph("matchings"), sites, 3).at(7).graph, *topology.at(7).graph);
    EXPECT_NE(*Topology(choose_graph("matchings"), sites, 4).at(7).graph, *topology.at(7).graph);
  }
}

TEST(Topology, TheDirectedOneIsNotRegularAndPushSumWeightsAreOfIt) {
  for (const std::size_t sites : {4, 5, 8, 13}) {
    const Topology topology(choose_graph("directed"), sites, 1);
    EXPECT_FALSE(topology.doubly_stochastic());
    const Topology::Round& round = topology.at(0);
    EXPECT_TRUE(hangs_together({*round.graph}));
    const MixingWeights weights = push_weights(*round.graph);
    std::vector<double> columns = weights.own;
    for (const auto& from : weights.from) {
      for (const auto& [sender, weight] : from) columns[static_cast<std::size_t>(sender)] += weight;
    }
    for (const double column : columns) EXPECT_NEAR(column, 1, 1e-12);
    EXPECT_GT(push_gap({weights}), 0.01);
    EXPECT_LT(push_gap({weights}), 1);
  }
}

// A ring in one direction with shares of a half: |λ_k| = |1 + ω^k| / 2 = cos(πk/n).
TEST(Topology, PushGapIsThatOfTheClosedForm) {
  step::Neighbours ring;
  for (std::int32_t i = 0; i < 9; ++i) ring.to.push_back({(i + 1) % 9});
  EXPECT_NEAR(push_gap({push_weights(ring)}), 1 - std::cos(std::acos(-1.0) / 9), 1e-9);
}

TEST(Topology, ErdosRenyiHangsTogetherOrIsRefused) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Topology topology(choose_graph("erdos-renyi", "0.3"), 12, seed);
    EXPECT_TRUE(hangs_together({*topology.at(0).graph}));
    EXPECT_TRUE(topology.undirected());
  }
  EXPECT_EQ(*Topology(choose_graph("erdos-renyi", "1"), 6, 1).at(0).graph, graphs().at("complete").make(6, 1));
  EXPECT_NE(graph_fault(GraphNeeds::undirected, choose_graph("erdos-renyi", "0.01"), 30).find("ln(n)"),
            std::string::npos);
  EXPECT_EQ(graph_fault(GraphNeeds::undirected, choose_graph("erdos-renyi", "0.3"), 30), "");
  EXPECT_THROW(Topology(choose_graph("erdos-renyi", "0.001"), 4, 1), InputError);
}

TEST(Topology, AFileSaysEdgesOneALine) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("edges.txt", "# two rings\n0 1\n1 2 # chord\n\n2 > 3\n3 > 0\n");
  const Topology topology(choose_graph("file", "0.5", path), 4, 1);
  EXPECT_EQ(topology.at(0).graph->to, (std::vector<std::vector<std::int32_t>>{{1}, {0, 2}, {1, 3}, {0}}));
  EXPECT_FALSE(topology.undirected());
  EXPECT_NE(graph_fault(GraphNeeds::undirected, choose_graph("file", "0.5", path), 4).find("symmetric"),
            std::string::npos);
  EXPECT_EQ(graph_fault(GraphNeeds::nothing, choose_graph("file", "0.5", path), 4), "");
  EXPECT_NE(graph_fault(GraphNeeds::nothing, choose_graph("file"), 4), "") << "without a file";
  EXPECT_NE(graph_fault(GraphNeeds::nothing, choose_graph("ring", "0.5", path), 4), "") << "a file without use";
}

std::vector<std::string> faults_of(const std::string& text, std::size_t sites) {
  const test::TemporaryFolder folder;
  std::vector<std::string> faults;
  try {
    const Topology topology(choose_graph("file", "0.5", folder.write("edges.txt", text)), sites, 1);
  } catch (const InputError& error) {
    for (const Diagnostic& fault : error.diagnostics()) {
      faults.push_back(std::to_string(fault.line) + ": " + fault.what + "; " + fault.remedy);
    }
  }
  return faults;
}

TEST(Topology, WhatIsWrongWithAFileIsSaidLineByLine) {
  const std::vector<std::string> faults = faults_of("0 1\n1 4\n1 1\n0 > 1\n0 x\n1 2 3\n-1 2\n2 3\n", 4);
  ASSERT_EQ(faults.size(), 6U);
  EXPECT_EQ(faults[0], "2: there is no site 4; sites 0 to 3");
  EXPECT_EQ(faults[1], "3: an edge from site 1 to itself; remove it");
  EXPECT_EQ(faults[2], "4: the edge between sites 0 and 1 stands above already; remove one");
  EXPECT_EQ(faults[3].substr(0, 18), "5: 'x' is no site;");
  EXPECT_EQ(faults[4].substr(0, 14), "6: is no edge;");
  EXPECT_EQ(faults[5], "7: there is no site -1; sites 0 to 3");
  EXPECT_EQ(faults_of("0 1\n2 3\n", 4).size(), 1U) << "falls apart";
  EXPECT_EQ(faults_of("0 > 1\n1 > 2\n", 3).size(), 1U) << "there is no way back";
}

// Whoever needs symmetric weights has no directed graph among its choices, nor a word for it.
TEST(Topology, AlgorithmsChooseAmongGraphsThatTheyCanDoWith) {
  const auto choices = [](const char* algorithm) {
    for (const spec::ParameterSpec& parameter : algorithm_registry().at(algorithm).parameters) {
      if (parameter.name == "graph") return parameter.choices;
    }
    return std::vector<std::string>{};
  };
  const auto has = [](const std::vector<std::string>& all, const char* one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const char* algorithm : {"choco-sgd", "d2", "power-gossip"}) {
    EXPECT_FALSE(has(choices(algorithm), "directed")) << algorithm;
    EXPECT_FALSE(has(choices(algorithm), "exponential")) << algorithm;
    EXPECT_TRUE(has(choices(algorithm), "star")) << algorithm;
  }
  EXPECT_FALSE(has(choices("d-psgd"), "directed"));
  EXPECT_TRUE(has(choices("d-psgd"), "exponential"));
  EXPECT_TRUE(has(choices("sgp"), "directed"));
  EXPECT_FALSE(has(choices("choco-sgd"), "matchings")) << "replicas need the same neighbours in every step";
}

}  // namespace
}  // namespace dadsim::algorithms
