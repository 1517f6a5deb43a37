#include "algorithms/gossip/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/uniform_01.hpp>
#include <boost/random/uniform_int_distribution.hpp>
#include <cmath>
#include <iterator>
#include <numeric>
#include <set>

#include "algorithms/gossip/graph.hpp"
#include "algorithms/gossip/graph_file.hpp"
#include "support/random.hpp"

namespace dadsim::algorithms {
namespace {

constexpr spec::TextParameter kEdges{"edges"};
constexpr double kUsualProbability = 0.5;
constexpr spec::RealParameter kProbability{"probability", 0, 1, "0.5",
                                           "graph=\"erdos-renyi\": probability of an edge between two sites"};

using Graphs = std::vector<step::Neighbours>;

struct TopologyRequest {
  const spec::ParameterValues& parameters;
  std::size_t sites;
  std::uint64_t seed;
};

/// A graph that varies between steps, needs parameters, or is supported by some algorithms only.
struct TopologyInfo {
  std::string name;
  bool undirected = true, regular = false, varies = false;  ///< true if so for any parameters
  bool of_file = false;                                     ///< the file decides whether the graph is undirected or
                                                            ///< regular
  Graphs (*make)(const TopologyRequest&) = nullptr;
};

std::size_t hops_of(std::size_t sites) {
  std::size_t hops = 0;
  for (std::size_t hop = 1; hop < sites; hop *= 2) ++hops;
  return hops;
}

/// Returns the graphs of a period: in step t site i sends to i + 2^(t mod ⌈log₂ n⌉) alone (Assran et al., ICML 2019,
/// arXiv 1811.10792; Ying et al., NeurIPS 2021, arXiv 2110.13363: with n a power of two, ⌈log₂ n⌉ steps average
/// exactly).
Graphs one_peer_exponential(const TopologyRequest& asked) {
  Graphs period(std::max<std::size_t>(1, hops_of(asked.sites)));
  for (std::size_t t = 0; t < period.size(); ++t) {
    const std::size_t hop = (std::size_t{1} << t) % asked.sites;
    period[t].to.resize(asked.sites);
    for (std::size_t i = 0; hop > 0 && i < asked.sites; ++i) {
      period[t].to[i].push_back(static_cast<std::int32_t>((i + hop) % asked.sites));
    }
  }
  return period;
}

/// Returns a ring in one direction in which every second site also sends three places on: every second site has two
/// outgoing edges, each of the others two incoming ones.
Graphs directed(const TopologyRequest& asked) {
  std::vector<std::set<std::int32_t>> to(asked.sites);
  for (std::size_t i = 0; i < asked.sites && asked.sites > 1; ++i) {
    to[i].insert(static_cast<std::int32_t>((i + 1) % asked.sites));
    if (i % 2 == 0 && asked.sites > 3) to[i].insert(static_cast<std::int32_t>((i + 3) % asked.sites));
  }
  step::Neighbours graph;
  for (const auto& receivers : to) graph.to.emplace_back(receivers.begin(), receivers.end());
  return {graph};
}

/// Returns a star: site 0 is joined to all others, which have no other neighbours.
Graphs star(const TopologyRequest& asked) {
  step::Neighbours graph;
  graph.to.resize(asked.sites);
  for (std::size_t i = 1; i < asked.sites; ++i) {
    graph.to[0].push_back(static_cast<std::int32_t>(i));
    graph.to[i].push_back(0);
  }
  return {graph};
}

/// Joins every pair of sites with the same probability, independently of the others (Erdős, Rényi, 1959; Gilbert,
/// 1959); drawn again until the graph is connected.
Graphs erdos_renyi(const TopologyRequest& asked) {
  constexpr std::uint32_t kMostDraws = 1000;
  const double probability = kProbability.of(asked.parameters);
  for (std::uint32_t draw = 0; draw < kMostDraws; ++draw) {
    RandomStream random(asked.seed, Purpose::gossip_graph, 0, draw);
    boost::random::uniform_01<double> uniform;
    step::Neighbours graph;
    graph.to.resize(asked.sites);
    for (std::size_t i = 0; i < asked.sites; ++i) {
      for (std::size_t j = i + 1; j < asked.sites; ++j) {
        if (uniform(random) >= probability) continue;
        graph.to[i].push_back(static_cast<std::int32_t>(j));
        graph.to[j].push_back(static_cast<std::int32_t>(i));
      }
    }
    for (auto& to : graph.to) std::ranges::sort(to);
    if (hangs_together({graph})) return {graph};
  }
  const auto sites = static_cast<double>(asked.sites);
  throw InputError(
      Diagnostic{"", 0,
                 fmt::format("a random graph of {} sites with probability {} was not connected in {} draws",
                             asked.sites, probability, kMostDraws),
                 fmt::format("set a probability well above ln(n) / n = {:.3g}", std::log(sites) / sites)});
}

/// Pairs sites at random in every step, one being left alone if their number is odd (Boyd, Ghosh, Prabhakar, Shah, IEEE
/// Trans. Information Theory 52, 2006, with all pairs of a matching at once). The draws repeat after kMatchings steps,
/// which limits the kinds of steps to time.
Graphs matchings(const TopologyRequest& asked) {
  constexpr std::uint32_t kMatchings = 32;
  Graphs period(kMatchings);
  for (std::uint32_t t = 0; t < kMatchings; ++t) {
    RandomStream random(asked.seed, Purpose::gossip_graph, 1, t);
    std::vector<std::int32_t> order(asked.sites);
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[boost::random::uniform_int_distribution<std::size_t>(0, i - 1)(random)]);
    }
    period[t].to.resize(asked.sites);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      period[t].to[static_cast<std::size_t>(order[i])] = {order[i + 1]};
      period[t].to[static_cast<std::size_t>(order[i + 1])] = {order[i]};
    }
  }
  return period;
}

