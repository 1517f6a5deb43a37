#include "models/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "models/adam.hpp"
#include "models/sgd.hpp"

namespace dadsim::models {

double learning_rate(const spec::OptimizerSpec& optimizer, const spec::ScheduleSpec& schedule, std::int64_t step,
                     std::int64_t steps_per_epoch, std::int64_t total_steps) {
  if (step < 0 || steps_per_epoch < 1)
    throw std::logic_error("learning_rate: a step and an epoch with steps are needed");
  const double rate = optimizer.learning_rate;
  const double warm_up = schedule.warm_up_epochs * static_cast<double>(steps_per_epoch);
  const auto now = static_cast<double>(step);
  if (now < warm_up) return rate * std::min(1.0, (now + 1) / warm_up);
  switch (schedule.kind) {
    case spec::ScheduleSpec::Kind::constant:
      return rate;
    case spec::ScheduleSpec::Kind::steps: {
      const auto passed = std::count_if(schedule.milestones.begin(), schedule.milestones.end(),
                                        [&](std::int64_t epoch) { return step / steps_per_epoch >= epoch; });
      return rate * std::pow(schedule.factor, static_cast<double>(passed));
    }
    case spec::ScheduleSpec::Kind::cosine: {
      const double length = static_cast<double>(total_steps) - warm_up;
      const double share = length > 0 ? std::min(1.0, (now - warm_up) / length) : 1.0;
      const double wave = 0.5 * (1 + std::cos(std::numbers::pi * share));
      return rate * (schedule.final_factor + (1 - schedule.final_factor) * wave);
    }
  }
  throw std::logic_error("unknown schedule");
}

std::unique_ptr<Optimizer> make_optimizer(const spec::OptimizerSpec& spec, const Network& network) {
  switch (spec.kind) {
    case spec::OptimizerSpec::Kind::sgd:
      return std::make_unique<Sgd>(spec, network);
    case spec::OptimizerSpec::Kind::adam:
    case spec::OptimizerSpec::Kind::adamw:
      return std::make_unique<Adam>(spec, network);
  }
  throw std::logic_error("unknown optimizer");
}

double update_floats_per_parameter(const spec::OptimizerSpec& spec) {
  return spec.kind == spec::OptimizerSpec::Kind::sgd ? Sgd::floats_per_parameter(spec) : Adam::floats_per_parameter();
}

double update_flops_per_parameter(const spec::OptimizerSpec& spec) {
  return spec.kind == spec::OptimizerSpec::Kind::sgd ? Sgd::flops_per_parameter(spec) : Adam::flops_per_parameter(spec);
}

}  // namespace dadsim::models
