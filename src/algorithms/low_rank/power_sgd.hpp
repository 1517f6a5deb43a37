#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/pieces/subspace.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

/// M_s = G_s + E_s of each site for one matrix, for methods that need only the sum over sites. Kept for an observer
/// that inspects a single site's message. Nothing is charged, because no site would compute it.
///
/// Known from the first step until a step without such an observer, and unknown from then on.
class FollowedSites {
 public:
  /// Adds this step's gradient to M_s of each observed site; does nothing for an embedding table.
  void add_gradients(TrainingStep& step, std::size_t l);
  bool known() const { return known_ && !of_sites_.empty(); }
  /// Returns M_s of an observed site.
  const models::Matrix& operator[](std::size_t site) const { return of_sites_[site]; }
  /// Subtracts each site's share N_s ÷ ΣN of the applied gradient: E_s remains.
  void take_off(const TrainingStep& step, const models::Matrix& applied);
  /// Subtracts M_s B Bᵀ, or B Bᵀ M_s, of an orthonormal basis B.
  void take_off_projection(const models::Matrix& basis, bool transposed);

 private:
  bool known_ = true;
  std::vector<models::Matrix> of_sites_;
};

/// Returns the gradient of a site's biases and, with `with_weights`, of its matrix row by row, as one column.
models::Matrix beside_of_site(const TrainingStep& step, std::size_t l, std::size_t site, bool with_weights);

/// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithms 1 and 2). Per matrix, with M_s = G_s + E_s (out × in)
/// the gradient of site s and its kept error, both with the weight N_s ÷ ΣN, and r = min(rank, in, out):
/// (1) M_s = G_s + E_s
/// (2) P = Σ_s M_s Q          (out × r)   first sum over sites; Q (in × r) is the same everywhere
/// (3) P̂ = orthonormalise(P)
/// (4) Q = Σ_s M_sᵀ P̂         (in × r)    second sum; the Q of the next step
/// (5) G ≈ P̂ Qᵀ
/// (6) E_s = M_s − N_s ÷ ΣN · P̂ Qᵀ
/// Sites with the same Q make one step of subspace iteration on the summed gradient, so that their directions agree and
/// the exchange needs sums only. Biases are summed uncompressed.
///
/// All messages and updates depend on the M_s only through their sum M, and so on the E_s only through theirs: E = M −
/// P̂ Qᵀ is kept once for all sites. With compressed messages every site keeps its own E_s.
class PowerSgd final : public Algorithm {
 public:
  /// Origin of Q at the beginning of a step.
  enum class Start {
    warm,   ///< Q of the previous step, so that directions improve from step to step
    random  ///< Q is drawn at random in every step
  };
  /// Consecutive sums per step: two, with uncompressed numbers sent along with P, or three, with those numbers before
  /// P.
  enum class SubspaceRounds { two, three };
  struct Options {
    std::int64_t rank = 2;
    Start start = Start::warm;
    double least_compression = 2;  ///< see SubspaceOptions
    SubspaceRounds rounds = SubspaceRounds::two;
    std::int64_t uncompressed_steps = 0;  ///< steps of gradient sharing before compression begins
  };

  explicit PowerSgd(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// Returns E of matrix `layer` (out × in), the sum over all sites.
  models::Matrix memory(std::size_t layer) const;
  /// Returns E of one site, with compressed messages.
  const models::Matrix& memory(std::size_t layer, std::size_t site) const { return layers_[layer].memory.at(site); }

 private:
  Options options_;
  std::vector<Subspace> layers_;
  std::vector<FollowedSites> followed_;  ///< per matrix
};

}  // namespace dadsim::algorithms
