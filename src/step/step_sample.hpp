#pragma once

#include <cstddef>
#include <vector>

namespace dadsim::step {

/// Picks the steps of a run to simulate, if simulating all would take too long, and interpolates the others.
///
/// Systematic sampling (Cochran, Sampling Techniques, 3rd ed. 1977, chapter 8; in simulators Wunderlich et al., SMARTS,
/// ISCA 2003). Steps are sorted by the bytes that they send, then by flops. The smallest, the largest and the run's
/// first step are picked. Then the middle of the gap with the largest number of steps of the run is picked, repeatedly.
/// Between two picked steps, seconds are linear in the bytes.
class StepSample {
 public:
  struct SampledStep {
    double bytes = 0;        ///< bytes sent by all nodes in all collectives
    double flops = 0;        ///< flops of all nodes
    double occurrences = 1;  ///< number of equal steps in the run
  };

  /// Picks this number of steps: `most`, which is at least 3, or all if there are fewer.
  StepSample(std::vector<SampledStep> steps, std::size_t most);

  /// Returns the indices of picked steps, ascending; the first is 0.
  const std::vector<std::size_t>& picked() const { return picked_; }
  /// Returns for each picked step the number of steps of the run that it represents.
  const std::vector<double>& weights() const { return weights_; }
  /// Returns the seconds of all steps, interpolated from those of the picked ones.
  std::vector<double> interpolate(const std::vector<double>& picked) const;

  struct Error {
    double step = 0;  ///< root mean square error of a step that was not picked ÷ mean seconds of a step
    double mean = 0;  ///< standard error of the mean ÷ mean seconds of a step
  };
  /// Estimates the errors by leave-one-out: interpolates each picked step, except those at the two ends, from its
  /// neighbours.
  Error error(const std::vector<double>& picked) const;

 private:
  /// Two picked steps (indices into picked_), and the position of a step between them, 0 … 1.
  struct Between {
    std::size_t below = 0, above = 0;
    double share = 0;
  };
  double share_between(std::size_t below, std::size_t above, std::size_t place) const;

  std::vector<SampledStep> steps_;
  std::vector<std::size_t> order_;    ///< indices of steps, sorted by size
  std::vector<std::size_t> picked_;   ///< indices of picked steps, ascending
  std::vector<std::size_t> by_size_;  ///< positions in order_ of the picked steps
  std::vector<std::size_t> rank_of_;  ///< index in picked_ of each entry of by_size_
  std::vector<Between> of_;           ///< neighbours of each step
  std::vector<double> weights_;       ///< weight of each picked step
};

}  // namespace dadsim::step
