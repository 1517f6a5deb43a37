#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// D² (Tang, Lian, Yan, Zhang, Liu, ICML 2018, arXiv 1803.07068, algorithm 1): the previous step is subtracted, so that
/// the error does not depend on how much the sites' data differ,
///     x(t+1) = W (2x(t) − x(t−1) + m(t) − m(t−1)),  x(1) = W (x(0) + m(0)),  m_i = −η u(g_i).
/// It needs symmetric weights whose eigenvalues are above −1/3. Otherwise (Metropolis–Hastings weights of a ring of
/// even length have −1/3 itself) (I + W) / 2 takes the place of W.
///
/// If sites may miss steps, the same recursion uses a correction c in place of the previous step, as in NIDS and exact
/// diffusion (Li, Shi, Yan, arXiv 1704.07807; Yuan, Ying, Zhao, Sayed, arXiv 1702.05122),
///     φ_i = x_i + m_i + c_i,  x_i ← (W φ)_i,  c_i ← c_i + (W φ)_i − φ_i,  c = 0 at first.
/// An absent site keeps x and c; W covers the sites present, (I + W) / 2 if some are missing. W is symmetric, so Σ c_i
/// stays zero, and sites come to rest when Σ m_i is zero, whoever is absent: at the minimum of all.
class D2 final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override;

 private:
  void run_with_all(OwnWeightsStep& step);
  void run_without_some(OwnWeightsStep& step);
  Field mixed(OwnWeightsStep& step, const Field& sent, double scale);

  Field x_, moved_;   ///< values of the previous step; empty before the first
  Field correction_;  ///< c; empty before the first step
  double scale_ = 0;
};

}  // namespace dadsim::algorithms
