#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/private/noisy_sum.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/matrix.hpp"
#include "step/expression.hpp"

namespace dadsim::algorithms {

// Low-rank reparametrisation (Yu et al., Large Scale Private Learning via Low-rank Reparametrization, ICML 2021, arXiv
// 2106.09352): W = (W − L Rᵀ) + L Rᵀ, where only L and R have gradients.

/// Gradient carriers of a matrix W (out × in), each with orthonormal columns.
struct Carriers {
  models::Matrix left;   ///< out × r: L
  models::Matrix right;  ///< in × r: R
};

/// Returns carriers after one power iteration from a drawn start: R ~ N(0, 1), L = orth(T R), R = orth(Tᵀ L). Columns
/// without a direction of the target are zero. `target` is out × in; r = rank, at most out and in. The start depends on
/// (seed, layer, step).
Carriers carriers_of(const models::Matrix& target, std::int64_t rank, std::uint64_t seed, std::uint32_t layer,
                     std::uint32_t step);

/// Returns the orthogonal projection of G onto the tangent space, at L Rᵀ, of the matrices of rank r, from G_L = G R
/// (out × r) and G_R = Gᵀ L (in × r): G_L Rᵀ + L G_Rᵀ − L Lᵀ G_L Rᵀ.
models::Matrix from_carriers(const Carriers& carriers, const models::ConstBlock& left_gradient,
                             const models::ConstBlock& right_gradient);

/// Returns the work of power iteration, and of the projection, for r = `rank` in symbols.
step::Work carriers_work(const step::Expression& rank);
step::Work from_carriers_work(const step::Expression& rank);

/// Mask of the released numbers of a matrix's gradient: G_L row by row, then G_R; without carriers, G.
struct Mask {
  models::Matrix first;               ///< for G_L or G: zeros and ones
  models::Matrix second;              ///< for G_R; empty without carriers
  std::vector<std::int32_t> indices;  ///< indices of the ones, ascending
};

/// Reparametrised gradient perturbation (Yu et al., ICML 2021, arXiv 2106.09352): per matrix W (out × in) and step,
///     T = W during the warm-up, the historical update W/‖W‖ − W₀/‖W₀‖ after it, W₀ at its end
///     L, R = one power iteration on T
///     G_L,i = Δ_iᵀ (A_i R),  G_R,i = A_iᵀ (Δ_i L)        of every example i, clipped together over all matrices
///     G_L, G_R = (1/B) (Σ_i clip(…) + N(0, σ²C² I))
///     dW = G_L Rᵀ + L G_Rᵀ − L Lᵀ G_L Rᵀ
/// The historical update compares directions, as in the authors' code, and a matrix with r (in + out) ≥ in · out, which
/// carriers would not make smaller, is left unchanged (the code calls the last one "already low-rank"). Biases are
/// clipped and released with their matrix.
class Rgp : public Algorithm {
 public:
  static constexpr spec::IntegerParameter kRank{
      "rank", 1, 65536, "16", "columns of the gradient carriers; a matrix is sent whole if carriers are not smaller"};
  static constexpr spec::IntegerParameter kWarmUp{
      "warm-up", 0, 1e9, "0",
      "first steps, with carriers from the weights; later steps take carriers from the update since the start"};

  struct Options {
    std::int64_t rank = 16;
    std::int64_t warm_up = 0;  ///< steps of warm-up, which use W; the step after them also does, because it has no
                               ///< update yet
  };
  Rgp(const PrivacyOptions& privacy, const Options& options) : options_(options), noisy_(privacy) {}
  void prepare(const RunContext& run) override { noisy_.prepare(run); }
  void run(TrainingStep& step) override;

 protected:
  /// Returns the number of released numbers of a gradient with `all` numbers; derived classes may release fewer.
  virtual step::Expression released(const step::Expression& all) const { return all; }
  /// Chooses the released numbers without using data, and charges this work; none: all are released. The expressions
  /// are the rank, and 1 if the matrix has carriers or 0 if not, in symbols.
  virtual std::optional<Mask> choose(TrainingStep&, std::size_t, const std::optional<Carriers>&,
                                     const step::Expression&, const step::Expression&) {
    return std::nullopt;
  }
  /// Receives the gradient that all sites apply, and which is therefore public.
  virtual void applied(TrainingStep&, std::size_t, const models::Matrix&) {}

 private:
  struct CarriedLayer {
    models::Matrix reference;          ///< out × in: W₀
    std::optional<Carriers> carriers;  ///< none: the matrix is left unchanged
    models::Matrix inputs;             ///< rows × r: A R
    models::Matrix deltas;             ///< rows × r: Δ L
    std::optional<Mask> mask;
  };
  void choose_carriers(TrainingStep& step, std::size_t l);
  void add_norms(TrainingStep& step, std::size_t l, ExampleNorms& norms);
  NoisySum::Released release(TrainingStep& step, std::size_t l, const models::Vector& factors, double batch);
  void apply(TrainingStep& step, std::size_t l, const models::Matrix& sum);

  Options options_;
  NoisySum noisy_;
  std::vector<CarriedLayer> layers_;
  step::Expression rank_;      ///< r of this step, in symbols
  step::Expression low_rank_;  ///< 1 if carriers make a matrix's gradient smaller, else 0
};
Rgp::Options rgp_options(const spec::ParameterValues& values);

}  // namespace dadsim::algorithms
