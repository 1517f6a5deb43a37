#include "algorithms/gossip/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <numeric>
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

/// As square as the number of sites allows: columns are its largest divisor up to the root.
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

/// Site i sends to i + 1, i + 2, i + 4, … (Assran et al., ICML 2019): directed, and alike at every site.
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

/// A ring, so that all hang together, and as many chords drawn between sites: four neighbours on average.
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

/// (W − 11ᵀ/n) x
std::vector<double> apply(const MixingWeights& weights, const std::vector<double>& x, bool transposed) {
  const std::size_t sites = weights.own.size();
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(sites);
  std::vector<double> y(sites, -mean);
  for (std::size_t i = 0; i < sites; ++i) {
    y[i] += static_cast<double>(weights.own[i]) * x[i];
    for (const auto& [sender, weight] : weights.from[i]) {
      const auto j = static_cast<std::size_t>(sender);
      y[transposed ? j : i] += static_cast<double>(weight) * x[transposed ? i : j];
    }
  }
  return y;
}

}  // namespace

Registry<GraphInfo>& graphs() {
  static Registry<GraphInfo> registry{
      "graph",
      {{"ring", "Every site has the one before and the one behind it.", ring},
       {"torus", "A grid, as square as the number of sites allows, closed in both directions.", torus},
       {"exponential", "Every site sends to those 1, 2, 4, … places on.", exponential},
       {"complete", "Every site has all others.", complete},
       {"random", "A ring and as many chords, drawn from the seed.", random_graph}}};
  return registry;
}

MixingWeights mixing_weights(const step::Neighbours& graph) {
  const std::size_t sites = graph.to.size();
  MixingWeights weights{std::vector<float>(sites, 1.0F),
                        std::vector<std::vector<std::pair<std::int32_t, float>>>(sites)};
  std::vector<double> own(sites, 1.0);
  for (std::size_t from = 0; from < sites; ++from) {
    for (const std::int32_t to : graph.to[from]) {
      const auto receiver = static_cast<std::size_t>(to);
      const double weight =
          1.0 / (1.0 + static_cast<double>(std::max(graph.to[from].size(), graph.to[receiver].size())));
      weights.from[receiver].emplace_back(static_cast<std::int32_t>(from), static_cast<float>(weight));
      own[receiver] -= weight;
    }
  }
  for (std::size_t i = 0; i < sites; ++i) weights.own[i] = static_cast<float>(own[i]);
  return weights;
}

double spectral_gap(const MixingWeights& weights) {
  // |λ₂|² is the largest eigenvalue of BᵀB with B = W − 11ᵀ/n: W commutes with its transpose. Power iteration.
  constexpr int kMostIterations = 20'000;
  constexpr double kSettled = 1e-13;
  const std::size_t sites = weights.own.size();
  if (sites < 2) return 1;
  std::vector<double> x(sites);
  for (std::size_t i = 0; i < sites; ++i) x[i] = std::sin(1.0 + 2.3 * static_cast<double>(i));
  double squared = 0;
  for (int i = 0; i < kMostIterations; ++i) {
    const double length = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
    if (!(length > 1e-150)) return 1;
    for (double& value : x) value /= length;
    x = apply(weights, apply(weights, x, false), true);
    const double before = std::exchange(squared, std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0)));
    if (std::abs(squared - before) <= kSettled * squared) break;
  }
  // fp32 weights: what is below their rounding is nothing.
  const double second = std::sqrt(squared);
  return second < 1e-6 ? 1 : 1 - second;
}

spec::ParameterSpec graph_parameter() {
  spec::ParameterSpec parameter{.name = "graph",
                                .type = spec::ParameterSpec::Type::choice,
                                .minimum = 0,
                                .maximum = 0,
                                .default_value = "ring",
                                .choices = {},
                                .description = "who sends to whom"};
  for (const GraphInfo& graph : graphs().all()) parameter.choices.push_back(graph.name);
  return parameter;
}

std::string graph_remark(const RemarkContext& context) {
  const step::Neighbours graph = graphs().at(context.parameters.at("graph")).make(context.sites, context.seed);
  std::size_t edges = 0;
  for (const auto& to : graph.to) edges += to.size();
  return fmt::format("{} graph of {} sites, {:.3g} neighbours each on average, spectral gap {:.4f}",
                     context.parameters.at("graph"), context.sites,
                     static_cast<double>(edges) / static_cast<double>(context.sites),
                     spectral_gap(mixing_weights(graph)));
}

}  // namespace dadsim::algorithms