Graphs from_file(const TopologyRequest& asked) {
  return {read_graph_file(kEdges.of(asked.parameters), asked.sites).graph};
}

const std::vector<TopologyInfo>& topologies() {
  static const std::vector<TopologyInfo> all{
      {.name = "star", .make = star},
      {.name = "erdos-renyi", .make = erdos_renyi},
      {.name = "file", .of_file = true, .make = from_file},
      {.name = "matchings", .varies = true, .make = matchings},
      {.name = "one-peer-exponential",
       .undirected = false,
       .regular = true,
       .varies = true,
       .make = one_peer_exponential},
      {.name = "directed", .undirected = false, .make = directed},
  };
  return all;
}

const TopologyInfo* find_topology(const std::string& name) {
  const auto found = std::ranges::find(topologies(), name, &TopologyInfo::name);
  return found == topologies().end() ? nullptr : &*found;
}

bool can_do_with(GraphNeeds needs, bool undirected, bool regular, bool varies) {
  switch (needs) {
    case GraphNeeds::nothing:
      return true;
    case GraphNeeds::doubly_stochastic:
      return undirected || regular;
    case GraphNeeds::undirected:
      return undirected;
    case GraphNeeds::undirected_fixed:
      return undirected && !varies;
    case GraphNeeds::fixed:
      return !varies;
  }
  return false;
}

Graphs graphs_of(const spec::ParameterValues& parameters, std::size_t sites, std::uint64_t seed) {
  const std::string& name = kGraph.of(parameters);
  const TopologyInfo* info = find_topology(name);
  Graphs period = info != nullptr ? info->make({parameters, sites, seed}) : Graphs{graphs().at(name).make(sites, seed)};
  if (!hangs_together(period))
    throw InputError(Diagnostic{"", 0, "the graph of the sites is not connected", "use another seed"});
  return period;
}

/// Largest number of sites for which eigenvalues of the weights are computed; the work is n³.
constexpr std::size_t kMostForEigenvalues = 400;

