#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// Plain training without any exchange: G = Δᵀ A of the local rows. Both references use it: all data in one place
/// (upper reference), and every site alone (lower reference).
class LocalGradient final : public Algorithm {
 public:
  void run(TrainingStep& step) override;
};

}  // namespace dadsim::algorithms
