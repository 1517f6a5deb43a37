#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "models/network.hpp"

namespace dadsim::models {

/// Returns the learning rate at a step. `step` counts from 0; e = step ÷ steps_per_epoch; η = optimizer.learning_rate.
/// With W = warm-up epochs × steps_per_epoch:
///   step < W:  η · min(1, (step + 1) ÷ W), linear from 0 (Goyal et al., arXiv 1706.02677), and after it
///   constant:  η
///   steps:     η · factor^(milestones m with e ≥ m); milestones count epochs from the start, warm-up included
///   cosine:    η · (f + (1 − f) · ½ (1 + cos(π t))), t = (step − W) ÷ (total_steps − W), f = final_factor: η after the
///              warm-up, f·η at total_steps (Loshchilov & Hutter, arXiv 1608.03983)
/// Throws std::logic_error for a negative step or steps_per_epoch < 1.
double learning_rate(const spec::OptimizerSpec& optimizer, const spec::ScheduleSpec& schedule, std::int64_t step,
                     std::int64_t steps_per_epoch, std::int64_t total_steps);

/// Turns gradients into steps of the weights.
///
/// EXAMPLE
///   auto optimizer = make_optimizer(training.optimizer, network);
///   optimizer->update(network, gradient, learning_rate(…));
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// Applies one step to the weights, after clipping; each implementation gives its formula (sgd.cpp, adam.cpp,
  /// lamb.cpp, lars.cpp, muon.cpp). Weight decay shrinks biases too, as PyTorch's optimizers do by default. The bits
  /// are the same for any number of threads. A matrix with an empty gradient keeps its weights and state. Throws
  /// std::logic_error if the gradient does not have the network's shape.
  virtual void update(Network& network, const Gradient& gradient, double learning_rate) = 0;

  /// Returns the state kept between steps, as one row of numbers.
  virtual std::vector<float> state() const = 0;
  /// Restores the state() of an optimizer of the same kind. Throws std::logic_error for a wrong count of numbers.
  virtual void set_state(std::span<const float> numbers) = 0;
};

/// Returns an optimizer with its state (momentum, moments) at zero, sized for `network`.
std::unique_ptr<Optimizer> make_optimizer(const spec::OptimizerSpec& spec, const Network& network);

/// Returns the floats read and written per parameter in one update, for its cost (Adam: 4 read, 3 written).
double update_floats_per_parameter(const spec::OptimizerSpec& spec);
/// Returns the arithmetic per parameter in one update: additions, multiplications, divisions and square roots count one
/// each.
double update_flops_per_parameter(const spec::OptimizerSpec& spec);

}  // namespace dadsim::models
