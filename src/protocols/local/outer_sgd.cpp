#include <fmt/format.h>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// θ ← θ − η Δ; with η = 1 the mean of what workers have (local SGD).
OuterRule plain_steps(double rate) {
  return {.flops = rate == 1 ? 0.0 : 2.0,
          .floats = rate == 1 ? 0.0 : 3.0,
          .name = [rate](std::int64_t) { return fmt::format("rate {}", rate); },
          .step =
              [rate = static_cast<float>(rate)](std::int64_t, const OuterNumbers& numbers) {
                for (std::size_t k = 0; k < numbers.theta.size(); ++k) numbers.theta[k] -= rate * numbers.moved[k];
              }};
}

}  // namespace

RuleInfo mean_rule() {
  return {"mean", "the mean of what workers have", {}, [](const spec::ParameterValues&, std::int64_t) {
            return plain_steps(1);
          }};
}
RuleInfo sgd_rule() {
  return {"sgd", "plain steps", {kRate.name}, [](const spec::ParameterValues& values, std::int64_t) {
            return plain_steps(kRate.of(values));
          }};
}

}  // namespace dadsim::protocols::outer
