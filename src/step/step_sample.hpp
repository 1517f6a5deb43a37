#pragma once

#include <cstddef>
#include <vector>

namespace dadsim::step {

/// Which steps of a run are simulated where all would take too long, and what the others are taken to be.
///
/// In the manner of systematic sampling (Cochran, Sampling Techniques, 3rd ed. 1977, chapter 8; in simulators
/// Wunderlich et al., SMARTS, ISCA 2003): steps are put in order by the bytes that they hand over, equal ones by flops.
/// The least and the most are picked, the first of the run, and then always the one in the middle of the gap that most
/// steps of the run lie in. Between two that were picked, times follow the bytes linearly.
class StepSample {
 public:
  struct SampledStep {
    double bytes = 0;        ///< handed over, by all nodes in all collectives
    double flops = 0;        ///< of all nodes
    double occurrences = 1;  ///< steps of the run that are this one
  };

  /// Picks `most` of the steps, or all if they are no more. `most` is 3 at least.
  StepSample(std::vector<SampledStep> steps, std::size_t most);

  /// Indices, ascending; the first is 0.
  const std::vector<std::size_t>& picked() const { return picked_; }
  /// Per picked: how many steps of the run it stands for. They add up to all.
  const std::vector<double>& weights() const { return weights_; }
  /// Seconds of all steps, from those of the picked.
  std::vector<double> interpolate(const std::vector<double>& picked) const;

  struct Error {
    double step = 0;  ///< of one step that was not picked: root mean square of what it is off by ÷ the mean step
    double mean = 0;  ///< standard error of the mean step ÷ the mean step
  };
  /// Estimated by leaving out every picked step but the two at the ends, and interpolating it from its neighbours.
  Error error(const std::vector<double>& picked) const;

 private:
  /// Two picked steps (places in picked_) and how far a step lies from the first to the second, 0 … 1.
  struct Between {
    std::size_t below = 0, above = 0;
    double share = 0;
  };
  double share_between(std::size_t below, std::size_t above, std::size_t place) const;

  std::vector<SampledStep> steps_;
  std::vector<std::size_t> order_;    ///< by size
  std::vector<std::size_t> picked_;   ///< ascending
  std::vector<std::size_t> by_size_;  ///< places in order_ of the picked
  std::vector<std::size_t> rank_of_;  ///< per by_size_: place in picked_
  std::vector<Between> of_;           ///< per step
  std::vector<double> weights_;       ///< per picked
};

}  // namespace dadsim::step
