#include "algorithms/gossip/topology.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "algorithms/gossip/graph.hpp"
#include "algorithms/gossip/graph_file.hpp"
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
    const Topology::MixingRound& round = topology.at(0);
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

// A one-way ring with shares of 1/2 has |λ_k| = |1 + ω^k| / 2 = cos(πk/n).
TEST(Topology, PushGapIsThatOfTheClosedForm) {
  step::Neighbours ring;
  for (std::int32_t i = 0; i < 9; ++i) ring.to.push_back({(i + 1) % 9});
  EXPECT_NEAR(push_gap({push_weights(ring)}), 1 - std::cos(std::acos(-1.0) / 9), 1e-9);
}

RunFaults faults_with(GraphNeeds needs, const spec::ParameterValues& values, std::size_t sites) {
  spec::RunSpec run;
  run.parameters = values;
  return graph_faults(needs, {.run = run, .sites = sites});
}

TEST(Topology, ErdosRenyiHangsTogetherOrIsRefused) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Topology topology(choose_graph("erdos-renyi", "0.3"), 12, seed);
    EXPECT_TRUE(hangs_together({*topology.at(0).graph}));
    EXPECT_TRUE(topology.undirected());
  }
  EXPECT_EQ(*Topology(choose_graph("erdos-renyi", "1"), 6, 1).at(0).graph, graphs().at("complete").make(6, 1));
  EXPECT_NE(faults_with(GraphNeeds::undirected, choose_graph("erdos-renyi", "0.01"), 30).front().remedy.find("ln(n)"),
            std::string::npos);
  EXPECT_TRUE(faults_with(GraphNeeds::undirected, choose_graph("erdos-renyi", "0.3"), 30).empty());
  EXPECT_THROW(Topology(choose_graph("erdos-renyi", "0.001"), 4, 1), InputError);
}

TEST(Topology, AFileSaysEdgesOneALine) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("edges.txt", "# two rings\n0 1\n1 2 # chord\n\n2 > 3\n3 > 0\n");
  const Topology topology(choose_graph("file", "0.5", path), 4, 1);
  EXPECT_EQ(topology.at(0).graph->to, (std::vector<std::vector<std::int32_t>>{{1}, {0, 2}, {1, 3}, {0}}));
  EXPECT_FALSE(topology.undirected());
  EXPECT_NE(faults_with(GraphNeeds::undirected, choose_graph("file", "0.5", path), 4).front().what.find("symmetric"),
            std::string::npos);
  EXPECT_TRUE(faults_with(GraphNeeds::nothing, choose_graph("file", "0.5", path), 4).empty());
  EXPECT_FALSE(faults_with(GraphNeeds::nothing, choose_graph("file"), 4).empty()) << "without a file";
  EXPECT_FALSE(faults_with(GraphNeeds::nothing, choose_graph("ring", "0.5", path), 4).empty()) << "a file without use";
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
  std::vector<std::string> faults = faults_of("0 1\n1 4\n0 > 1\n0 x\n1 2 3 0\n-1 2\n2 3\n0 1\n", 4);
  ASSERT_EQ(faults.size(), 6U);
  EXPECT_EQ(faults[0].substr(0, 18), "4: 'x' is no site;");
  EXPECT_EQ(faults[1].substr(0, 14), "5: is no edge;");
  EXPECT_EQ(faults[2], "2: there is no site 4; use sites 0 to 3");
  EXPECT_EQ(faults[3], "3: the edge between sites 0 and 1 is already in line 1; remove one");
  EXPECT_EQ(faults[4], "6: there is no site -1; use sites 0 to 3");
  EXPECT_EQ(faults[5], "8: the edge between sites 0 and 1 is already in line 1; remove one");
  EXPECT_EQ(faults_of("0 1\n2 3\n", 4).size(), 1U) << "not connected";
  EXPECT_EQ(faults_of("0 > 1\n1 > 2\n", 3).size(), 1U) << "there is no way back";
}

