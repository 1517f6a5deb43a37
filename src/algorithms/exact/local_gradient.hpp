#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// Plain training without any exchange: G = Δᵀ A of the local rows. Both references use it: the upper reference has all
/// data in one place, and the lower one trains every site alone.
class LocalGradient final : public Algorithm {
 public:
  void run(TrainingStep& step) override;
};

}  // namespace dadsim::algorithms
