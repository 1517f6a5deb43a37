#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// Distributed SGD (dSGD, data parallelism): every site forms G_s = Δ_sᵀ A_s, and all sites apply Σ_s G_s. A layer's
/// gradient is sent as soon as it is formed, while lower layers still compute.
class GradientSharing final : public Algorithm {
 public:
  static constexpr const char* kName = "gradient-sharing";

  void run(TrainingStep& step) override;
};

}  // namespace dadsim::algorithms
