#pragma once

#include "protocols/local/local_rounds.hpp"

namespace dadsim::protocols {

/// DiLoCo (Douillard et al., arXiv 2311.08105): local SGD whose differences are a gradient for an outer optimizer, SGD
/// with Nesterov momentum. The inner optimizer is the scenario's; its state stays with the worker.
class DiLoCo final : public LocalRounds {
 public:
  explicit DiLoCo(const Setting& setting)
      : LocalRounds(setting),
        outer_optimizer_(setting.value(LocalSteps::kOuterRate), setting.value(LocalSteps::kOuterMomentum)) {}

 protected:
  world::Value outer_begin(const world::Value& theta) override {
    return OuterOptimizer::begin(learning().history(), theta, learning().parameters());
  }
  world::Value outer_step(const world::Value& outer, const world::Value& difference) override {
    return outer_optimizer_.step(learning().history(), outer, difference, learning().parameters());
  }
  world::Work outer_work() const override {
    return setting().sizing.per_parameter(step::Role::aggregator, OuterOptimizer::kFlops, OuterOptimizer::kFloats);
  }

 private:
  OuterOptimizer outer_optimizer_;
};

EventDrivenMethod diloco_method();

}  // namespace dadsim::protocols
