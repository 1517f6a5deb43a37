#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/low_rank/power_sgd.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

/// Dion, distributed orthonormalised updates (Ahn et al., arXiv 2504.05295; reference program microsoft/dion). Per
/// hidden matrix (spec::DeltaRelations::hidden_matrix), with G_s (out × in) the gradient of site s with the weight N_s
/// ÷ ΣN, r = ⌈fraction · min(in, out)⌉ and μ the momentum of <muon>:
///   M_s ← M_s + G_s
///   P = orthonormalise(Σ_s M_s Q)            (out × r)   first sum
///   R = Σ_s M_sᵀ P                           (in × r)    second sum
///   M_s ← M_s − (1 − μ) N_s ÷ ΣN · P Rᵀ
///   Q ← the columns of R ÷ (their length + 1e-8), or orthonormalise(R)
///   the step is P Qᵀ, which Muon scales and applies
/// Where r(in + out) ≥ in · out the gradient is summed whole and every site makes P and R by itself. Other parameters
/// are summed uncompressed, and take the AdamW of <muon>. A site that is absent keeps its M_s.
///
/// P and R depend on the M_s through their sum alone, so one M is kept unless participants change.
class Dion final : public Algorithm {
 public:
  /// Origin of Q.
  enum class Columns {
    normalised,   ///< each column of R by itself
    orthonormal,  ///< all of R (Orth-Dion, arXiv 2605.16341)
  };
  struct Options {
    double fraction = 0.25;
    Columns columns = Columns::normalised;
  };

  explicit Dion(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// Returns M (out × in): of all sites, or of one if participants change and the matrix is compressed.
  const models::Matrix& momentum(std::size_t l, std::size_t site = 0) const { return layers_[l].momentum.at(site); }

 private:
  struct MatrixState {
    std::vector<models::Matrix> momentum;  ///< M, out × in: of all sites together, or per site
    models::Matrix basis;                  ///< Q, in × r
    FollowedSites followed;                ///< M_s for an observer
    bool is_hidden = false;
  };

  /// Returns the states before the first step, per matrix.
  static std::vector<MatrixState> states_of(const TrainingStep& step);

  /// Returns r of matrix l.
  Eigen::Index rank_of(const TrainingStep& step, std::size_t l) const;
  /// Returns whether P and R of matrix l are sent.
  bool is_compressed(const TrainingStep& step, std::size_t l) const;
  /// Adds the gradients of matrix l to the momenta. Returns the biases, followed by the matrix, row by row, if it
  /// travels whole; both summed.
  models::Matrix add_gradients(TrainingStep& step, std::size_t l);
  /// Calls `body(M, share)` for the momenta of this step, `share` being N_s ÷ ΣN, or 1 of all sites together.
  template <class Body>
  void for_momenta(TrainingStep& step, std::size_t l, const Body& body);

  Options options_;
  std::vector<MatrixState> layers_;
};

}  // namespace dadsim::algorithms