TEST(Topology, FilesAreReadAsTheyArePublished) {
  const test::TemporaryFolder folder;
  const std::vector<std::vector<std::int32_t>> ring{{1, 3}, {0, 2}, {1, 3}, {0, 2}};
  for (const char* text : {
           "4\n0 1\n0 3\n1 0\n1 2\n2 1\n2 3\n3 0\n3 2\n",  // number of sites first; each edge in both directions
           "# Nodes: 4\n# FromNodeId\tToNodeId\r\n0\t1\r\n1\t2\r\n2\t3\r\n3\t0\r\n",  // format of SNAP
           "% sym unweighted\n% 4 4 4\n1 2\n2 3\n3 4\n4 1\n",                         // format of KONECT, which counts
                                                                                      // from 1
           "0 1 {}\n1 2 {}\n2 3 {}\n3 0 {}\n",                                        // format of networkx
           "0 1 {'weight': 2}\n1 2 {'weight': 1}\n2 3 {'weight': 1}\n3 0 {'weight': 1}\n",
           "\xef\xbb\xbfsource,target,weight\n0,1,0.5\n1,2,0.5\n2,3,0.25\n3,0,1.0\n",
           "Source;Target;Type;Weight\n0;1;Undirected;1\n1;2;Undirected;1\n2;3;Undirected;1\n3;0;Undirected;1\n",
           "\"from\",\"to\"\n\"1\",\"2\"\n\"2\",\"3\"\n\"3\",\"4\"\n\"4\",\"1\"\n",
           "4 4\n0 1\n1 2\n2 3\n0 3\n",                      // numbers of sites and edges first
           "4 8\n0 1\n1 0\n1 2\n2 1\n2 3\n3 2\n3 0\n0 3\n",  //
           "0 1 1\n1 2 1\n2 3 1\n3 0 1\n",
           "0 -- 1\n1--2\n2 -- 3\n3--0\n",    //
           "0 0\n0 1\n1 1\n1 2\n2 3\n3 0\n",  // edges from a site to itself
           "0->1\n1->0\n1->2\n2->1\n2 -> 3\n3 -> 2\n3 > 0\n0 > 3\n",
           "Source,Target,Type\n0,1,Directed\n1,0,Directed\n1,2,Undirected\n2,3,Undirected\n3,0,Undirected\n",
           "%%MatrixMarket matrix coordinate pattern symmetric\n% a ring\n4 4 4\n2 1\n3 2\n4 3\n4 1\n",
           "%%MatrixMarket matrix coordinate real general\n4 4 8\n1 2 0.5\n2 1 0.5\n2 3 .5\n3 2 .5\n3 4 .5\n4 3 1\n4 1 "
           "1\n1 4 1\n",
       }) {
    EXPECT_EQ(Topology(choose_graph("file", "0.5", folder.write("edges.txt", text)), 4, 1).at(0).graph->to, ring)
        << text;
  }
}

TEST(Topology, WhatOfAFileIsNotUsedIsNoted) {
  const test::TemporaryFolder folder;
  const auto remark = [&](const std::string& text) {
    const std::string path = folder.write("edges.txt", text);
    const GraphFile file = read_graph_file(path, 4);
    EXPECT_LE(file.notes.size(), 1U);
    return file.notes.empty() ? std::string() : file.notes.front().substr(path.size());
  };
  EXPECT_EQ(remark("0 1\n1 2\n2 3\n"), "");
  EXPECT_EQ(remark("0 1\n1 0\n1 2\n2 1\n2 3\n3 2\n"), "");
  EXPECT_EQ(remark("0 1 .5\n1 2 .5\n2 3 .1\n"),
            ":1: weights after edges are not used; mixing weights follow from the numbers of neighbours");
  EXPECT_EQ(remark("0 1\n1 1\n1 2\n2 2\n2 3\n"),
            ":2: edges from a site to itself are not used; a site mixes with itself anyway");
  EXPECT_EQ(remark("0 1\n1 0\n1 2\n2 3\n3 2\n"),
            ":3: '1 2' is an edge both ways, but other edges have a line per direction, and '2 1' is missing; write '1 "
            "> 2' for one direction");
  EXPECT_EQ(remark("0 1\n1 0\n1 > 2\n2 > 3\n2 > 1\n3 > 2\n"), "");
}

TEST(Topology, WhatAFileLeavesOpenIsRefused) {
  EXPECT_EQ(
      faults_of("5\n0 1\n1 2\n2 3\n", 4),
      std::vector<std::string>{"1: has 5 sites, but the scenario has 4; use a graph of 4 sites, or as many workers as "
                               "the graph has sites"});
  EXPECT_EQ(faults_of("4 3\n1 2\n2 3\n3 4\n", 4),
            std::vector<std::string>{"1: '4 3' is ambiguous: a count of 4 sites and 3 edges, or an edge between two "
                                     "sites; write only the number of sites"});
  EXPECT_EQ(faults_of("4\n1 2\n2 3\n3 4\n", 4), std::vector<std::string>{});
  // The file lists the neighbours of each site, here two per site.
  EXPECT_EQ(faults_of("0 1 3\n1 0 2\n2 1 3\n3 0 2\n", 4),
            std::vector<std::string>{
                "1: '3' is ambiguous: a weight or another neighbour; write two sites per line, or weights "
                "with a point, e.g. 1.0"});
  EXPECT_EQ(faults_of("0 1 3.0\n1 0 2.0\n1 2 3.0\n3 0 2.0\n", 4), std::vector<std::string>{});
}

// Methods that need symmetric weights must not offer directed graphs.
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
