#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "algorithms/private/privacy.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

// Norms of the gradients of single examples from the rows of A and Δ, without forming the gradients where that takes
// longer (Goodfellow, Efficient Per-Example Gradient Computations, arXiv 1510.01799; over several rows per example Li
// et al., arXiv 2110.05679, section 4, "ghost clipping").

/// ‖g_i‖² of every example i of a step, over as many products as are added. The loss of a step is the mean over its
/// examples, so that an example's part of Δᵀ A is g_i ÷ B: g_i = B Δ_iᵀ A_i with B examples in the step.
class ExampleNorms {
 public:
  explicit ExampleNorms(const TrainingStep& step);

  /// Adds ‖U_iᵀ V_i‖², where U (rows × m) and V (rows × n) have the same rows of A and Δ, T of them per example: as
  /// ⟨U_i U_iᵀ, V_i V_iᵀ⟩, or through U_iᵀ V_i where that takes fewer flops.
  void add_product(const models::ConstBlock& u, const models::ConstBlock& v);
  /// Adds what layer l of a step has, and charges it.
  void add_layer(TrainingStep& step, std::size_t l);
  /// Adds the norm of U_iᵀ V_i ⊙ S. `mask` is m × n, of zeros and ones.
  void add_masked_product(const models::ConstBlock& u, const models::ConstBlock& v, const models::Matrix& mask);
  /// Adds ‖Σ_rows U_i‖²: what a bias has of Δ.
  void add_sum(const models::ConstBlock& u);

  Eigen::Index examples() const { return static_cast<Eigen::Index>(squares_.size()); }
  double norm(Eigen::Index example) const;

  /// c_i · B ÷ `batch` with c_i = min(1, C ÷ ‖g_i‖): what the rows of Δ of example i are to be multiplied with, so that
  /// Σ_i over what the products give is Σ_i c_i g_i ÷ batch. 0 where a norm is not a finite number.
  models::Vector factors(double clip, double batch) const;

 private:
  std::vector<double> squares_;  ///< of Δ_iᵀ A_i, without B²
};

/// Rows of `rows` times the factor of their example.
models::Matrix scaled_rows(const models::ConstBlock& rows, const models::Vector& factors);

/// The Δ of layer l times the factor of their example, from which sites form sums of clipped gradients: charged with
/// these.
models::Matrix clipped_deltas(TrainingStep& step, std::size_t l, const models::Vector& factors);

/// A computation that is made as often as `times` says: 0 or 1, by the layer.
step::Work times(const step::Expression& times, const step::Work& work);

/// What the pieces above cost per worker, for rows of `m` and `n` columns. Of the first, a way each.
std::vector<step::Work> product_norm_work(const step::Expression& m, const step::Expression& n);
step::Work masked_norm_work(const step::Expression& m, const step::Expression& n);
step::Work sum_norm_work(const step::Expression& m);
step::Work scale_rows_work(const step::Expression& m);

/// The one way by which anything that was computed from examples leaves the sites of a private algorithm: as a sum over
/// examples of clipped gradients, with noise, ÷ the batch (Abadi et al., Deep Learning with Differential Privacy, CCS
/// 2016, arXiv 1607.00133, algorithm 1). Who adds the noise, and where, is decided in here.
///
/// EXAMPLE: clipping and releasing one matrix
///     norms.add_product(step.deltas(l), step.inputs(l));
///     const models::Vector factors = noisy.factors(step, norms);
///     noisy.release(step, l, noisy.batch(step, norms), parameters(), size, [&](std::size_t site, models::Matrix& sum)
///     { sum
///     += …; });
class NoisySum {
 public:
  explicit NoisySum(const PrivacyOptions& options) : options_(options), sigma_(options.noise_multiplier) {}

  /// Finds σ where an ε is asked for, and B where examples are drawn by chance: as many are expected then, whatever a
  /// step has.
  void prepare(const RunContext& run);

  double noise_multiplier() const { return sigma_; }
  /// B of a step: what sums are divided by. Where sites are missing, of those that are there: who these are is no
  /// secret, so that B may follow it, and an example adds at most C to the sum all the same.
  double batch(const TrainingStep& step, const ExampleNorms& norms) const;
  /// ExampleNorms::factors with this C and B.
  models::Vector factors(const TrainingStep& step, const ExampleNorms& norms) const {
    return norms.factors(options_.clip, batch(step, norms));
  }

  /// A noisy sum on its way to all sites.
  class Released {
   public:
    Released() = default;
    explicit Released(Pending<models::Matrix> sum) : pending_(std::move(sum)) {}
    explicit Released(Pending<Rows> rows) : pending_(std::move(rows)) {}
    /// 1 × k.
    models::Matrix wait();

   private:
    std::variant<Pending<models::Matrix>, Pending<Rows>> pending_;
  };

  /// Everyone ends with Σ_s of what `add_to` adds for site s to a row of k = `elements` zeros, and noise N(0, σ²C² ÷ B²
  /// I), in the n-fold variance where each site adds all of it. What is added must be a sum of clipped gradients ÷ B.
  /// Called in a sweep over matrices, at matrix l.
  Released release(TrainingStep& step, std::size_t l, double batch, const step::Expression& elements, Eigen::Index size,
                   const std::function<void(std::size_t site, models::Matrix& sum)>& add_to) const;

 private:
  PrivacyOptions options_;
  double sigma_;
  bool prepared_ = false;
  std::vector<double> expected_rows_;  ///< per site of the run; empty: those of the step
};

}  // namespace dadsim::algorithms
