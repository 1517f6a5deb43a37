#include <fmt/format.h>

#include <algorithm>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// Stochastic gradient descent with Nesterov momentum (the outer optimizer of DiLoCo; Douillard et al., arXiv
/// 2311.08105, in the form of PyTorch):
///   v ← μ v + Δ,  θ ← θ − η (Δ + μ v)
/// or `folded`, with the rate inside of the momentum (MuLoCo; bentherien/muloco-1, 33cc333,
/// muloco/pytorch/muloco.py), which is the same while the rate is:
///   v ← μ v + η Δ,  θ ← θ − η Δ − μ v
/// μ may rise from 0 over the first steps, and then change evenly until the last of `rounds` (in the spirit of Pier,
/// arXiv 2511.17849, whose constants were not at hand).
OuterRule nesterov(const spec::ParameterValues& values, std::int64_t rounds, bool folded) {
  const double momentum = kMomentum.of(values), given = kFinalMomentum.of(values);
  const double change = given < 0 ? 0 : given - momentum;
  const auto momentum_at = [=, warm_up = kWarmUp.of(values)](std::int64_t round) {
    if (round < warm_up) return momentum * static_cast<double>(round) / static_cast<double>(warm_up);
    const auto left = static_cast<double>(std::max<std::int64_t>(1, rounds - 1 - warm_up));
    return momentum + std::min(1.0, static_cast<double>(round - warm_up) / left) * change;
  };
  return {.states = 1,
          .flops = 6,
          .floats = 5,
          .name =
              [=, rate = kRate.of(values)](std::int64_t round) {
                return fmt::format("rate {} momentum {}{}", rate, momentum_at(round), folded ? " folded" : "");
              },
          .step =
              [=, rate = static_cast<float>(kRate.of(values))](std::int64_t round, const OuterNumbers& numbers) {
                const auto mu = static_cast<float>(momentum_at(round));
                for (std::size_t k = 0; k < numbers.theta.size(); ++k) {
                  const float delta = numbers.moved[k];
                  float& v = numbers.state[k];
                  v = mu * v + (folded ? rate * delta : delta);
                  numbers.theta[k] -= folded ? rate * delta + mu * v : rate * (delta + mu * v);
                }
              }};
}

std::vector<std::string> of_nesterov() { return {kRate.name, kMomentum.name, kWarmUp.name, kFinalMomentum.name}; }

}  // namespace

RuleInfo nesterov_rule() {
  return {"nesterov", "Nesterov momentum", of_nesterov(),
          [](const spec::ParameterValues& values, std::int64_t rounds) { return nesterov(values, rounds, false); }};
}
RuleInfo folded_nesterov_rule() {
  return {"nesterov-folded", "the same with the rate inside of the momentum", of_nesterov(),
          [](const spec::ParameterValues& values, std::int64_t rounds) { return nesterov(values, rounds, true); }};
}

}  // namespace dadsim::protocols::outer
