#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// Plain training without any exchange: G = Δᵀ A of the rows at hand. The two reference ends are made of it: all data
/// in one place (the upper reference), and every site on its own (what is to be gained).
class LocalGradient final : public Algorithm {
 public:
  void run(TrainingStep& step) override;
};

}  // namespace dadsim::algorithms
