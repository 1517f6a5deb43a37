#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/step/training_step.hpp"

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

}  // namespace dadsim::algorithms
