#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/pieces/sign_votes.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

/// signSGD with majority vote (Bernstein, Wang, Azizzadenesheli, Anandkumar, ICML 2018, arXiv 1802.04434; Bernstein,
/// Zhao, Azizzadenesheli, Anandkumar, ICLR 2019, arXiv 1810.05291). Of every matrix with its biases:
///   m_s ← β m_s + (1 − β) g_s          g_s: the gradient of site s over its own rows (Signum; β = 0: m_s = g_s)
///   V = sgn Σ_s sgn m_s                every site with rows in this step has one vote per entry
///   W ← W − η (V + λ W)                plain SGD with V in the place of the gradient
/// Votes are one bit up and one bit down per entry. The papers do not say what becomes of zeros, which rectifiers and
/// empty inputs make many of, and of ties: here a zero votes, and a tie falls, at random. Always +1, as in GRACE's
/// implementation (Xu et al., ICDCS 2021), moves what has no gradient without end. With two bits a zero abstains and a
/// tie moves nothing. What is learned beside the matrices (norms, positions) is summed over sites in fp32, for the pass
/// does not tell sites apart there, and its sign applied: published implementations vote on it like on anything else.
class SignSgd final : public Algorithm {
 public:
  using Zeros = SignVotes::Zeros;
  using Options = SignVotes::Options;
  explicit SignSgd(Options options) : votes_(options) {}
  void run(TrainingStep& step) override;

 private:
  SignVotes votes_;
};

SynchronousMethod sign_sgd_method();

}  // namespace dadsim::algorithms
