#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "step/neighbours.hpp"

namespace dadsim::algorithms {

/// What each site weighs its own weights and those of its neighbours with: x_i ← Σ_j W_ij x_j. Rows and columns add up
/// to one, so that the mean over sites stays what it is. W_ij = 1 / (1 + max(d_i, d_j)) along edges
/// (Metropolis–Hastings; Xiao, Boyd, Systems & Control Letters 53, 2004), d the number of neighbours.
///
/// Kept sparse: per site, its own weight and those of its senders in rising order.
struct MixingWeights {
  std::vector<double> own;
  std::vector<std::vector<std::pair<std::int32_t, double>>> from;  ///< (sender, weight)
};

/// Metropolis–Hastings weights. *Requires* is_undirected() or is_regular(): of other graphs they do not keep the mean.
MixingWeights mixing_weights(const step::Neighbours& graph);

/// What push-sum weighs with: site j keeps 1 / (1 + d_j) of what it has and hands as much to each of the d_j that it
/// sends to (Kempe, Dobra, Gehrke, FOCS 2003; Assran et al., ICML 2019). Columns add up to one, on any graph: what the
/// sites have together stays, and rows need not add up to one. Per site, its share.
std::vector<double> push_shares(const step::Neighbours& graph);
/// The same as a matrix of weights.
MixingWeights push_weights(const step::Neighbours& graph);

/// Whether every edge has its counterpart.
bool is_undirected(const step::Neighbours& graph);
/// Whether as many edges arrive at every site as leave it, and at all sites alike.
bool is_regular(const step::Neighbours& graph);
/// Whether each site can be reached from every other along the edges of these graphs together.
bool hangs_together(const std::vector<step::Neighbours>& graphs);

/// 1 − ‖W⋯ − 11ᵀ/n‖₂ of the product of `period` (a single W: 1 − |λ₂| where W commutes with its transpose): by how
/// much a period of mixing shrinks the distance to the mean at least. 1: one period is enough; 0: the graphs fall
/// apart. *Requires* rows and columns that add up to one.
double spectral_gap(const std::vector<MixingWeights>& period);
inline double spectral_gap(const MixingWeights& weights) { return spectral_gap(std::vector<MixingWeights>{weights}); }

/// 1 − |λ₂| of the product of column-stochastic weights: how quickly push-sum comes to its limit. Takes n³ operations.
double push_gap(const std::vector<MixingWeights>& period);

/// The least eigenvalue of symmetric weights.
double least_eigenvalue(const MixingWeights& weights);

}  // namespace dadsim::algorithms
