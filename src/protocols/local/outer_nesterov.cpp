#include <fmt/format.h>

#include <algorithm>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// Stochastic gradient descent with Nesterov momentum (the outer optimizer of DiLoCo; Douillard et al., arXiv
/// 2311.08105, in the form of PyTorch):
///   v ← μ v + Δ,  θ ← θ − η (Δ + μ v)
/// or with the rate inside of the momentum (MuLoCo; bentherien/muloco-1, 33cc333, muloco/pytorch/muloco.py), which is
/// the same while the rate is:
///   v ← μ v + η Δ,  θ ← θ − η Δ − μ v
/// μ may rise from 0 over the first steps, and then change evenly until the last one (in the spirit of Pier, arXiv
/// 2511.17849, whose constants were not at hand).
class OuterNesterov final : public OuterRule {
 public:
  OuterNesterov(const spec::ParameterValues& values, std::int64_t rounds, bool folded)
      : rate_(kRate.of(values)),
        momentum_(kMomentum.of(values)),
        final_(kFinalMomentum.of(values) < 0 ? momentum_ : kFinalMomentum.of(values)),
        warm_up_(kWarmUp.of(values)),
        rounds_(rounds),
        folded_(folded) {}

  std::size_t states() const override { return 1; }
  double flops() const override { return 6; }
  double floats() const override { return 5; }
  std::string name(std::int64_t round) const override {
    return fmt::format("rate {} momentum {}{}", rate_, momentum_of(round), folded_ ? " folded" : "");
  }
  void step(std::int64_t round, const OuterNumbers& numbers) const override {
    const auto rate = static_cast<float>(rate_), momentum = static_cast<float>(momentum_of(round));
    const std::span<const float> delta = numbers.moved;
    for (std::size_t k = 0; k < numbers.theta.size(); ++k) {
      float& v = numbers.state[k];
      if (folded_) {
        v = momentum * v + rate * delta[k];
        numbers.theta[k] -= rate * delta[k] + momentum * v;
      } else {
        v = momentum * v + delta[k];
        numbers.theta[k] -= rate * (delta[k] + momentum * v);
      }
    }
  }

 private:
  double momentum_of(std::int64_t round) const {
    if (round < warm_up_) return momentum_ * static_cast<double>(round) / static_cast<double>(warm_up_);
    const std::int64_t left = rounds_ - 1 - warm_up_;
    if (left <= 0 || final_ == momentum_) return momentum_;
    const double share = std::min(1.0, static_cast<double>(round - warm_up_) / static_cast<double>(left));
    return momentum_ + share * (final_ - momentum_);
  }

  double rate_, momentum_, final_;
  std::int64_t warm_up_, rounds_;
  bool folded_;
};

std::vector<std::string> of_nesterov() { return {kRate.name, kMomentum.name, kWarmUp.name, kFinalMomentum.name}; }

}  // namespace

RuleInfo nesterov_rule() {
  return {"nesterov", "Nesterov momentum", of_nesterov(), [](const spec::ParameterValues& values, std::int64_t rounds) {
            return std::unique_ptr<OuterRule>(std::make_unique<OuterNesterov>(values, rounds, false));
          }};
}

RuleInfo folded_nesterov_rule() {
  return {"nesterov-folded", "the same with the rate inside of the momentum", of_nesterov(),
          [](const spec::ParameterValues& values, std::int64_t rounds) {
            return std::unique_ptr<OuterRule>(std::make_unique<OuterNesterov>(values, rounds, true));
          }};
}

}  // namespace dadsim::protocols::outer
