#pragma once

#include <optional>
#include <vector>

namespace dadsim::estimate {

/// Steps that plain gradient sharing needed to reach a target with one batch.
struct StepsAtBatch {
  double batch = 0;  ///< samples of all workers per step
  double steps = 0;
};

/// Law of large batches: S(B) = E₀ (1 ÷ B + 1 ÷ B_c) steps, E = B S samples (McCandlish, Kaplan, Amodei, An Empirical
/// Model of Large-Batch Training, arXiv:1812.06162, equation 2.11).
struct BatchLaw {
  double fewest_samples = 0;  ///< E₀: samples needed with batches far below the critical one
  double critical = 0;        ///< B_c: batch that needs 2 E₀ samples; infinite: no limit
  double samples(double batch) const { return fewest_samples * (1 + batch / critical); }
  double steps(double batch) const { return samples(batch) / batch; }
};

/// Fits the law by least squares of the relative errors of the samples, with neither E₀ nor 1 ÷ B_c below 0. Returns
/// none unless there are two different batches and a law with E₀ above 0 fits.
std::optional<BatchLaw> fit_batch_law(const std::vector<StepsAtBatch>& runs);

}  // namespace dadsim::estimate
