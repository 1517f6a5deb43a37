#pragma once

#include <cstddef>
#include <vector>

namespace dadsim::step {

/// Picks the steps of a run that are simulated if all would take too long, and interpolates the others.
///
/// In the manner of systematic sampling (Cochran, Sampling Techniques, 3rd ed. 1977, chapter 8; in simulators
/// Wunderlich et al., SMARTS, ISCA 2003): steps are ordered by the bytes that they send, equal ones by flops. It picks
/// the smallest, the largest, the first of the run, and then always the middle of the gap that contains most steps of
/// the run. Between two picked steps, times are linear in the bytes.
class StepSample {
 public:
  struct SampledStep {
    double bytes = 0;        ///< sent by all nodes in all collectives
    double flops = 0;        ///< sum over all nodes
    double occurrences = 1;  ///< steps of the run equal to this one
  };

  /// Picks `most` of the steps, or all if they are fewer. `most` is at least 3.
  StepSample(std::vector<SampledStep> steps, std::size_t most);

  /// Indices, ascending; the first is 0.
  const std::vector<std::size_t>& picked() const { return picked_; }
  /// Returns per picked step the number of steps of the run that it represents. They add up to all steps.
  const std::vector<double>& weights() const { return weights_; }
  /// Returns the seconds of all steps, from those of the picked ones.
  std::vector<double> interpolate(const std::vector<double>& picked) const;

  struct Error {
    double step = 0;  ///< root mean square error of one step that was not picked ÷ the mean step
    double mean = 0;  ///< standard error of the mean step ÷ the mean step
  };
  /// Estimates the errors by leaving out every picked step except the two at the ends, and interpolating it from its
  /// neighbours.
  Error error(const std::vector<double>& picked) const;

 private:
  /// Two picked steps (positions in picked_) and the position of a step between them, 0 … 1.
  struct Between {
    std::size_t below = 0, above = 0;
    double share = 0;
  };
  double share_between(std::size_t below, std::size_t above, std::size_t place) const;

  std::vector<SampledStep> steps_;
  std::vector<std::size_t> order_;    ///< by size
  std::vector<std::size_t> picked_;   ///< ascending
  std::vector<std::size_t> by_size_;  ///< positions in order_ of the picked
  std::vector<std::size_t> rank_of_;  ///< per by_size_: position in picked_
  std::vector<Between> of_;           ///< per step
  std::vector<double> weights_;       ///< per picked
};

}  // namespace dadsim::step
