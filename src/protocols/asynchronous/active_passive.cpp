#include "protocols/asynchronous/active_passive.hpp"

#include <algorithm>
#include <deque>
#include <set>

namespace dadsim::protocols {
namespace {

using Adjacency = std::vector<std::set<std::int32_t>>;

Adjacency both_ways(const step::Neighbours& graph) {
  Adjacency edges(graph.to.size());
  for (std::size_t from = 0; from < graph.to.size(); ++from) {
    for (const std::int32_t to : graph.to[from]) {
      edges[from].insert(to);
      edges[static_cast<std::size_t>(to)].insert(static_cast<std::int32_t>(from));
    }
  }
  return edges;
}

/// Distance from worker 0, or from the lowest-numbered worker of each other connected component.
std::vector<std::size_t> distances(const Adjacency& edges) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> distance(edges.size(), kNone);
  for (std::size_t start = 0; start < edges.size(); ++start) {
    if (distance[start] != kNone) continue;
    distance[start] = 0;
    std::deque<std::size_t> open = {start};
    while (!open.empty()) {
      const std::size_t at = open.front();
      open.pop_front();
      for (const std::int32_t next : edges[at]) {
        std::size_t& there = distance[static_cast<std::size_t>(next)];
        if (there != kNone) continue;
        there = distance[at] + 1;
        open.push_back(static_cast<std::size_t>(next));
      }
    }
  }
  return distance;
}

ActivePassive with_sides(const Adjacency& edges, std::vector<bool> active) {
  ActivePassive split{.active = std::move(active), .partners = {}};
  split.partners.resize(edges.size());
  std::size_t within = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (const std::int32_t j : edges[i]) {
      if (split.active[i] != split.active[static_cast<std::size_t>(j)]) {
        split.partners[i].push_back(j);
      } else {
        ++within;
      }
    }
  }
  split.left_out = within / 2;
  return split;
}

bool hangs_together(const ActivePassive& split) {
  Adjacency edges;
  for (const auto& of_one : split.partners) edges.emplace_back(of_one.begin(), of_one.end());
  const std::vector<std::size_t> distance = distances(edges);
  return std::ranges::count(distance, std::size_t{0}) <= 1;
}

}  // namespace

ActivePassive split_into_active_and_passive(const step::Neighbours& graph) {
  const Adjacency edges = both_ways(graph);
  const std::vector<std::size_t> distance = distances(edges);
  std::vector<bool> even_distance;
  std::vector<bool> even_number;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    even_distance.push_back(distance[i] % 2 == 0);
    even_number.push_back(i % 2 == 0);
  }
  ActivePassive by_distance = with_sides(edges, even_distance);
  if (by_distance.left_out == 0) return by_distance;
  ActivePassive by_number = with_sides(edges, even_number);
  return hangs_together(by_number) ? by_number : by_distance;
}

}  // namespace dadsim::protocols
