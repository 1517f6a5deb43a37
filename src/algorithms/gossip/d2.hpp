#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"

namespace dadsim::algorithms {

/// D² (Tang, Lian, Yan, Zhang, Liu, ICML 2018, arXiv 1803.07068, algorithm 1): the step before is taken back out, so
/// that how much the data of sites differ has no part in the error,
///     x(t+1) = W (2x(t) − x(t−1) + m(t) − m(t−1)),  x(1) = W (x(0) + m(0)),  m_i = −η u(g_i).
/// It needs symmetric weights whose eigenvalues are above −1/3. Where they are not (Metropolis–Hastings weights of a
/// ring of even length have −1/3 itself), (I + W) / 2 takes the place of W.
///
/// Where sites may miss steps, the same recursion goes with a correction c in place of the step before, as NIDS and
/// exact diffusion have it (Li, Shi, Yan, arXiv 1704.07807; Yuan, Ying, Zhao, Sayed, arXiv 1702.05122),
///     φ_i = x_i + m_i + c_i,  x_i ← (W φ)_i,  c_i ← c_i + (W φ)_i − φ_i,  c = 0 at first.
/// Who is away keeps x and c; W is that of the sites that are there, (I + W) / 2 where some are missing. As W is
/// symmetric, Σ c_i stays zero, so that sites come to rest where Σ m_i is, whoever is away: at the minimum of all.
class D2 final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override;

 private:
  void run_with_all(OwnWeightsStep& step);
  void run_without_some(OwnWeightsStep& step);
  Field mixed(OwnWeightsStep& step, const Field& sent, double scale);

  Field x_, moved_;   ///< of the step before; empty before the first
  Field correction_;  ///< c; empty before the first step
  double scale_ = 0;
};

}  // namespace dadsim::algorithms
