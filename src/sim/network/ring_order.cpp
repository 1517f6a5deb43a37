#include "sim/network/ring_order.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace dadsim::sim {
namespace {

using Tour = std::vector<std::size_t>;

/// Seconds of a byte from each to each.
using Prices = std::vector<std::vector<double>>;

Prices prices_between(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network) {
  Prices prices(hosts.size(), std::vector<double>(hosts.size(), 0));
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      if (from == to) continue;
      const Path& path = network[network.path(hosts[from], hosts[to])];
      prices[from][to] = 1 / std::min(path.use.payload_rate, path.connection_rate);
    }
  }
  return prices;
}

/// Of the slowest pair, and of all together: compared in this order.
std::pair<double, double> cost_of(const Tour& tour, const Prices& prices) {
  std::pair<double, double> cost{0, 0};
  for (std::size_t i = 0; i < tour.size(); ++i) {
    const double price = prices[tour[i]][tour[(i + 1) % tour.size()]];
    cost.first = std::max(cost.first, price);
    cost.second += price;
  }
  return cost;
}

Tour by_nearest(const Prices& prices) {
  Tour tour{0};
  std::vector<bool> taken(prices.size());
  taken[0] = true;
  while (tour.size() < prices.size()) {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t to = 0; to < prices.size(); ++to) {
      if (taken[to] || prices[tour.back()][to] >= least) continue;
      nearest = to;
      least = prices[tour.back()][to];
    }
    taken[nearest] = true;
    tour.push_back(nearest);
  }
  return tour;
}

}  // namespace

std::vector<collectives::Rank> ring_order(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network) {
  if (hosts.size() > kMostInOrder) return {};
  const Prices prices = prices_between(hosts, network);
  Tour tour = by_nearest(prices);
  auto cost = cost_of(tour, prices);
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 1; i + 1 < tour.size(); ++i) {
      for (std::size_t j = i + 1; j < tour.size(); ++j) {
        Tour other = tour;
        std::reverse(other.begin() + static_cast<std::ptrdiff_t>(i),
                     other.begin() + static_cast<std::ptrdiff_t>(j) + 1);
        const auto its_cost = cost_of(other, prices);
        if (!(its_cost < cost)) continue;
        tour = std::move(other);
        cost = its_cost;
        better = true;
      }
    }
  }
  return {tour.begin(), tour.end()};
}

}  // namespace dadsim::sim
