#include <fmt/format.h>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// Momentum with a pull towards the mean of the partners (NoLoCo; arXiv 2506.10911; gensyn-ai/noloco, a1b4a42,
/// src/noloco/sparse_optimizer_c.py), of θ, Δ of a group:
///   δ ← α δ − β mean Δ + γ (mean θ − θ),  θ ← θ + δ
/// There γ = β. Without Δ the spread of θ over many workers that meet in random pairs shrinks if γ < 2 (1 − α²).
OuterRule consensus(const spec::ParameterValues& values, std::int64_t) {
  const auto rate = kRate.of(values), momentum = kMomentum.of(values), pull = kConsensus.of(values);
  return {.states = 1,
          .flops = 6,
          .floats = 6,
          .name = [=](std::int64_t) { return fmt::format("pull {} rate {} momentum {}", pull, rate, momentum); },
          .step =
              [beta = static_cast<float>(rate), alpha = static_cast<float>(momentum), gamma = static_cast<float>(pull)](
                  std::int64_t, const OuterNumbers& numbers) {
                for (std::size_t k = 0; k < numbers.theta.size(); ++k) {
                  float& delta = numbers.state[k];
                  delta = alpha * delta - beta * numbers.moved[k] + gamma * numbers.apart[k];
                  numbers.theta[k] += delta;
                }
              },
          .is_of_groups = true};
}

}  // namespace

RuleInfo consensus_rule() {
  return {"consensus",
          "momentum with a pull towards the mean of the partners",
          {kRate.name, kMomentum.name, kConsensus.name},
          consensus};
}

}  // namespace dadsim::protocols::outer
