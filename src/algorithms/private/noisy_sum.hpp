#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "algorithms/private/privacy.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

// Norms of the gradients of single examples from the rows of A and Δ, without forming the gradients unless that is
// faster (Goodfellow, Efficient Per-Example Gradient Computations, arXiv 1510.01799; over several rows per example Li
// et al., arXiv 2110.05679, section 4, "ghost clipping").

/// ‖g_i‖² of every example i of a step, summed over the products added. The loss of a step is the mean over its
/// examples, so that an example's part of Δᵀ A is g_i ÷ B: g_i = B Δ_iᵀ A_i with B examples in the step.
class ExampleNorms {
 public:
  explicit ExampleNorms(const TrainingStep& step);

  /// Adds ‖U_iᵀ V_i‖², where U (rows × m) and V (rows × n) have the same rows of A and Δ, T of them per example: as
  /// ⟨U_i U_iᵀ, V_i V_iᵀ⟩, or through U_iᵀ V_i where that takes fewer flops.
  void add_product(const models::ConstBlock& u, const models::ConstBlock& v);
  /// Adds the norms of layer l of a step, and charges them.
  void add_layer(TrainingStep& step, std::size_t l);
  /// Adds the norm of U_iᵀ V_i ⊙ S. `mask` is m × n, of zeros and ones.
  void add_masked_product(const models::ConstBlock& u, const models::ConstBlock& v, const models::Matrix& mask);
  /// Adds ‖Σ_rows U_i‖²: the bias's part of Δ.
  void add_sum(const models::ConstBlock& u);

  Eigen::Index examples() const { return static_cast<Eigen::Index>(squares_.size()); }
  double norm(Eigen::Index example) const;

  /// Returns c_i · B ÷ `batch` with c_i = min(1, C ÷ ‖g_i‖), the factors on the rows of Δ of example i: the products
  /// then sum to Σ_i c_i g_i ÷ batch. 0 for a norm that is not finite.
  models::Vector factors(double clip, double batch) const;

 private:
  std::vector<double> squares_;  ///< norms of Δ_iᵀ A_i, without B²
};

/// Returns `rows`, each times the factor of its example.
models::Matrix scaled_rows(const models::ConstBlock& rows, const models::Vector& factors);

/// Returns the Δ of layer l times the factor of their example, from which sites form sums of clipped gradients; their
/// charge is included there.
models::Matrix clipped_deltas(TrainingStep& step, std::size_t l, const models::Vector& factors);

/// Returns work that is done `times` times: 0 or 1, by the layer.
step::Work times(const step::Expression& times, const step::Work& work);

/// Work per worker of the pieces above, for rows of `m` and `n` columns; the first has one entry per way.
std::vector<step::Work> product_norm_work(const step::Expression& m, const step::Expression& n);
step::Work masked_norm_work(const step::Expression& m, const step::Expression& n);
step::Work sum_norm_work(const step::Expression& m);
step::Work scale_rows_work(const step::Expression& m);

/// Releases data of a private algorithm's examples, in the only way: as a sum over examples of clipped gradients, with
/// noise, ÷ the batch (Abadi et al., Deep Learning with Differential Privacy, CCS 2016, arXiv 1607.00133, algorithm 1).
/// This class decides which node adds the noise.
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

  /// Finds σ if an ε is given, and B if examples are drawn by chance: B is then the expected batch, whatever a step
  /// draws.
  void prepare(const RunContext& run);

  double noise_multiplier() const { return sigma_; }
  /// Returns B of a step, the divisor of sums. With absent sites it counts the sites present: their identity is not
  /// secret, so that B may depend on it, and an example still adds at most C to the sum.
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

  /// Gives every site the sum over sites s of what `add_to` adds to a row of k = `elements` zeros, plus noise N(0, σ²C²
  /// ÷ B² I); n times that variance if each of n sites adds all of it. Added values must be a sum of clipped gradients
  /// ÷ B. The caller is in a sweep over matrices, at matrix l.
  Released release(TrainingStep& step, std::size_t l, double batch, const step::Expression& elements, Eigen::Index size,
                   const std::function<void(std::size_t site, models::Matrix& sum)>& add_to) const;

 private:
  PrivacyOptions options_;
  double sigma_;
  bool prepared_ = false;
  std::vector<double> expected_rows_;  ///< rows per site of the run; empty: those of the step
};

}  // namespace dadsim::algorithms
