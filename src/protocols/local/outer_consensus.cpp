#include <fmt/format.h>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// Momentum with a pull towards the mean of the partners (NoLoCo; arXiv 2506.10911; gensyn-ai/noloco, a1b4a42,
/// src/noloco/sparse_optimizer_c.py), of θ, Δ of a group:
///   δ ← α δ − β mean Δ + γ (mean θ − θ),  θ ← θ + δ
/// There γ = β. Without Δ the spread of θ over many workers that meet in random pairs shrinks if γ < 2 (1 − α²).
class OuterConsensus final : public OuterRule {
 public:
  OuterConsensus(double rate, double momentum, double consensus)
      : rate_(rate), momentum_(momentum), consensus_(consensus) {}
  std::size_t states() const override { return 1; }
  double flops() const override { return 6; }
  double floats() const override { return 6; }
  std::string name(std::int64_t) const override {
    return fmt::format("pull {} rate {} momentum {}", consensus_, rate_, momentum_);
  }
  bool is_of_groups() const override { return true; }
  void step(std::int64_t, const OuterNumbers& numbers) const override {
    const auto rate = static_cast<float>(rate_), momentum = static_cast<float>(momentum_);
    const auto consensus = static_cast<float>(consensus_);
    for (std::size_t k = 0; k < numbers.theta.size(); ++k) {
      float& delta = numbers.state[k];
      delta = momentum * delta - rate * numbers.moved[k] + consensus * numbers.apart[k];
      numbers.theta[k] += delta;
    }
  }

 private:
  double rate_, momentum_, consensus_;
};

}  // namespace

RuleInfo consensus_rule() {
  return {"consensus",
          "momentum with a pull towards the mean of the partners",
          {kRate.name, kMomentum.name, kConsensus.name},
          [](const spec::ParameterValues& values, std::int64_t) {
            return std::unique_ptr<OuterRule>(
                std::make_unique<OuterConsensus>(kRate.of(values), kMomentum.of(values), kConsensus.of(values)));
          }};
}

}  // namespace dadsim::protocols::outer
