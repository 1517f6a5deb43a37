#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "models/data/dataset.hpp"
#include "spec/specification.hpp"

namespace dadsim::algorithms {

/// Returns the samples of a site in the order of pass number `pass`.
std::vector<std::int32_t> shuffled(const std::vector<std::int32_t>& samples, std::uint64_t seed, std::size_t site,
                                   std::int64_t pass);

/// Draws the samples of each site for each step. Their order within a site is shuffled for every pass and depends on
/// (seed, site, pass) alone, so that all algorithms see the same batches.
///
/// proportional: an epoch has T = ⌈Σn ÷ (S · batch)⌉ steps and site s takes its samples ⌊t n_s/T⌋ … ⌊(t+1) n_s/T⌋ − 1
/// in step t: every sample once per epoch, N_s ∝ n_s in every step, so that Σ_s (N_s/ΣN) · mean_s is an unbiased
/// estimate of the gradient over all data. equal: every site takes `batch` samples (or all it has, if fewer) in every
/// step and starts over after its last sample; an epoch is one pass of the largest site.
///
/// poisson: every sample is in every step with probability 1/T (T as in proportional), independently of all else, as
/// privacy accountants assume (arXiv 1607.00133, section 3.1). The draw depends on (seed, site, step) alone. A step
/// without any sample at any site (probability e^−(S · batch)) is drawn again.
class Batches {
 public:
  Batches(const spec::TrainingSpec& training, const models::Partition& partition, std::uint64_t seed);

  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }

  /// Describes the sampling of a run of `steps` steps.
  RunContext run_of(std::int64_t steps) const;

  /// Returns the samples of the next step per site. The caller asks for steps in order.
  std::vector<std::vector<std::int32_t>> next();

 private:
  std::vector<std::vector<std::int32_t>> drawn() const;
  const std::vector<std::int32_t>& order(std::size_t site, std::int64_t pass);

  spec::TrainingSpec training_;
  models::Partition partition_;
  std::uint64_t seed_;
  std::int64_t steps_per_epoch_ = 0;
  std::int64_t step_ = 0;
  std::vector<std::vector<std::int32_t>> order_;
  std::vector<std::int64_t> order_pass_;
};

}  // namespace dadsim::algorithms
