#include <memory>

#include "protocols/local/local_rounds.hpp"
#include "protocols/methods.hpp"

namespace dadsim::protocols {
namespace {

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

}  // namespace

EventDrivenMethod diloco_method() {
  EventDrivenMethod info{
      {.name = "diloco",
       .description = "Every worker takes many steps on its own; what they have moved by is a gradient for an outer "
                      "optimizer with Nesterov momentum at the server.",
       .source =
           "DiLoCo: Douillard et al., Distributed Low-Communication Training of Language Models, arXiv 2311.08105",
       .payload = "d up and d down, per worker and period",
       .family = "local-steps",
       .on_failure = "a worker that goes down is not waited for, and takes part again from the round after it is back, "
                     "its optimizer begun anew; what is lost on the way is sent again after 5 s",
       .parameters = LocalSteps::parameters("500"),
       .sharing = Sharing::event_driven,
       .state =
           [](const spec::ParameterValues&) {
             return estimate::AlgorithmState{step::extent::parameters()};  // the weights that the round began with
           },
       .models_held = LocalSteps::models_held},
      [](const Setting& setting) { return std::make_unique<DiLoCo>(setting); }};
  for (spec::ParameterSpec& parameter : LocalSteps::outer_parameters("0.7")) {
    info.parameters.push_back(std::move(parameter));
  }
  return info;
}

}  // namespace dadsim::protocols
