#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "algorithms/private/privacy.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

// Computes norms of the gradients of single examples from the rows of A and Δ, and forms the gradients only if that is
// faster (Goodfellow, Efficient Per-Example Gradient Computations, arXiv 1510.01799; over several rows per example Li
// et al., arXiv 2110.05679, section 4, "ghost clipping").

/// ‖g_i‖² of every example i of a step, summed over the products added. The loss of a step is the mean over its
/// examples, so that an example's part of Δᵀ A is g_i ÷ B: g_i = B Δ_iᵀ A_i with B examples in the step.
class ExampleNorms {
 public:
  explicit ExampleNorms(const TrainingStep& step);

  /// Adds ‖U_iᵀ V_i‖² per example, with U (rows × m) and V (rows × n) on the same rows of A and Δ, T rows per example.
  /// Computed as ⟨U_i U_iᵀ, V_i V_iᵀ⟩, or through U_iᵀ V_i if that takes fewer flops.
  void add_product(const models::ConstBlock& u, const models::ConstBlock& v);
  /// Adds the norms of layer l of a step, and charges them.
  void add_layer(TrainingStep& step, std::size_t l);
  /// Adds ‖U_iᵀ V_i ⊙ S‖² per example. `mask`: S, m × n, of zeros and ones.
  void add_masked_product(const models::ConstBlock& u, const models::ConstBlock& v, const models::Matrix& mask);
  /// Adds ‖Σ_rows U_i‖² per example: the part of the bias, with U = Δ.
  void add_sum(const models::ConstBlock& u);

  Eigen::Index examples() const { return static_cast<Eigen::Index>(squares_.size()); }
  double norm(Eigen::Index example) const;

  /// Returns c_i · B ÷ `batch` with c_i = min(1, C ÷ ‖g_i‖), the factor on the rows of Δ of example i. The products
  /// then sum to Σ_i c_i g_i ÷ batch. The factor is 0 for a norm that is not finite.
  models::Vector factors(double clip, double batch) const;

 private:
  std::vector<double> squares_;  ///< ‖Δ_iᵀ A_i‖², without the factor B²
};

/// Returns `rows`, each multiplied by the factor of its example.
models::Matrix scaled_rows(const models::ConstBlock& rows, const models::Vector& factors);

/// Returns the Δ of layer l, each row multiplied by the factor of its example. Charges this and the sums of clipped
/// gradients that sites form from the result.
models::Matrix clipped_deltas(TrainingStep& step, std::size_t l, const models::Vector& factors);

/// Returns work multiplied by `times`, which is 0 or 1 depending on the layer.
step::Work times(const step::Expression& times, const step::Work& work);

/// Work per worker of the functions above, for rows of `m` and `n` columns. product_norm_work() has one entry per
/// method.
std::vector<step::Work> product_norm_work(const step::Expression& m, const step::Expression& n);
step::Work masked_norm_work(const step::Expression& m, const step::Expression& n);
step::Work sum_norm_work(const step::Expression& m);
step::Work scale_rows_work(const step::Expression& m);

/// Releases data of a private algorithm's examples as a sum over examples of clipped gradients, with noise, ÷ the batch
/// (Abadi et al., Deep Learning with Differential Privacy, CCS 2016, arXiv 1607.00133, algorithm 1). No other data may
/// leave a site. This class decides which node adds the noise.
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

  /// Determines σ if an ε is given, and B if examples are sampled at random: B is then the expected batch, for any
  /// draw.
  void prepare(const RunContext& run);

  double noise_multiplier() const { return sigma_; }
  /// Returns B of a step, the divisor of sums. With absent sites, B counts the sites present: their identity is not
  /// secret, and an example still adds at most C to the sum.
  double batch(const TrainingStep& step, const ExampleNorms& norms) const;
  /// Returns ExampleNorms::factors with this C and B.
  models::Vector factors(const TrainingStep& step, const ExampleNorms& norms) const {
    return norms.factors(options_.clip, batch(step, norms));
  }

  /// A noisy sum in transit to all sites.
  class Released {
   public:
    Released() = default;
    explicit Released(Pending<models::Matrix> sum) : pending_(std::move(sum)) {}
    explicit Released(Pending<Rows> rows) : pending_(std::move(rows)) {}
    /// Returns the sum, 1 × k.
    models::Matrix wait();

   private:
    std::variant<Pending<models::Matrix>, Pending<Rows>> pending_;
  };

  /// Sums over all sites, for every site, the numbers that `add_to` adds to a row of k = `elements` zeros, plus noise
  /// N(0, σ²C² ÷ B² I). The variance is n times as large if each of n sites adds all of the noise. Added values must be
  /// a sum of clipped gradients ÷ B. Call it within a sweep over matrices, at matrix l.
  Released release(TrainingStep& step, std::size_t l, double batch, const step::Expression& elements, Eigen::Index size,
                   const std::function<void(std::size_t site, models::Matrix& sum)>& add_to) const;

 private:
  PrivacyOptions options_;
  double sigma_;
  bool prepared_ = false;
  std::vector<double> expected_rows_;  ///< expected rows per site in a step of the run; empty: those of the step
};

}  // namespace dadsim::algorithms
