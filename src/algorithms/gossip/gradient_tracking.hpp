#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// Distributed stochastic gradient tracking (Pu, Nedić, Mathematical Programming 187, 2021, arXiv 1805.11454, DSGT):
/// beside x_i every site has y_i, which follows the mean of the gradients of all,
///     x_i ← Σ_j W_ij (x_j − η u(y_j));  y_i ← Σ_j W_ij y_j + g_i(new x_i) − g_i(old x_i),  y_i = g_i at first.
/// The mean of the y_i is the mean of the g_i, so that sites whose data differ do not pull apart. Both travel in one
/// message.
///
/// Where sites are missing from a step, W is that among those that are there, with ones for the others, and these keep
/// x_i, y_i and g_i: W stays doubly stochastic (as over graphs that vary: Nedić, Olshevsky, Shi, SIAM J. Optimization
/// 27, 2017, arXiv 1607.03218), so that Σ y_i stays the sum of the g_i that sites had last, also of those that are
/// away. Where all y_i are nought in consensus, nobody moves: the minimum is that of all.
class GradientTracking final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override;

 private:
  Field mixed_;     ///< Σ_j W_ij y_j; empty before the first step
  Field gradient_;  ///< g_i of the step before
};

SynchronousMethod gradient_tracking_method();

}  // namespace dadsim::algorithms
