#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// D-PSGD (Lian et al., NeurIPS 2017, arXiv 1705.09056, algorithm 1): every site has weights of its own and averages
/// them with those of its neighbours in a graph,
///     x_i ← Σ_j W_ij x_j − η g_i(x_i),
/// where sending the x_j overlaps the passes that form g_i. There is no barrier: a site continues once its own
/// neighbours have delivered.
class DPsgd final : public GossipAlgorithm {
 public:
  enum class MixingOrder {
    overlapped,          ///< the order above: x_j from before this step's gradients
    adapt_then_combine,  ///< x_i ← Σ_j W_ij (x_j − η g_j(x_j)): sent after the gradients have been applied
  };
  explicit DPsgd(MixingOrder order) : order_(order) {}
  void run(OwnWeightsStep& step) override;

 private:
  MixingOrder order_;
};

}  // namespace dadsim::algorithms
