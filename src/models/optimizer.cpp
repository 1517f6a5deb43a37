#include "models/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "models/adam.hpp"
#include "models/clipped.hpp"
#include "models/lamb.hpp"
#include "models/lars.hpp"
#include "models/muon.hpp"
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

namespace {

std::unique_ptr<Optimizer> make_unclipped(const spec::OptimizerSpec& spec, const Network& network) {
  switch (spec.kind) {
    case spec::OptimizerSpec::Kind::sgd:
      return std::make_unique<Sgd>(spec, network);
    case spec::OptimizerSpec::Kind::adam:
    case spec::OptimizerSpec::Kind::adamw:
      return std::make_unique<Adam>(spec, network);
    case spec::OptimizerSpec::Kind::lamb:
      return std::make_unique<Lamb>(spec, network);
    case spec::OptimizerSpec::Kind::lars:
      return std::make_unique<Lars>(spec, network);
    case spec::OptimizerSpec::Kind::muon:
      return std::make_unique<Muon>(spec, network);
  }
  throw std::logic_error("unknown optimizer");
}

double unclipped_floats(const spec::OptimizerSpec& spec) {
  switch (spec.kind) {
    case spec::OptimizerSpec::Kind::sgd:
      return Sgd::floats_per_parameter(spec);
    case spec::OptimizerSpec::Kind::adam:
    case spec::OptimizerSpec::Kind::adamw:
      return Adam::floats_per_parameter();
    case spec::OptimizerSpec::Kind::lamb:
      return Lamb::floats_per_parameter();
    case spec::OptimizerSpec::Kind::lars:
      return Lars::floats_per_parameter(spec);
    case spec::OptimizerSpec::Kind::muon:
      return Muon::floats_per_parameter();
  }
  throw std::logic_error("unknown optimizer");
}

double unclipped_flops(const spec::OptimizerSpec& spec) {
  switch (spec.kind) {
    case spec::OptimizerSpec::Kind::sgd:
      return Sgd::flops_per_parameter(spec);
    case spec::OptimizerSpec::Kind::adam:
    case spec::OptimizerSpec::Kind::adamw:
      return Adam::flops_per_parameter(spec);
    case spec::OptimizerSpec::Kind::lamb:
      return Lamb::flops_per_parameter(spec);
    case spec::OptimizerSpec::Kind::lars:
      return Lars::flops_per_parameter(spec);
    case spec::OptimizerSpec::Kind::muon:
      return Muon::flops_per_parameter(spec);
  }
  throw std::logic_error("unknown optimizer");
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const spec::OptimizerSpec& spec, const Network& network) {
  std::unique_ptr<Optimizer> optimizer = make_unclipped(spec, network);
  if (spec.clip_norm > 0) return std::make_unique<Clipped>(std::move(optimizer), spec.clip_norm);
  return optimizer;
}

double update_floats_per_parameter(const spec::OptimizerSpec& spec) {
  return unclipped_floats(spec) + (spec.clip_norm > 0 ? Clipped::floats_per_parameter() : 0);
}

double update_flops_per_parameter(const spec::OptimizerSpec& spec) {
  return unclipped_flops(spec) + (spec.clip_norm > 0 ? Clipped::flops_per_parameter() : 0);
}

}  // namespace dadsim::models
