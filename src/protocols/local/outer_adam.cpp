#include <fmt/format.h>

#include <cmath>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// Adam without a correction of its bias, as at the server of FedOpt (Reddi et al., ICLR 2021, arXiv 2003.00295):
///   m ← β₁ m + (1 − β₁) Δ,  v ← β₂ v + (1 − β₂) Δ²,  θ ← θ − η m / (√v + 10⁻³)
class OuterAdam final : public OuterRule {
 public:
  OuterAdam(double rate, double beta1, double beta2) : rate_(rate), beta1_(beta1), beta2_(beta2) {}
  std::size_t states() const override { return 2; }
  double flops() const override { return 12; }
  double floats() const override { return 7; }
  std::string name(std::int64_t) const override { return fmt::format("adam {} {} {}", rate_, beta1_, beta2_); }
  void step(std::int64_t, const OuterNumbers& numbers) const override {
    const auto rate = static_cast<float>(rate_), beta1 = static_cast<float>(beta1_), beta2 = static_cast<float>(beta2_);
    const std::size_t count = numbers.theta.size();
    for (std::size_t k = 0; k < count; ++k) {
      const float delta = numbers.moved[k];
      float& m = numbers.state[k];
      float& v = numbers.state[count + k];
      m = beta1 * m + (1 - beta1) * delta;
      v = beta2 * v + (1 - beta2) * delta * delta;
      numbers.theta[k] -= rate * m / (std::sqrt(v) + 1e-3F);
    }
  }

 private:
  double rate_, beta1_, beta2_;
};

}  // namespace

RuleInfo adam_rule() {
  return {"adam",
          "Adam",
          {kRate.name, kMomentum.name, kSecondMoment.name},
          [](const spec::ParameterValues& values, std::int64_t) {
            return std::unique_ptr<OuterRule>(
                std::make_unique<OuterAdam>(kRate.of(values), kMomentum.of(values), kSecondMoment.of(values)));
          }};
}

}  // namespace dadsim::protocols::outer
