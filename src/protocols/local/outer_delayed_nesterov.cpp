#include <fmt/format.h>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// Nesterov momentum that is new every B-th step alone (delayed Nesterov; Liu et al., arXiv 2401.09135; the form of
/// utnslab/halos, 4b5bf73): s sums Δ, and in step B, 2 B, …
///   m ← μ m + s / B,  θ ← θ − η (μ m + Δ / B),  s ← 0;   in others  θ ← θ − η Δ / B
class OuterDelayedNesterov final : public OuterRule {
 public:
  OuterDelayedNesterov(double rate, double momentum, std::int64_t buffer)
      : rate_(rate), momentum_(momentum), buffer_(buffer) {}
  std::size_t states() const override { return 2; }
  double flops() const override { return 6; }
  double floats() const override { return 6; }
  std::string name(std::int64_t round) const override {
    return fmt::format("delayed {} {} {} {}", rate_, momentum_, buffer_, is_new(round));
  }
  void step(std::int64_t round, const OuterNumbers& numbers) const override {
    const auto rate = static_cast<float>(rate_), momentum = static_cast<float>(momentum_);
    const float share = 1 / static_cast<float>(buffer_);
    const std::size_t count = numbers.theta.size();
    for (std::size_t k = 0; k < count; ++k) {
      float& m = numbers.state[k];
      float& sum = numbers.state[count + k];
      float step = share * numbers.moved[k];
      sum += numbers.moved[k];
      if (is_new(round)) {
        m = momentum * m + share * sum;
        step += momentum * m;
        sum = 0;
      }
      numbers.theta[k] -= rate * step;
    }
  }

 private:
  bool is_new(std::int64_t round) const { return (round + 1) % buffer_ == 0; }
  double rate_, momentum_;
  std::int64_t buffer_;
};

}  // namespace

RuleInfo delayed_nesterov_rule() {
  return {"delayed-nesterov",
          "Nesterov momentum that is new every outer-buffer steps",
          {kRate.name, kMomentum.name, kBuffer.name},
          [](const spec::ParameterValues& values, std::int64_t) {
            return std::unique_ptr<OuterRule>(
                std::make_unique<OuterDelayedNesterov>(kRate.of(values), kMomentum.of(values), kBuffer.of(values)));
          }};
}

}  // namespace dadsim::protocols::outer