Topology::MixingRound round_of(step::Neighbours graph) {
  Topology::MixingRound round{std::make_shared<const step::Neighbours>(std::move(graph)), {}, {}, 0, 0};
  round.mixing = mixing_weights(*round.graph);
  round.shares = push_shares(*round.graph);
  for (const auto& to : round.graph->to) round.most_sent = std::max(round.most_sent, to.size());
  for (const auto& from : round.mixing.from) round.most_received = std::max(round.most_received, from.size());
  return round;
}

}  // namespace

Topology::Topology(const spec::ParameterValues& parameters, std::size_t sites, std::uint64_t seed) {
  for (step::Neighbours& graph : graphs_of(parameters, sites, seed)) {
    undirected_ = undirected_ && is_undirected(graph);
    regular_ = regular_ && is_regular(graph);
    rounds_.push_back(round_of(std::move(graph)));
  }
}

Topology::MixingRound round_among(const Topology::MixingRound& round, const std::vector<std::int32_t>& sites) {
  step::Neighbours graph;
  graph.to.resize(round.graph->to.size());
  const auto takes_part = [&](std::int32_t site) { return std::ranges::binary_search(sites, site); };
  for (const std::int32_t from : sites) {
    const auto& to = round.graph->to[static_cast<std::size_t>(from)];
    std::ranges::copy_if(to, std::back_inserter(graph.to[static_cast<std::size_t>(from)]), takes_part);
  }
  return round_of(std::move(graph));
}

std::vector<spec::ParameterSpec> graph_parameters(GraphNeeds needs, const std::string& by_default) {
  spec::ParameterSpec graph = graph_parameter();
  graph.default_value = by_default;
  graph.choices.clear();
  for (const GraphInfo& info : graphs().all()) {
    // Takes the exponential graph, the only directed one here, as regular: its degrees are equal.
    const bool undirected = info.name != "exponential";
    if (can_do_with(needs, undirected, true, false)) graph.choices.push_back(info.name);
  }
  for (const TopologyInfo& info : topologies()) {
    if (info.of_file || can_do_with(needs, info.undirected, info.regular, info.varies)) {
      graph.choices.push_back(info.name);
    }
  }
  return {
      graph,
      kProbability,
      {.name = kEdges.name,
       .type = spec::ParameterSpec::Type::file,
       .minimum = 0,
       .maximum = 0,
       .default_value = "",
       .choices = {},
       .description = "graph=\"file\": path of a text file with one edge per line, '0 1' both ways or '0 > 1' one way; "
                      "sites count from 0, or from 1 (docs/gossip.md)"}};
}

