#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "algorithms/private/example_norms.hpp"
#include "algorithms/private/privacy.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

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
