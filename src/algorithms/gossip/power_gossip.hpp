#pragma once

#include <map>
#include <utility>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/edge_subspace.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// PowerGossip (Vogels, Karimireddy, Jaggi, NeurIPS 2020, arXiv 2008.01425): the two ends of every edge do steps of
/// subspace iteration on the difference of their matrices, which neither knows, and move towards each other along what
/// they have found; see EdgeSubspace. Nothing is tuned, and no replicas are kept.
///     X_i ← X_i − γ W_ij p qᵀ, X_j ← X_j + γ W_ij p qᵀ for every edge; then X_i ← X_i − η g_i, g_i at X_i before
/// Biases and what is beside the matrices are averaged as they are, once a step. The first iteration's messages travel
/// beside the passes; further ones of the same step follow them. In the first step all sites are alike, and nothing is
/// sent.
class PowerGossip final : public GossipAlgorithm {
 public:
  struct Options {
    std::int64_t rank = 1;
    std::int64_t iterations = 1;  ///< per step
    double gamma = 1;
    bool random_start = false;  ///< new vectors in every iteration instead of those of the one before
  };
  explicit PowerGossip(Options options) : options_(options) {}
  void run(OwnWeightsStep& step) override;

 private:
  using Edge = std::pair<std::size_t, std::size_t>;  ///< the site of the lower number first
  using Subspace = gossip::EdgeSubspace<float>;
  /// [matrix][site]: what it sends along its edges, in the order of its neighbours.
  using Products = std::vector<std::vector<std::vector<models::Matrix>>>;

  Subspace& subspace(std::size_t site, std::size_t neighbour, std::size_t matrix);
  void prepare(const OwnWeightsStep& step, std::int64_t iteration);
  OwnWeightsStep::Sending send(OwnWeightsStep& step, const Field& x, const step::Expression& rank, bool plain_too);
  void receive(OwnWeightsStep& step, OwnWeightsStep::Sending& sending, Field& x, const step::Expression& rank,
               bool plain_too);

  Options options_;
  std::map<Edge, std::vector<Subspace>> edges_;
  Products products_;
  std::vector<std::vector<models::Matrix>> biases_;  ///< [matrix][site]
  std::uint32_t drawn_ = 0;                          ///< iterations so far
  bool even_ = true;                                 ///< of the iteration under way
};

SynchronousMethod power_gossip_method();

}  // namespace dadsim::algorithms