std::vector<spec::ParameterSpec> with_graph(GraphNeeds needs, std::vector<spec::ParameterSpec> own,
                                            const std::string& by_default) {
  std::vector<spec::ParameterSpec> all = graph_parameters(needs, by_default);
  all.insert(all.begin() + 1, std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  return all;
}

namespace {

/// Reports attributes of collectives that gossip in a graph does not use.
RunFaults collective_faults(const spec::RunSpec& run, bool averages) {
  RunFaults faults;
  const auto refuse = [&](const char* attribute, const std::string& value) {
    faults.push_back(Fault{fmt::format("{}=\"{}\" has no effect on '{}'{}: its sites send to neighbours in a graph",
                                       attribute, value, run.algorithm, averages ? " except in its final sum" : ""),
                           "leave it out"});
  };
  if (!averages && run.all_reduce != "auto") refuse("all-reduce", run.all_reduce);
  if (run.all_gather != "auto") refuse("all-gather", run.all_gather);
  if (run.reduce_scatter != "auto") refuse("reduce-scatter", run.reduce_scatter);
  if (!averages && run.bucket_bytes > 0) refuse("bucket", fmt::format("{:g}B", run.bucket_bytes));
  return faults;
}

}  // namespace

RunFaults graph_faults(GraphNeeds needs, const RunFacts& facts, bool averages) {
  if (RunFaults faults = collective_faults(facts.run, averages); !faults.empty()) return faults;
  const spec::ParameterValues& parameters = facts.run.parameters;
  const std::size_t sites = facts.sites;
  if (sites == 0) return {};
  const std::string& name = kGraph.of(parameters);
  if (name != "file" && !kEdges.of(parameters).empty()) {
    return {Fault{fmt::format("edges=\"…\" needs graph=\"file\", not '{}'", name), "set graph=\"file\", or remove it"}};
  }
  const double probability = kProbability.of(parameters);
  if (name != "erdos-renyi" && probability != kUsualProbability) {
    return {Fault{fmt::format("probability = {} needs graph=\"erdos-renyi\", not '{}'", probability, name),
                  "set graph=\"erdos-renyi\", or remove it"}};
  }
  if (name == "erdos-renyi") {
    const auto n = static_cast<double>(sites);
    // Expected number of sites without a neighbour; if it is large, no drawn graph is connected.
    const double alone = sites > 1 ? n * std::pow(1 - probability, n - 1) : 0;
    if (alone > 5) {
      return {Fault{
          fmt::format("with probability {}, about {:.0f} of {} sites have no neighbour", probability, alone, sites),
          fmt::format("set a probability well above ln(n) / n = {:.3g}", std::log(n) / n)}};
    }
    constexpr std::size_t kFew = 100;  // few sites: the mean is no guide, and draws are fast
    try {
      if (sites <= kFew) static_cast<void>(Topology(parameters, sites, facts.seed));
    } catch (const InputError& refused) {
      return {Fault{refused.diagnostics().front().what, refused.diagnostics().front().remedy}};
    }
  }
  if (facts.run.absence.goes_without() && needs == GraphNeeds::doubly_stochastic &&
      (name != "file" || !kEdges.of(parameters).empty()) && !Topology(parameters, sites, facts.seed).undirected()) {
    return {
        Fault{fmt::format("absent=\"{}\" needs an undirected graph: only its weights keep the mean if a site is absent",
                          to_string(facts.run.absence.does)),
              "use an undirected graph, or an algorithm that pushes (sgp)"}};
  }
  if (name != "file") return {};
  if (kEdges.of(parameters).empty())
    return {Fault{"graph=\"file\" needs edges=\"…\"", "set edges to the path of a list of edges"}};
  const Topology topology(parameters, sites, 0);
  if (can_do_with(needs, topology.undirected(), topology.regular(), false)) return {};
  return {Fault{needs == GraphNeeds::doubly_stochastic
                    ? "the graph of the file is directed and its degrees differ, so that no weights keep the mean"
                    : "the graph of the file is directed, and the algorithm needs symmetric weights",
                "write every edge both ways, or use an algorithm that pushes (sgp, sparse-push)"}};
}

std::string graph_remark(const RunFacts& facts) {
  const Topology topology(facts.run.parameters, facts.sites, facts.seed);
  std::size_t edges = 0;
  std::vector<MixingWeights> period;
  for (std::size_t t = 0; t < topology.period(); ++t) {
    const Topology::MixingRound& round = topology.at(static_cast<std::int64_t>(t));
    for (const auto& to : round.graph->to) edges += to.size();
    period.push_back(topology.doubly_stochastic() ? round.mixing : push_weights(*round.graph));
  }
  const double each = static_cast<double>(edges) / static_cast<double>(facts.sites * topology.period());
  std::string text = fmt::format("{} graph of {} sites, {:.3g} neighbours each on average",
                                 kGraph.of(facts.run.parameters), facts.sites, each);
  const std::string over = topology.varies() ? fmt::format(" of the product over {} steps", topology.period()) : "";
  if (topology.doubly_stochastic()) {
    text += fmt::format(", spectral gap{} {:.4f}", over, spectral_gap(period));
  } else if (facts.sites <= kMostForEigenvalues) {
    text += fmt::format(", spectral gap of its push-sum weights{} {:.4f}", over, push_gap(period));
  }
  if (kGraph.of(facts.run.parameters) == "file") {
    for (const std::string& note : read_graph_file(kEdges.of(facts.run.parameters), facts.sites).notes)
      text += "; " + note;
  }
  return text;
}

}  // namespace dadsim::algorithms
