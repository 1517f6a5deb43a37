#pragma once

#include <span>
#include <vector>

#include "algorithms/step/training_step.hpp"
#include "protocols/learning.hpp"

namespace dadsim::protocols {

class Learning::Workspace {
 public:
  explicit Workspace(const algorithms::LearningProblem& problem);

  void set_weights(std::span<const float> numbers) { models::set_flat_state(network_, numbers); }
  models::Network& network() { return network_; }
  /// Returns the gradient of the mean loss over these samples, and the loss.
  const models::Gradient& gradient(std::int64_t step_number, const std::vector<std::int32_t>& samples);
  /// Returns the sum of clipped per-sample gradients plus noise drawn for step `number`, divided by `batch`.
  const models::Gradient& gradient_per_sample(std::int64_t step_number, const std::vector<std::int32_t>& samples,
                                              double batch, const LocalTraining::PerSample& how);
  /// Updates the running statistics from the last batch.
  void follow_statistics() { network_.update_running_statistics(step_.tape()); }
  algorithms::TrainingStep& step() { return step_; }

 private:
  const models::Samples& samples_;
  models::Network network_;
  algorithms::TrainingStep step_;
};

}  // namespace dadsim::protocols
