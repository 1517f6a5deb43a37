#include "algorithms/gossip/mixing_weights.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace dadsim::algorithms {
namespace {

/// Returns W x, or Wᵀ x.
std::vector<double> times(const MixingWeights& weights, const std::vector<double>& x, bool transposed) {
  const std::size_t sites = weights.own.size();
  std::vector<double> y(sites, 0.0);
  for (std::size_t i = 0; i < sites; ++i) {
    y[i] += weights.own[i] * x[i];
    for (const auto& [sender, weight] : weights.from[i]) {
      const auto j = static_cast<std::size_t>(sender);
      y[transposed ? j : i] += weight * x[transposed ? i : j];
    }
  }
  return y;
}

double length_of(const std::vector<double>& x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

/// Returns the largest magnitude of an eigenvalue of a symmetric operation, by power iteration.
template <class Operation>
double power_iteration(std::size_t sites, const Operation& operation) {
  constexpr int kMostIterations = 20'000;
  constexpr double kSettled = 1e-13;
  std::vector<double> x(sites);
  for (std::size_t i = 0; i < sites; ++i) x[i] = std::sin(1.0 + 2.3 * static_cast<double>(i));
  double largest = 0;
  for (int i = 0; i < kMostIterations; ++i) {
    const double length = length_of(x);
    if (!(length > 1e-150)) return 0;
    for (double& value : x) value /= length;
    x = operation(std::move(x));
    const double before = std::exchange(largest, length_of(x));
    if (std::abs(largest - before) <= kSettled * largest) break;
  }
  return largest;
}

void subtract_mean(std::vector<double>& x) {
  const double mean = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  for (double& value : x) value -= mean;
}

}  // namespace

MixingWeights mixing_weights(const step::Neighbours& graph) {
  const std::size_t sites = graph.to.size();
  MixingWeights weights{std::vector<double>(sites, 1.0),
                        std::vector<std::vector<std::pair<std::int32_t, double>>>(sites)};
  for (std::size_t from = 0; from < sites; ++from) {
    for (const std::int32_t to : graph.to[from]) {
      const auto receiver = static_cast<std::size_t>(to);
      const double weight =
          1.0 / (1.0 + static_cast<double>(std::max(graph.to[from].size(), graph.to[receiver].size())));
      weights.from[receiver].emplace_back(static_cast<std::int32_t>(from), weight);
      weights.own[receiver] -= weight;
    }
  }
  return weights;
}

std::vector<double> push_shares(const step::Neighbours& graph) {
  std::vector<double> shares;
  for (const auto& to : graph.to) shares.push_back(1.0 / (1.0 + static_cast<double>(to.size())));
  return shares;
}

MixingWeights push_weights(const step::Neighbours& graph) {
  MixingWeights weights{push_shares(graph), std::vector<std::vector<std::pair<std::int32_t, double>>>(graph.to.size())};
  for (std::size_t from = 0; from < graph.to.size(); ++from) {
    for (const std::int32_t to : graph.to[from]) {
      weights.from[static_cast<std::size_t>(to)].emplace_back(static_cast<std::int32_t>(from), weights.own[from]);
    }
  }
  return weights;
}

bool is_undirected(const step::Neighbours& graph) {
  for (std::size_t i = 0; i < graph.to.size(); ++i) {
    for (const std::int32_t to : graph.to[i]) {
      const auto& back = graph.to[static_cast<std::size_t>(to)];
      if (std::ranges::find(back, static_cast<std::int32_t>(i)) == back.end()) return false;
    }
  }
  return true;
}

bool is_regular(const step::Neighbours& graph) {
  std::vector<std::size_t> arriving(graph.to.size(), 0);
  for (const auto& to : graph.to) {
    for (const std::int32_t receiver : to) ++arriving[static_cast<std::size_t>(receiver)];
  }
  for (std::size_t i = 0; i < graph.to.size(); ++i) {
    if (graph.to[i].size() != graph.to[0].size() || arriving[i] != graph.to[0].size()) return false;
  }
  return true;
}

bool hangs_together(const std::vector<step::Neighbours>& graphs) {
  const std::size_t sites = graphs.front().to.size();
  for (const bool back : {false, true}) {
    std::vector<std::vector<std::size_t>> next(sites);
    for (const step::Neighbours& graph : graphs) {
      for (std::size_t i = 0; i < sites; ++i) {
        for (const std::int32_t to : graph.to[i]) {
          const auto j = static_cast<std::size_t>(to);
          next[back ? j : i].push_back(back ? i : j);
        }
      }
    }
    std::vector<bool> seen(sites, false);
    std::vector<std::size_t> open{0};
    std::size_t reached = sites == 0 ? 0 : 1;
    if (sites > 0) seen[0] = true;
    while (!open.empty() && sites > 0) {
      const std::size_t i = open.back();
      open.pop_back();
      for (const std::size_t j : next[i]) {
        if (seen[j]) continue;
        seen[j] = true;
        ++reached;
        open.push_back(j);
      }
    }
    if (reached != sites) return false;
  }
  return true;
}

double spectral_gap(const std::vector<MixingWeights>& period) {
  const std::size_t sites = period.front().own.size();
  if (sites < 2) return 1;
  // ‖B‖₂² is the largest eigenvalue of BᵀB with B = W_T ⋯ W_1 − 11ᵀ/n = (W_T − 11ᵀ/n) ⋯ (W_1 − 11ᵀ/n).
  const double squared = power_iteration(sites, [&](std::vector<double> x) {
    for (const MixingWeights& weights : period) {
      subtract_mean(x);
      x = times(weights, x, false);
    }
    for (std::size_t t = period.size(); t-- > 0;) {
      subtract_mean(x);
      x = times(period[t], x, true);
    }
    subtract_mean(x);
    return x;
  });
  // Treats values below the rounding of double as zero.
  const double second = std::sqrt(squared);
  return second < 1e-7 ? 1 : 1 - second;
}

double push_gap(const std::vector<MixingWeights>& period) {
  const auto sites = static_cast<Eigen::Index>(period.front().own.size());
  if (sites < 2) return 1;
  Eigen::MatrixXd product = Eigen::MatrixXd::Identity(sites, sites);
  for (const MixingWeights& weights : period) {
    Eigen::MatrixXd one = Eigen::MatrixXd::Zero(sites, sites);
    for (Eigen::Index i = 0; i < sites; ++i) {
      one(i, i) = weights.own[static_cast<std::size_t>(i)];
      for (const auto& [sender, weight] : weights.from[static_cast<std::size_t>(i)]) one(i, sender) = weight;
    }
    product = one * product;
  }
  Eigen::VectorXd sizes = product.eigenvalues().cwiseAbs();
  std::sort(sizes.begin(), sizes.end());
  return 1 - sizes(sites - 2);
}

double least_eigenvalue(const MixingWeights& weights) {
  const std::size_t sites = weights.own.size();
  // I − W is positive semidefinite, and 1 − λ_min its largest eigenvalue.
  return 1 - power_iteration(sites, [&](const std::vector<double>& x) {
           std::vector<double> y = times(weights, x, false);
           for (std::size_t i = 0; i < sites; ++i) y[i] = x[i] - y[i];
           return y;
         });
}

}  // namespace dadsim::algorithms
