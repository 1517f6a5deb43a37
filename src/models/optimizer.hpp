#pragma once

#include <cstdint>
#include <memory>

#include "models/network.hpp"

namespace dadsim {

/// Learning rate at a step. `step` counts from 0.
double learning_rate(const OptimizerSpec& optimizer, const ScheduleSpec& schedule, std::int64_t step,
                     std::int64_t steps_per_epoch, std::int64_t total_steps);

/// Turns gradients into steps of the weights.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  /// weights ← weights − …; formula in each implementation.
  virtual void update(Network& network, const Gradient& gradient, double learning_rate) = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const OptimizerSpec& spec, const Network& network);

/// Floats read and written per parameter in one update, for the cost of the update (Adam: 4 read, 3 written).
double update_floats_per_parameter(const OptimizerSpec& spec);
/// Arithmetic per parameter in one update.
double update_flops_per_parameter(const OptimizerSpec& spec);

}  // namespace dadsim
