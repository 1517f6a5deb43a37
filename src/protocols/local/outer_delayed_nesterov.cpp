#include <fmt/format.h>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// Nesterov momentum that is new every B-th step alone (delayed Nesterov; Liu et al., arXiv 2401.09135; the form of
/// utnslab/halos, 4b5bf73): s sums Δ, and in step B, 2 B, …
///   m ← μ m + s / B,  θ ← θ − η (μ m + Δ / B),  s ← 0;   in others  θ ← θ − η Δ / B
OuterRule delayed_nesterov(const spec::ParameterValues& values, std::int64_t) {
  const auto rate = kRate.of(values), momentum = kMomentum.of(values);
  const std::int64_t buffer = kBuffer.of(values);
  return {.states = 2,
          .flops = 6,
          .floats = 6,
          .name =
              [=](std::int64_t round) {
                return fmt::format("delayed {} {} {} {}", rate, momentum, buffer, (round + 1) % buffer);
              },
          .step =
              [=, eta = static_cast<float>(rate), mu = static_cast<float>(momentum)](std::int64_t round,
                                                                                     const OuterNumbers& numbers) {
                const float share = 1 / static_cast<float>(buffer);
                const std::size_t count = numbers.theta.size();
                for (std::size_t k = 0; k < count; ++k) {
                  float &m = numbers.state[k], &sum = numbers.state[count + k];
                  float step = share * numbers.moved[k];
                  sum += numbers.moved[k];
                  if ((round + 1) % buffer == 0) {
                    m = mu * m + share * sum;
                    step += mu * m;
                    sum = 0;
                  }
                  numbers.theta[k] -= eta * step;
                }
              }};
}

}  // namespace

RuleInfo delayed_nesterov_rule() {
  return {"delayed-nesterov",
          "Nesterov momentum that is updated every outer-buffer steps",
          {kRate.name, kMomentum.name, kBuffer.name},
          delayed_nesterov};
}

}  // namespace dadsim::protocols::outer
