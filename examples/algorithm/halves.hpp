#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// EXAMPLE of an algorithm: dAD with a message for A and another one for Δ, both beside the backward pass.
class Halves final : public Algorithm {
 public:
  void run(TrainingStep& step) override;
};

SynchronousMethod halves_method();

}  // namespace dadsim::algorithms
