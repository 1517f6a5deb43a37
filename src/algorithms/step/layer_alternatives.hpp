#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "algorithms/step/training_step.hpp"
#include "step/alternatives.hpp"

namespace dadsim::algorithms {

/// Several ways of sharing a layer's gradient in one step, for a method whose choice depends on the timed network and
/// its cluster (step::Alternatives). The method carries out every way, each in carry_out(), and lists at the end the
/// alternatives of each layer. The method also decides which way sets gradient(l).
class LayerAlternatives {
 public:
  /// Refers to a step, which has begun and must outlive this object.
  explicit LayerAlternatives(TrainingStep& step) : step_(step) {}

  /// Calls `body`, whose records and messages count only if matrix l takes one of these alternatives. Not nested.
  void carry_out(std::size_t l, step::AlternativeSet alternatives, const std::function<void()>& body);
  /// Ends the step, and lists the alternatives of each layer. Bytes counted as sent are then those of the alternative
  /// with the fewest bytes on this network. Throws std::logic_error if no alternative fits a layer.
  void offer(step::Alternatives alternatives);

 private:
  /// Bytes sent in alternatives of a layer.
  struct SentAlternative {
    std::size_t layer = 0;
    step::AlternativeSet alternatives = 0;
    std::vector<double> up;  ///< bytes sent per site
    double down = 0;         ///< bytes from the aggregator to each site
  };

  TrainingStep& step_;
  std::vector<SentAlternative> sent_;
};

}  // namespace dadsim::algorithms
