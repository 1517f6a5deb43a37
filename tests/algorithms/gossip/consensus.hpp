#pragma once

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "algorithms/gossip/edge_subspace.hpp"
#include "algorithms/gossip/mixing.hpp"
#include "algorithms/gossip/topology.hpp"
#include "support/parallel.hpp"

namespace dadsim::test {

using Numbers = std::vector<models::MatrixOf<double>>;  ///< per site

/// Returns normal random numbers for every site.
inline Numbers normal_numbers(std::size_t sites, Eigen::Index rows, Eigen::Index columns, std::uint64_t seed) {
  RandomStream random(seed, Purpose::test);
  boost::random::normal_distribution<double> normal;
  Numbers x(sites, models::MatrixOf<double>(rows, columns));
  for (auto& site : x) {
    for (double& value : site.reshaped()) value = normal(random);
  }
  return x;
}

inline models::MatrixOf<double> mean_of(const Numbers& x) {
  models::MatrixOf<double> sum = x.front();
  for (std::size_t i = 1; i < x.size(); ++i) sum += x[i];
  return sum / static_cast<double>(x.size());
}

/// Returns (1/n) Σ ‖x_i − x̄‖².
inline double spread(const Numbers& x) {
  const models::MatrixOf<double> mean = mean_of(x);
  double sum = 0;
  for (const auto& site : x) sum += (site - mean).squaredNorm();
  return sum / static_cast<double>(x.size());
}

inline algorithms::Topology topology(const std::string& graph, std::size_t sites, std::uint64_t seed = 5) {
  return {{{"graph", graph}, {"probability", "0.5"}, {"edges", ""}}, sites, seed};
}

/// Keeps the k entries of largest magnitude and sets the others to 0. `least` is the smallest entry that an earlier
/// call kept; much smaller entries are skipped quickly.
inline models::MatrixOf<double> largest(const models::MatrixOf<double>& x, Eigen::Index k, double& least) {
  std::vector<double> sizes;
  for (const double at_least : {0.7 * least, 0.0}) {
    sizes.clear();
    for (const double value : x.reshaped()) {
      if (std::abs(value) >= at_least) sizes.push_back(std::abs(value));
    }
    if (std::ssize(sizes) >= k) break;
  }
  std::nth_element(sizes.begin(), sizes.begin() + (k - 1), sizes.end(), std::greater<>());
  least = sizes[static_cast<std::size_t>(k - 1)];
  return (x.array().abs() >= least).select(x, 0.0);
}

/// CHOCO's averaging with the k largest entries, from x̂ = 0; algorithms/gossip/choco.cpp does it in fp32.
class ChocoAveraging {
 public:
  ChocoAveraging(const Numbers& x, Eigen::Index k)
      : known_(x.size(), models::MatrixOf<double>::Zero(x[0].rows(), x[0].cols())), least_(x.size(), 0.0), k_(k) {}

  void iterate(Numbers& x, const algorithms::MixingWeights& weights, double gamma) {
    parallel_for(x.size(), [&](std::size_t i) { known_[i] += largest(x[i] - known_[i], k_, least_[i]); });
    parallel_for(x.size(), [&](std::size_t i) {
      std::vector<algorithms::gossip::Weighed<double>> others;
      for (const auto& [j, weight] : weights.from[i]) others.push_back({weight, &known_[static_cast<std::size_t>(j)]});
      algorithms::gossip::pull(x[i], known_[i], others, gamma);
    });
  }

 private:
  Numbers known_;
  std::vector<double> least_;
  Eigen::Index k_;
};

/// PowerGossip's averaging; algorithms/gossip/power_gossip.cpp does it in fp32.
class PowerAveraging {
 public:
  PowerAveraging(const algorithms::MixingWeights& weights, Eigen::Index rank, double gamma, bool random_start)
      : weights_(weights), rank_(rank), gamma_(gamma), random_start_(random_start) {
    for (std::size_t i = 0; i < weights.from.size(); ++i) {
      for (const auto& [j, weight] : weights.from[i]) {
        if (static_cast<std::size_t>(j) < i) edges_.push_back({static_cast<std::size_t>(j), i, weight, {}});
      }
    }
  }

  void iterate(Numbers& x, std::uint64_t seed) {
    parallel_for(edges_.size(), [&](std::size_t e) {
      Edge& edge = edges_[e];
      RandomStream shared(seed, Purpose::gossip_start, static_cast<std::uint32_t>(e),
                          static_cast<std::uint32_t>(iteration_));
      if (iteration_ == 0 || random_start_) {
        edge.subspace = algorithms::gossip::start_subspace<double>(x[0].rows(), x[0].cols(), rank_, shared);
      }
      edge.subspace.iteration = iteration_;
      algorithms::gossip::begin_iteration(edge.subspace, shared);
      const auto of_small = algorithms::gossip::product_of_end<double>(edge.subspace, x[edge.small]);
      const auto of_big = algorithms::gossip::product_of_end<double>(edge.subspace, x[edge.big]);
      algorithms::gossip::end_iteration(edge.subspace, of_big, of_small);
    });
    parallel_for(x.size(), [&](std::size_t i) {
      for (const Edge& edge : edges_) {
        if (edge.big == i) algorithms::gossip::move_along(edge.subspace, -gamma_ * edge.weight, x[i]);
        if (edge.small == i) algorithms::gossip::move_along(edge.subspace, gamma_ * edge.weight, x[i]);
      }
    });
    ++iteration_;
  }

 private:
  struct Edge {
    std::size_t small, big;
    double weight;
    algorithms::gossip::EdgeSubspace<double> subspace;
  };
  const algorithms::MixingWeights& weights_;
  std::vector<Edge> edges_;
  Eigen::Index rank_;
  double gamma_;
  bool random_start_;
  std::int64_t iteration_ = 0;
};

/// Takes one push-sum step along a graph, on numbers or on weights (1 × 1).
inline void push_sum(Numbers& x, const algorithms::Topology::MixingRound& round) {
  const Numbers before = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<algorithms::gossip::Weighed<double>> others;
    for (const auto& entry : round.mixing.from[i]) {
      const auto j = static_cast<std::size_t>(entry.first);
      others.push_back({round.shares[j], &before[j]});
    }
    algorithms::gossip::push(x[i], before[i], round.shares[i] * static_cast<double>(round.graph->to[i].size()), others);
  }
}

}  // namespace dadsim::test
