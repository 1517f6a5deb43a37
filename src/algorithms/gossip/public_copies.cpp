#include "algorithms/gossip/public_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "compress/registry.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {

void PublicCopies::begin(const OwnWeightsStep& step, const Field& x) {
  if (copies_.empty()) {
    copies_ = x;
    for (std::size_t i = 0; i < step.sites(); ++i) sender_.push_back(i);
  }
  if (is_per_edge() || step.everyone_is_there()) return;
  graph_ = step.topology().at(0).graph;
  sender_.clear();
  for (std::size_t i = 0; i < step.sites(); ++i) {
    first_edge_.push_back(sender_.size());
    sender_.insert(sender_.end(), graph_->to[i].size(), i);
  }
  reset(copies_);
}

std::size_t PublicCopies::place(std::size_t sender, std::size_t receiver) const {
  if (!is_per_edge()) return sender;
  const auto& to = graph_->to[sender];
  const auto found = std::ranges::find(to, static_cast<std::int32_t>(receiver));
  return first_edge_[sender] + static_cast<std::size_t>(found - to.begin());
}

void PublicCopies::reset(const Field& x) {
  Field copies(x.size());
  for (std::size_t b = 0; b < x.size(); ++b) {
    for (const std::size_t sender : sender_) copies[b].push_back(x[b][sender]);
  }
  copies_ = std::move(copies);
}

double PublicCopies::sent(const OwnWeightsStep& step) const {
  return is_per_edge() ? static_cast<double>(std::max<std::size_t>(1, step.round().most_sent)) : 1;
}

Field PublicCopies::news(OwnWeightsStep& step, const Field& x) const {
  const double copies = sent(step);
  step.charge(step::Phase::add, {.flops = 3 * copies, .floats = 1 + 2 * copies, .launches = copies});
  Field news = copies_;
  parallel_for(sender_.size(), [&](std::size_t k) {
    for (std::size_t b = 0; b < news.size(); ++b) news[b][k] = x[b][sender_[k]] - copies_[b][k];
  });
  return news;
}

RunFaults own_message_faults(const RunFacts& facts, bool always) {
  const spec::CompressSpec& compress = facts.run.compress;
  if (compress.method == "none" || (!always && !facts.run.absence.goes_without())) return {};
  if (!compress::compressors().at(compress.method).adapts) return {};
  const char* when = always ? "" : " once a site has missed a step";
  return {not_built(fmt::format("<compress method=\"{}\"> has messages of varying size, but '{}' needs a fixed size "
                                "for its message to each neighbour{}",
                                compress.method, facts.run.algorithm, when),
                    fmt::format("use a compressor with messages of a fixed size, e.g. top-k{}",
                                always ? "" : "; or absent=\"wait\""))};
}

double copies_per_edge(const RunFacts& facts) {
  const Topology topology(facts.run.parameters, facts.sites, facts.seed);
  std::size_t most = 2;
  for (std::size_t t = 0; t < topology.period(); ++t) {
    const step::Neighbours& graph = *topology.at(static_cast<std::int64_t>(t)).graph;
    std::vector<std::size_t> heard(graph.to.size(), 0);
    for (const auto& to : graph.to) {
      for (const std::int32_t receiver : to) ++heard[static_cast<std::size_t>(receiver)];
    }
    for (std::size_t i = 0; i < heard.size(); ++i) most = std::max(most, graph.to[i].size() + heard[i]);
  }
  return static_cast<double>(most);
}

}  // namespace dadsim::algorithms
