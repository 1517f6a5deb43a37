#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// D² (Tang, Lian, Yan, Zhang, Liu, ICML 2018, arXiv 1803.07068, algorithm 1): the step before is taken back out, so
/// that how much the data of sites differ has no part in the error,
///     x(t+1) = W (2x(t) − x(t−1) + m(t) − m(t−1)),  x(1) = W (x(0) + m(0)),  m_i = −η u(g_i).
/// It needs symmetric weights whose eigenvalues are above −1/3. Where they are not (Metropolis–Hastings weights of a
/// ring of even length have −1/3 itself), (I + W) / 2 takes the place of W.
class D2 final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override;

 private:
  Field x_, moved_;  ///< of the step before; empty before the first
  double scale_ = 0;
};

SynchronousMethod d2_method();

}  // namespace dadsim::algorithms
