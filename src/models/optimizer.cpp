#include "models/optimizer.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "models/optimizers.hpp"

namespace dadsim::models {

double learning_rate(const spec::OptimizerSpec& optimizer, const spec::ScheduleSpec& schedule, std::int64_t step,
                     std::int64_t steps_per_epoch, std::int64_t total_steps) {
  if (step < 0 || steps_per_epoch < 1) throw std::logic_error("learning_rate needs a step and an epoch with steps");
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

double norm_of(const Gradient& gradient) {
  double sum = 0;
  for (const LayerGradient& layer : gradient.matrices) {
    if (layer.weight.size() > 0 && !layer.is_direction) sum += layer.weight.cast<double>().squaredNorm();
    if (layer.bias.size() > 0) sum += layer.bias.cast<double>().squaredNorm();
  }
  for (const Vector& vector : gradient.vectors) sum += vector.cast<double>().squaredNorm();
  return std::sqrt(sum);
}

namespace {

/// Clips gradients before an optimizer gets them: if ‖g‖ > largest, g ← g · largest ÷ ‖g‖ (arXiv 1211.5063, algorithm
/// 1). The norm covers all parameters together, as in PyTorch's clip_grad_norm_; orthogonal steps are neither counted
/// nor scaled.
class Clipped final : public Optimizer {
 public:
  Clipped(std::unique_ptr<Optimizer> inner, double largest) : inner_(std::move(inner)), largest_(largest) {}
  void update(Network& network, const Gradient& gradient, double learning_rate) override {
    const double norm = norm_of(gradient);
    // A NaN norm leaves gradients unchanged, so that learning diverges visibly, as without clipping.
    if (!(norm > largest_) || !std::isfinite(norm)) {
      inner_->update(network, gradient, learning_rate);
      return;
    }
    const auto factor = static_cast<float>(largest_ / norm);
    Gradient clipped = gradient;
    for (LayerGradient& layer : clipped.matrices) {
      if (!layer.is_direction) layer.weight *= factor;
      layer.bias *= factor;
    }
    for (Vector& vector : clipped.vectors) vector *= factor;
    inner_->update(network, clipped, learning_rate);
  }
  std::vector<float> state() const override { return inner_->state(); }
  void set_state(std::span<const float> numbers) override { inner_->set_state(numbers); }

  static constexpr double kFloats = 3;  // g read for the norm; g read and written
  static constexpr double kFlops = 3;   // squares, their sum, a product

 private:
  std::unique_ptr<Optimizer> inner_;
  double largest_;
};

OptimizerInfo info_of(spec::OptimizerSpec::Kind kind) {
  switch (kind) {
    case spec::OptimizerSpec::Kind::sgd:
      return sgd_info();
    case spec::OptimizerSpec::Kind::adam:
    case spec::OptimizerSpec::Kind::adamw:
      return adam_info();
    case spec::OptimizerSpec::Kind::lamb:
      return lamb_info();
    case spec::OptimizerSpec::Kind::lars:
      return lars_info();
    case spec::OptimizerSpec::Kind::muon:
      return muon_info();
  }
  throw std::logic_error("unknown optimizer");
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const spec::OptimizerSpec& spec, const Network& network) {
  std::unique_ptr<Optimizer> optimizer = info_of(spec.kind).make(spec, network);
  if (spec.clip_norm > 0) return std::make_unique<Clipped>(std::move(optimizer), spec.clip_norm);
  return optimizer;
}

double update_floats_per_parameter(const spec::OptimizerSpec& spec) {
  return info_of(spec.kind).floats(spec) + (spec.clip_norm > 0 ? Clipped::kFloats : 0);
}

double update_flops_per_parameter(const spec::OptimizerSpec& spec) {
  return info_of(spec.kind).flops(spec) + (spec.clip_norm > 0 ? Clipped::kFlops : 0);
}

}  // namespace dadsim::models
