#include "algorithms/gossip/graph.hpp"

#include <boost/random/uniform_int_distribution.hpp>
#include <set>

#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

using Edges = std::vector<std::set<std::int32_t>>;

step::Neighbours neighbours_of(const Edges& edges) {
  step::Neighbours graph;
  for (const auto& to : edges) graph.to.emplace_back(to.begin(), to.end());
  return graph;
}

void join(Edges& edges, std::size_t a, std::size_t b) {
  if (a == b) return;
  edges[a].insert(static_cast<std::int32_t>(b));
  edges[b].insert(static_cast<std::int32_t>(a));
}

step::Neighbours ring(std::size_t sites, std::uint64_t) {
  Edges edges(sites);
  for (std::size_t i = 0; i < sites; ++i) join(edges, i, (i + 1) % sites);
  return neighbours_of(edges);
}

/// Returns a torus as square as the number of sites allows: its columns are the largest divisor up to the square root.
step::Neighbours torus(std::size_t sites, std::uint64_t) {
  std::size_t columns = 1;
  for (std::size_t c = 1; c * c <= sites; ++c) {
    if (sites % c == 0) columns = c;
  }
  const std::size_t rows = sites / columns;
  Edges edges(sites);
  for (std::size_t i = 0; i < sites; ++i) {
    const std::size_t row = i / columns;
    const std::size_t column = i % columns;
    join(edges, i, row * columns + (column + 1) % columns);
    join(edges, i, (row + 1) % rows * columns + column);
  }
  return neighbours_of(edges);
}

/// Returns the graph with edges from site i to i + 1, i + 2, i + 4, … (Assran et al., ICML 2019): directed, the same at
/// every site.
step::Neighbours exponential(std::size_t sites, std::uint64_t) {
  Edges edges(sites);
  for (std::size_t i = 0; i < sites; ++i) {
    for (std::size_t hop = 1; hop < sites; hop *= 2) edges[i].insert(static_cast<std::int32_t>((i + hop) % sites));
  }
  return neighbours_of(edges);
}

step::Neighbours complete(std::size_t sites, std::uint64_t) {
  Edges edges(sites);
  for (std::size_t i = 0; i < sites; ++i) {
    for (std::size_t j = i + 1; j < sites; ++j) join(edges, i, j);
  }
  return neighbours_of(edges);
}

/// Returns a ring, so that the graph is connected, and as many random chords: four neighbours on average.
step::Neighbours random_graph(std::size_t sites, std::uint64_t seed) {
  Edges edges(sites);
  for (std::size_t i = 0; i < sites; ++i) join(edges, i, (i + 1) % sites);
  RandomStream random(seed, Purpose::graph);
  boost::random::uniform_int_distribution<std::size_t> site(0, sites - 1);
  for (std::size_t chord = 0; chord < sites; ++chord) {
    const std::size_t a = site(random);
    const std::size_t b = site(random);
    join(edges, a, b);
  }
  return neighbours_of(edges);
}

}  // namespace

Registry<GraphInfo>& graphs() {
  static Registry<GraphInfo> registry{
      "graph",
      {{"ring", "Every site is connected to the previous and the next one.", ring},
       {"torus", "A grid, as square as the number of sites allows, closed in both directions.", torus},
       {"exponential", "Every site sends to the sites 1, 2, 4, … places after it.", exponential},
       {"complete", "Every site is connected to all others.", complete},
       {"random", "A ring with as many random chords as sites, drawn from the seed.", random_graph}}};
  return registry;
}

spec::ParameterSpec graph_parameter() {
  spec::ParameterSpec parameter =
      spec::choice_parameter(kGraph.name, "ring", {}, "graph of the sites that send to each other");
  for (const GraphInfo& graph : graphs().all()) parameter.choices.push_back(graph.name);
  return parameter;
}

}  // namespace dadsim::algorithms
