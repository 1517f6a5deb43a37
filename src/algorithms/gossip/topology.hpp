#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/mixing_weights.hpp"
#include "spec/parameter.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::algorithms {

/// What a decentralised algorithm needs of the graph that its sites exchange over.
enum class GraphNeeds {
  nothing,            ///< a directed one will do, whose degrees differ: push-sum weighs what it sends
  doubly_stochastic,  ///< weights whose rows and columns add up to one: undirected, or directed with all degrees alike
  undirected,         ///< symmetric weights
  undirected_fixed,   ///< and the same in every step
  fixed,              ///< directed is fine, but the same in every step
};

/// Who sends to whom in which step, and what is weighed how: the graphs of graph.hpp, and those that need parameters,
/// that are of a file, that are directed or that change from step to step.
class Topology {
 public:
  /// Of the parameters that graph_parameters() names. Throws InputError where a file does not say a graph, or a drawn
  /// one does not come to hang together.
  Topology(const spec::ParameterValues& parameters, std::size_t sites, std::uint64_t seed);

  struct MixingRound {
    std::shared_ptr<const step::Neighbours> graph;
    MixingWeights mixing;                          ///< Metropolis–Hastings; of no use where !doubly_stochastic()
    std::vector<double> shares;                    ///< of push-sum
    std::size_t most_sent = 0, most_received = 0;  ///< degrees of the sites with the most neighbours
  };
  /// Of step `number`, counted from 0.
  const MixingRound& at(std::int64_t number) const {
    return rounds_[static_cast<std::size_t>(number) % rounds_.size()];
  }
  /// After so many steps the graphs repeat.
  std::size_t period() const { return rounds_.size(); }
  bool varies() const { return rounds_.size() > 1; }
  bool undirected() const { return undirected_; }
  bool regular() const { return regular_; }
  bool doubly_stochastic() const { return undirected_ || regular_; }

 private:
  std::vector<MixingRound> rounds_;
  bool undirected_ = true, regular_ = true;
};

/// The same among some of the sites: edges from and to the others are left out.
Topology::MixingRound round_among(const Topology::MixingRound& round, const std::vector<std::int32_t>& sites);

/// The parameters `graph`, `probability` and `edges` of decentralised algorithms: those graphs of all that are what the
/// algorithm needs, as far as that shows without their number of sites.
std::vector<spec::ParameterSpec> graph_parameters(GraphNeeds needs, const std::string& by_default = "ring");
/// Those, and behind the first of them the algorithm's own.
std::vector<spec::ParameterSpec> with_graph(GraphNeeds needs, std::vector<spec::ParameterSpec> own,
                                            const std::string& by_default = "ring");

/// What is wrong with a graph for so many sites, or with collectives that a run asks for in it: `averages`: it has an
/// all-reduce in the end. None: nothing. Throws InputError for what is wrong with a file.
RunFaults graph_faults(GraphNeeds needs, const RunFacts& facts, bool averages = false);

/// The same for MethodInfo::check.
inline auto graph_check(GraphNeeds needs) {
  return [needs](const RunFacts& facts) { return graph_faults(needs, facts); };
}

/// The spectral gap of a run's graph, in words; of one that varies, that of the product over a period.
std::string graph_remark(const RunFacts& facts);

}  // namespace dadsim::algorithms
