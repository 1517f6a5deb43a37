#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// EXAMPLE of an algorithm: dAD with one message for A and one for Δ, both during the backward pass.
class Halves final : public Algorithm {
 public:
  void run(TrainingStep& step) override;
};

SynchronousMethod halves_method();

}  // namespace dadsim::algorithms
