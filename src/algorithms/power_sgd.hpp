#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "models/matrix.hpp"

namespace dadsim::algorithms {

/// PowerSGD (Vogels, Karimireddy, Jaggi, NeurIPS 2019, algorithms 1 and 2). Per matrix, with M_s = G_s + E_s (out × in)
/// the gradient of site s and the error that it has kept, both with the weight N_s ÷ ΣN, and r = min(rank, in, out):
///     P = Σ_s M_s Q          (out × r)   first sum over sites; Q (in × r) is the same everywhere
///     P̂ = orthonormalise(P)
///     Q = Σ_s M_sᵀ P̂         (in × r)    second sum; the Q of the next step
///     G ≈ P̂ Qᵀ, E_s = M_s − N_s ÷ ΣN · P̂ Qᵀ
/// Sites with the same Q make one step of subspace iteration on the summed gradient, so that their directions fit each
/// other and sums do for the exchange. What is no matrix (biases) is summed as it is.
///
/// Everything that is sent or applied depends on the M_s only through their sum M, and so on the E_s only through
/// theirs: E = M − P̂ Qᵀ is kept once for all sites.
class PowerSgd final : public Algorithm {
 public:
  /// Where Q comes from.
  enum class Start {
    warm,   ///< the step before: directions improve from step to step
    random  ///< drawn anew in every step
  };
  struct Options {
    std::int64_t rank = 2;
    Start start = Start::warm;
    std::int64_t uncompressed_steps = 0;  ///< steps of gradient sharing before the first that compresses
  };

  explicit PowerSgd(Options options) : options_(options) {}
  void run(TrainingStep& step) override;

  /// E of matrix `layer`, out × in: of all sites together.
  const models::Matrix& memory(std::size_t layer) const { return layers_[layer].memory; }

 private:
  struct LayerState {
    models::Matrix memory;  ///< out × in: E between steps, M within one
    models::Matrix basis;   ///< in × r: Q
  };

  /// min(rank, in, out)
  Eigen::Index rank(const TrainingStep& step, std::size_t layer) const;
  /// M Q, with M in the memory.
  models::Matrix project(const TrainingStep& step, std::size_t layer);

  Options options_;
  std::vector<LayerState> layers_;
};

/// Draws columns that are zero anew from N(0, 1), the same at every site: all columns before the first step, and those
/// that stand for nothing because the gradients of the step before had fewer directions (they would stay zero for
/// ever).
void draw_missing_columns(models::Matrix& basis, std::uint64_t seed, std::uint32_t layer, std::uint32_t step);

/// Makes the columns orthonormal by Gram–Schmidt, twice per column (once loses orthogonality where columns are nearly
/// parallel). A column that lies in the span of those before it up to rounding becomes zero.
void orthonormalise(models::Matrix& columns);

AlgorithmInfo power_sgd_info();

}  // namespace dadsim::algorithms
