#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "step/neighbours.hpp"

namespace dadsim::algorithms {

/// Weights of a site's own numbers and its neighbours': x_i ← Σ_j W_ij x_j. Rows and columns add up to one, so that the
/// mean over sites is kept. W_ij = 1 / (1 + max(d_i, d_j)) along edges (Metropolis–Hastings; Xiao, Boyd, Systems &
/// Control Letters 53, 2004), d the number of neighbours.
///
/// Sparse: per site, its own weight and those of its senders in ascending order.
struct MixingWeights {
  std::vector<double> own;
  std::vector<std::vector<std::pair<std::int32_t, double>>> from;  ///< (sender, weight)
};

/// Returns Metropolis–Hastings weights. *Requires* is_undirected() or is_regular(): on other graphs they do not keep
/// the mean.
MixingWeights mixing_weights(const step::Neighbours& graph);

/// Returns each site's share of push-sum: site j keeps 1 / (1 + d_j) and sends as much to each of its d_j receivers
/// (Kempe, Dobra, Gehrke, FOCS 2003; Assran et al., ICML 2019). Columns add up to one on any graph, which keeps the
/// total over sites; rows need not.
std::vector<double> push_shares(const step::Neighbours& graph);
/// Returns the push-sum shares as a matrix of weights.
MixingWeights push_weights(const step::Neighbours& graph);

/// Returns whether every edge has its reverse.
bool is_undirected(const step::Neighbours& graph);
/// Returns whether every site has as many incoming as outgoing edges, the same number at all sites.
bool is_regular(const step::Neighbours& graph);
/// Returns whether the union of these graphs is strongly connected.
bool hangs_together(const std::vector<step::Neighbours>& graphs);

/// Returns 1 − ‖W⋯ − 11ᵀ/n‖₂ of the product of `period` (for a single W that commutes with its transpose: 1 − |λ₂|),
/// the least factor by which a period of mixing shrinks the distance to the mean. 1: one period is enough; 0: the
/// graphs are not connected. *Requires* rows and columns that add up to one.
double spectral_gap(const std::vector<MixingWeights>& period);
inline double spectral_gap(const MixingWeights& weights) { return spectral_gap(std::vector<MixingWeights>{weights}); }

/// Returns 1 − |λ₂| of the product of column-stochastic weights: the rate at which push-sum converges. Takes n³
/// operations.
double push_gap(const std::vector<MixingWeights>& period);

/// Returns the least eigenvalue of symmetric weights.
double least_eigenvalue(const MixingWeights& weights);

}  // namespace dadsim::algorithms
