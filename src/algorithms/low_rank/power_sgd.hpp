#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/pieces/subspace.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

/// M_s = G_s + E_s of each site for one matrix, where a method needs their sum alone: kept for an observer that asks
/// what a single site sends. Nothing of it is charged, for no site does it for another.
///
/// It is known from the first step on until a step in which nobody asks; then never again.
class FollowedSites {
 public:
  /// The gradients of this step are added. Of matrices that multiply rows.
  void add_gradients(TrainingStep& step, std::size_t l);
  bool known() const { return known_ && !of_sites_.empty(); }
  /// Of a site that the observer looks at.
  const models::Matrix& operator[](std::size_t site) const { return of_sites_[site]; }
  /// Each site takes its share N_s ÷ ΣN of what all apply off again: what is left is E_s.
  void take_off(const TrainingStep& step, const models::Matrix& applied);

 private:
  bool known_ = true;
  std::vector<models::Matrix> of_sites_;
};

/// The gradient of a site's biases, and behind it that of the matrix, row by row, if `with_weights`: a column.
models::Matrix beside_of_site(const TrainingStep& step, std::size_t l, std::size_t site, bool with_weights);

/// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithms 1 and 2). Per matrix, with M_s = G_s + E_s (out × in)
/// the gradient of site s and the error that it has kept, both with the weight N_s ÷ ΣN, and r = min(rank, in, out):
/// (1) M_s = G_s + E_s
/// (2) P = Σ_s M_s Q          (out × r)   first sum over sites; Q (in × r) is the same everywhere
/// (3) P̂ = orthonormalise(P)
/// (4) Q = Σ_s M_sᵀ P̂         (in × r)    second sum; the Q of the next step
/// (5) G ≈ P̂ Qᵀ
/// (6) E_s = M_s − N_s ÷ ΣN · P̂ Qᵀ
/// Sites with the same Q make one step of subspace iteration on the summed gradient, so that their directions fit each
/// other and sums do for the exchange. What is no matrix (biases) is summed as it is.
///
/// Everything that is sent or applied depends on the M_s only through their sum M, and so on the E_s only through
/// theirs: E = M − P̂ Qᵀ is kept once for all sites. Where messages are compressed this does not hold, and every site
/// keeps its own.
class PowerSgd final : public Algorithm {
 public:
  /// Where Q comes from.
  enum class Start {
    warm,   ///< the step before: directions improve from step to step
    random  ///< drawn anew in every step
  };
  /// Sums that wait for each other: what is not compressed travels beside P, or before it.
  enum class SubspaceRounds { two, three };
  struct Options {
    std::int64_t rank = 2;
    Start start = Start::warm;
    double least_compression = 2;  ///< see SubspaceOptions
    SubspaceRounds rounds = SubspaceRounds::two;
    std::int64_t uncompressed_steps = 0;  ///< steps of gradient sharing before the first that compresses
  };

  explicit PowerSgd(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// E of matrix `layer`, out × in: of all sites together.
  models::Matrix memory(std::size_t layer) const;
  /// That of one site, where messages are compressed.
  const models::Matrix& memory(std::size_t layer, std::size_t site) const { return layers_[layer].memory.at(site); }

 private:
  /// One gradient per memory of the subspace: of all sites together, or of each. `biases`: the sum of theirs.
  Gradients gradients_of_sites(TrainingStep& step, std::size_t l, models::Matrix& biases) const;

  Options options_;
  std::vector<Subspace> layers_;
  std::vector<FollowedSites> followed_;  ///< per matrix
};

}  // namespace dadsim::algorithms
