#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

/// Votes by sign: each site's votes on the numbers of a matrix and its biases, their count, and the applied result.
/// Each function computes its result and charges its work.
class SignVotes {
 public:
  /// Treatment of zeros and ties.
  enum class Zeros {
    random,  ///< one bit per vote; zeros and ties are drawn at random
    plus,    ///< one bit per vote; zeros and ties count as +1
    abstain  ///< two bits per vote; zeros abstain, ties move nothing
  };
  struct Options {
    float momentum = 0;  ///< β
    Zeros zeros = Zeros::random;
  };

  explicit SignVotes(Options options) : options_(options) {}

  /// Returns the codes per site as sent, one per number; none for a site without rows.
  std::vector<std::vector<std::uint32_t>> cast(TrainingStep& step, std::size_t l);
  /// Returns the bits per code.
  int bits() const { return options_.zeros == Zeros::abstain ? 2 : 1; }
  /// Returns a combination that computes the majority of all sites' votes on matrix l.
  Combination count(TrainingStep& step, std::size_t l) const;
  /// Sets the gradient of matrix l to the result of the vote.
  void apply(TrainingStep& step, std::size_t l, const Rows& result) const;
  /// Sums the parameters outside the matrices, and applies the sign of the sum.
  static void apply_to_the_rest(TrainingStep& step);

 private:
  /// Returns the votes of site `site` on matrix l and its biases, row by row: codes as sent.
  std::vector<std::uint32_t> votes(const TrainingStep& step, std::size_t l, std::size_t site,
                                   models::LayerGradient own);
  /// Returns the votes for zeros per number of matrix l (`ties`: for ties), the same at every site.
  std::vector<std::uint32_t> coins(const TrainingStep& step, std::size_t l, std::size_t count, bool ties) const;
  std::uint32_t code_of(float x, std::uint32_t coin) const;
  std::int32_t vote_of(std::uint32_t code) const;

  Options options_;
  std::vector<std::vector<models::LayerGradient>> momentum_;  ///< per matrix and site
};

/// signSGD with majority vote (Bernstein, Wang, Azizzadenesheli, Anandkumar, ICML 2018, arXiv 1802.04434; Bernstein,
/// Zhao, Azizzadenesheli, Anandkumar, ICLR 2019, arXiv 1810.05291). For every matrix with its biases:
///   m_s ← β m_s + (1 − β) g_s          g_s: the gradient of site s over its own rows (Signum; β = 0: m_s = g_s)
///   V = sgn Σ_s sgn m_s                every site with rows in this step has one vote per entry
///   W ← W − η (V + λ W)                plain SGD with V in the place of the gradient
/// Votes are one bit up and one bit down per entry. The papers do not define zeros, of which rectifiers and empty
/// inputs make many, nor ties: here both are decided at random. Always +1, as in GRACE's implementation (Xu et al.,
/// ICDCS 2021), moves parameters without gradient forever. With two bits a zero abstains and a tie moves nothing.
/// Parameters outside the matrices (norms, positions) are summed over sites in fp32, since the pass does not separate
/// sites there, and their sign is applied; published implementations vote on them as well.
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
