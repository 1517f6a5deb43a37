#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

/// Votes by sign: what every site votes on the numbers of a matrix and its biases, how votes are counted, and what is
/// applied. Each call computes and charges.
class SignVotes {
 public:
  /// The treatment of zeros and ties.
  enum class Zeros {
    random,  ///< one bit, drawn
    plus,    ///< one bit, +1
    abstain  ///< two bits
  };
  struct Options {
    float momentum = 0;  ///< β
    Zeros zeros = Zeros::random;
  };

  explicit SignVotes(Options options) : options_(options) {}

  /// Codes per site as they are sent, one a number; none of a site without rows.
  std::vector<std::vector<std::uint32_t>> cast(TrainingStep& step, std::size_t l);
  /// Bits of a code.
  int bits() const { return options_.zeros == Zeros::abstain ? 2 : 1; }
  /// The majority of the votes of all sites on matrix l.
  Combination count(TrainingStep& step, std::size_t l) const;
  /// The gradient of matrix l is what was voted.
  void apply(TrainingStep& step, std::size_t l, const Rows& result) const;
  /// What is no matrix is summed, and its sign applied.
  static void apply_to_the_rest(TrainingStep& step);

 private:
  /// The votes of site `site` on matrix l and its biases, row by row: codes as they are sent.
  std::vector<std::uint32_t> votes(const TrainingStep& step, std::size_t l, std::size_t site,
                                   models::LayerGradient own);
  /// Per number of matrix l what a zero votes (`ties`: how a tie falls): the same at every site.
  std::vector<std::uint32_t> coins(const TrainingStep& step, std::size_t l, std::size_t count, bool ties) const;
  std::uint32_t code_of(float x, std::uint32_t coin) const;
  std::int32_t vote_of(std::uint32_t code) const;

  Options options_;
  std::vector<std::vector<models::LayerGradient>> momentum_;  ///< per matrix and site
};

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

}  // namespace dadsim::algorithms
