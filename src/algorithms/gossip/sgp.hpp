#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// Stochastic gradient push (Assran, Loizou, Ballas, Rabbat, ICML 2019, arXiv 1811.10792, algorithm 1): push-sum on any
/// directed graph. Site i has x_i, a weight w_i that starts at 1, and z_i = x_i / w_i, at which it learns:
///     x_i ← x_i − η u(g_i(z_i));  p_ji (x_i, w_i) to every j it sends to, p_ii of it stays;  sums of what arrives
/// with p_ji = 1 / (1 + number of those it sends to). Columns of p add up to one, so that Σ x_i moves by gradients
/// alone and Σ w_i = n.
class Sgp final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override;

 private:
  Field x_;
  std::vector<models::Matrix> w_;  ///< 1 × 1 each
};

SynchronousMethod sgp_method();

}  // namespace dadsim::algorithms
