#include <fmt/format.h>

#include <cmath>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// Adam without a correction of its bias, as at the server of FedOpt (Reddi et al., ICLR 2021, arXiv 2003.00295):
///   m ← β₁ m + (1 − β₁) Δ,  v ← β₂ v + (1 − β₂) Δ²,  θ ← θ − η m / (√v + 10⁻³)
OuterRule adam(const spec::ParameterValues& values, std::int64_t) {
  const auto rate = kRate.of(values), beta1 = kMomentum.of(values), beta2 = kSecondMoment.of(values);
  return {.states = 2,
          .flops = 12,
          .floats = 7,
          .name = [=](std::int64_t) { return fmt::format("adam {} {} {}", rate, beta1, beta2); },
          .step =
              [eta = static_cast<float>(rate), b1 = static_cast<float>(beta1), b2 = static_cast<float>(beta2)](
                  std::int64_t, const OuterNumbers& numbers) {
                const std::size_t count = numbers.theta.size();
                for (std::size_t k = 0; k < count; ++k) {
                  const float delta = numbers.moved[k];
                  float &m = numbers.state[k], &v = numbers.state[count + k];
                  m = b1 * m + (1 - b1) * delta;
                  v = b2 * v + (1 - b2) * delta * delta;
                  numbers.theta[k] -= eta * m / (std::sqrt(v) + 1e-3F);
                }
              }};
}

}  // namespace

RuleInfo adam_rule() { return {"adam", "Adam", {kRate.name, kMomentum.name, kSecondMoment.name}, adam}; }

}  // namespace dadsim::protocols::outer
