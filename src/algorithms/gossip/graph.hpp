#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "step/neighbours.hpp"
#include "support/registry.hpp"

namespace dadsim::algorithms {

/// A graph that sites gossip over.
struct GraphInfo {
  std::string name;         ///< as in <run graph="…">
  std::string description;  ///< one sentence
  /// Who sends to whom among `sites` sites. As many edges arrive at a site as leave it.
  std::function<step::Neighbours(std::size_t sites, std::uint64_t seed)> make;
};

/// Every graph, in the order of presentation.
Registry<GraphInfo>& graphs();

/// What each site weighs its own weights and those of its neighbours with: x_i ← Σ_j W_ij x_j. Rows and columns add up
/// to one, so that the mean over sites stays what it is. W_ij = 1 / (1 + max(d_i, d_j)) along edges
/// (Metropolis–Hastings; Xiao, Boyd, Systems & Control Letters 53, 2004), d the number of neighbours.
///
/// Kept sparse: per site, its own weight and those of its senders in rising order.
struct MixingWeights {
  std::vector<float> own;
  std::vector<std::vector<std::pair<std::int32_t, float>>> from;  ///< (sender, weight)
};
MixingWeights mixing_weights(const step::Neighbours& graph);

/// 1 − |λ₂| of W: by how much a step of mixing shrinks the distance to the mean at least. 1: one step is enough; 0: the
/// graph falls apart.
double spectral_gap(const MixingWeights& weights);

/// The parameter `graph` of decentralised algorithms, with all graphs as its choices.
spec::ParameterSpec graph_parameter();
/// The spectral gap of a run's graph, in words.
std::string graph_remark(const RemarkContext& context);

}  // namespace dadsim::algorithms
