#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/private/noisy_sum.hpp"
#include "algorithms/step/training_step.hpp"

namespace dadsim::algorithms {

/// DP-SGD (Abadi et al., CCS 2016, arXiv 1607.00133, algorithm 1), with per-example clipping over the whole network in
/// two passes ("ghost clipping": Goodfellow, arXiv 1510.01799; Li et al., arXiv 2110.05679):
///     ‖g_i‖² = Σ_layers ‖Δ_iᵀ A_i‖² + ‖Σ_rows Δ_i‖²     in the backward pass, nothing is sent yet
///     G = (1/B) (Σ_i min(1, C/‖g_i‖) g_i + N(0, σ²C² I))  Δ rows are scaled, then Δᵀ A as usual
class DpSgd final : public Algorithm {
 public:
  explicit DpSgd(const PrivacyOptions& options) : noisy_(options) {}
  void prepare(const RunContext& run) override { noisy_.prepare(run); }
  void run(TrainingStep& step) override;

 private:
  NoisySum noisy_;
};

/// Adds the gradient of a site from scaled Δ and A to a row of numbers: the matrix row by row, then its biases, if any.
/// The row is as long as both.
void add_gradient_to_row(const models::ConstBlock& deltas, const models::ConstBlock& inputs, models::Matrix& row);

/// Returns a site's part of the rows of all sites.
models::ConstBlock rows_of_site(const TrainingStep& step, const models::ConstBlock& all, std::size_t site);

}  // namespace dadsim::algorithms
