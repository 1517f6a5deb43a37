#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "algorithms/step/training_step.hpp"
#include "step/alternatives.hpp"

namespace dadsim::algorithms {

/// Several ways of sharing a layer's gradient, side by side in one step: for a method that leaves open which one a
/// layer takes until it is known which network is timed, and on which cluster (step::Alternatives). The method carries
/// out all of them for real, each as a part of the alternatives that it belongs to, and says at the end which ones each
/// layer has; what they leave as gradient(l) is the method's affair.
class LayerAlternatives {
 public:
  /// Of this step, which outlives it and has begun.
  explicit LayerAlternatives(TrainingStep& step) : step_(step) {}

  /// Calls `body`: what it records and sends is done only where matrix l takes one of these alternatives. Not nested.
  void carry_out(std::size_t l, step::AlternativeSet alternatives, const std::function<void()>& body);
  /// Ends the step: among these each layer takes one. Counted as handed over is, from then on, what this network takes
  /// so that the fewest bytes are sent. Throws std::logic_error where no alternative fits a layer.
  void offer(step::Alternatives alternatives);

 private:
  /// Bytes that have been handed over in some alternatives of a layer.
  struct SentAlternative {
    std::size_t layer = 0;
    step::AlternativeSet alternatives = 0;
    std::vector<double> up;  ///< per site
    double down = 0;         ///< to each site
  };

  TrainingStep& step_;
  std::vector<SentAlternative> sent_;
};

}  // namespace dadsim::algorithms
