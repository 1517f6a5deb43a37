#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "protocols/local/outer_rule.hpp"

namespace dadsim::protocols::outer {
namespace {

struct Alignment {
  double threshold, shrink, turn;
};

/// Corrects Δ of one matrix by its cosine c with the momentum v, in place (in the spirit of HeLoCo, arXiv 2606.00271,
/// whose constants were not at hand). With the confidence q = ‖v‖ / (‖v‖ + ‖Δ‖):
///   c ≥ threshold: Δ;  c < 0: Δ without the share q · shrink of its part along v;
///   otherwise: (1 − λ) Δ + λ ‖Δ‖ v / ‖v‖,  λ = q · turn · (1 − c / threshold)
void align(std::span<float> delta, std::span<const float> v, const Alignment& how) {
  double dot = 0, delta_squares = 0, v_squares = 0;
  for (std::size_t k = 0; k < delta.size(); ++k) {
    const double x = delta[k], y = v[k];
    dot += x * y;
    delta_squares += x * x;
    v_squares += y * y;
  }
  if (delta_squares == 0 || v_squares == 0) return;
  const double length = std::sqrt(delta_squares), momentum = std::sqrt(v_squares);
  const double cosine = dot / (length * momentum), confidence = momentum / (momentum + length);
  if (cosine >= how.threshold) return;
  const double turned = cosine < 0 ? 0 : confidence * how.turn * (1 - cosine / how.threshold);
  const double along = cosine < 0 ? -confidence * how.shrink * cosine * length / momentum : turned * length / momentum;
  for (std::size_t k = 0; k < delta.size(); ++k)
    delta[k] = static_cast<float>((1 - turned) * static_cast<double>(delta[k]) + along * static_cast<double>(v[k]));
}

/// Nesterov momentum of PyTorch's form, of such Δ: v ← μ v + Δ,  θ ← θ − η (Δ + μ v)
OuterRule aligned_nesterov(const spec::ParameterValues& values, std::int64_t) {
  const auto rate = kRate.of(values), momentum = kMomentum.of(values);
  const Alignment how{kAlign.of(values), kShrink.of(values), kTurn.of(values)};
  return {.states = 1,
          .flops = 14,
          .floats = 10,
          .name =
              [=](std::int64_t) {
                return fmt::format("aligned {} {} {} {} {}", rate, momentum, how.threshold, how.shrink, how.turn);
              },
          .step =
              [how, eta = static_cast<float>(rate), mu = static_cast<float>(momentum)](std::int64_t,
                                                                                       const OuterNumbers& numbers) {
                std::vector<float> delta(numbers.moved.begin(), numbers.moved.end());
                std::size_t first = 0;
                for (const std::size_t count : numbers.matrices) {
                  align(std::span(delta).subspan(first, count), numbers.state.subspan(first, count), how);
                  first += count;
                }
                for (std::size_t k = 0; k < delta.size(); ++k) {
                  float& v = numbers.state[k];
                  v = mu * v + delta[k];
                  numbers.theta[k] -= eta * (delta[k] + mu * v);
                }
              }};
}

}  // namespace

RuleInfo aligned_nesterov_rule() {
  return {"nesterov-aligned",
          "Nesterov momentum that corrects changes of matrices against it",
          {kRate.name, kMomentum.name, kAlign.name, kShrink.name, kTurn.name},
          aligned_nesterov};
}

}  // namespace dadsim::protocols::outer
