#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "models/data/dataset.hpp"
#include "spec/specification.hpp"

namespace dadsim::algorithms {

/// The samples of a site in the order of a pass over them.
std::vector<std::int32_t> shuffled(const std::vector<std::int32_t>& samples, std::uint64_t seed, std::size_t site,
                                   std::int64_t pass);

/// Which samples each site takes in which step. The order within a site is shuffled anew for every pass over its
/// samples and depends on (seed, site, pass) alone, so that all algorithms see the same batches.
///
/// proportional: an epoch has T = ⌈Σn ÷ (S · batch)⌉ steps and site s takes its samples ⌊t n_s/T⌋ … ⌊(t+1) n_s/T⌋ − 1
/// in step t: every sample once per epoch, N_s ∝ n_s in every step, so that Σ_s (N_s/ΣN) · mean_s is an unbiased
/// estimate of the gradient over all data. equal: every site takes `batch` samples (or all it has, if fewer) in every
/// step and starts over when it is through; an epoch is one pass of the largest site.
///
/// poisson: every sample is in every step with the same chance 1/T, T as of proportional, whatever else is in it or was
/// in steps before: what accountants of privacy assume (arXiv 1607.00133, section 3.1). It depends on (seed, site,
/// step) alone. A step in which all sites would have nothing, of which the chance is e^−(S · batch), is drawn again.
class Batches {
 public:
  Batches(const spec::TrainingSpec& training, const models::Partition& partition, std::uint64_t seed);

  std::int64_t steps_per_epoch() const { return steps_per_epoch_; }

  /// The sampling of a run of `steps` steps.
  RunContext run_of(std::int64_t steps) const;

  /// Per site, the samples of this step (0-based, any epoch). Steps are asked for in order.
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
