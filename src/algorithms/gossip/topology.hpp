#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/mixing_weights.hpp"
#include "spec/parameter.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::algorithms {

/// Requirements of a decentralised algorithm on its graph.
enum class GraphNeeds {
  nothing,            ///< any directed graph, also with differing degrees: push-sum weights its messages
  doubly_stochastic,  ///< weights whose rows and columns add up to one: undirected, or directed with equal degrees
  undirected,         ///< symmetric weights
  undirected_fixed,   ///< symmetric weights, the same in every step
  fixed,              ///< directed or not, but the same in every step
};

/// Edges and weights of every step, for the graphs of graph.hpp, and for graphs that have parameters, come from a
/// file, are directed, or vary by step.
class Topology {
 public:
  /// Builds a topology from the parameters that graph_parameters() names. Throws InputError if a file does not describe
  /// a graph, or no connected graph could be drawn.
  Topology(const spec::ParameterValues& parameters, std::size_t sites, std::uint64_t seed);

  struct MixingRound {
    std::shared_ptr<const step::Neighbours> graph;
    MixingWeights mixing;                          ///< Metropolis–Hastings; valid only if doubly_stochastic()
    std::vector<double> shares;                    ///< shares of push-sum
    std::size_t most_sent = 0, most_received = 0;  ///< largest out-degree and in-degree of a site
  };
  /// Returns the graph of step `number`, counted from 0.
  const MixingRound& at(std::int64_t number) const {
    return rounds_[static_cast<std::size_t>(number) % rounds_.size()];
  }
  /// Returns the number of steps after which the graphs repeat.
  std::size_t period() const { return rounds_.size(); }
  bool varies() const { return rounds_.size() > 1; }
  bool undirected() const { return undirected_; }
  bool regular() const { return regular_; }
  bool doubly_stochastic() const { return undirected_ || regular_; }

 private:
  std::vector<MixingRound> rounds_;
  bool undirected_ = true, regular_ = true;
};

/// Returns the round among some of the sites, without edges from and to other sites.
Topology::MixingRound round_among(const Topology::MixingRound& round, const std::vector<std::int32_t>& sites);

/// Returns the parameters `graph`, `probability` and `edges` of a decentralised algorithm. Their choices are the graphs
/// that meet its needs, as far as these can be checked without a number of sites.
std::vector<spec::ParameterSpec> graph_parameters(GraphNeeds needs, const std::string& by_default = "ring");
/// Returns graph_parameters(), with the algorithm's own parameters after the first of them.
std::vector<spec::ParameterSpec> with_graph(GraphNeeds needs, std::vector<spec::ParameterSpec> own,
                                            const std::string& by_default = "ring");

/// Checks a run's graph for its number of sites, and the collectives that the run needs in it. `averages`: the run ends
/// with an all-reduce. Throws InputError for errors of a file.
RunFaults graph_faults(GraphNeeds needs, const RunFacts& facts, bool averages = false);

/// Wraps graph_faults() for MethodInfo::check.
inline auto graph_check(GraphNeeds needs) {
  return [needs](const RunFacts& facts) { return graph_faults(needs, facts); };
}

/// Returns the spectral gap of a run's graph in words; for a varying graph, the gap of the product over a period.
std::string graph_remark(const RunFacts& facts);

}  // namespace dadsim::algorithms
