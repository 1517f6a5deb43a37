#include <fmt/format.h>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

/// θ ← θ − η Δ; with η = 1 the mean of what workers have (local SGD).
class OuterSgd final : public OuterRule {
 public:
  explicit OuterSgd(double rate) : rate_(rate) {}
  double flops() const override { return rate_ == 1 ? 0 : 2; }
  double floats() const override { return rate_ == 1 ? 0 : 3; }
  std::string name(std::int64_t) const override { return fmt::format("rate {}", rate_); }
  void step(std::int64_t, const OuterNumbers& numbers) const override {
    const auto rate = static_cast<float>(rate_);
    for (std::size_t k = 0; k < numbers.theta.size(); ++k) numbers.theta[k] -= rate * numbers.moved[k];
  }

 private:
  double rate_;
};

}  // namespace

RuleInfo mean_rule() {
  return {"mean", "the mean of what workers have", {}, [](const spec::ParameterValues&, std::int64_t) {
            return std::unique_ptr<OuterRule>(std::make_unique<OuterSgd>(1));
          }};
}

RuleInfo sgd_rule() {
  return {"sgd", "plain steps", {kRate.name}, [](const spec::ParameterValues& values, std::int64_t) {
            return std::unique_ptr<OuterRule>(std::make_unique<OuterSgd>(kRate.of(values)));
          }};
}

}  // namespace dadsim::protocols::outer
