#include "protocols/local/outer_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace dadsim::protocols {

using world::Datum;
using world::History;
using world::Value;

Value OuterRule::begin(History& history, const Value& theta, std::size_t parameters) const {
  if (states == 0) return theta;
  const std::size_t count = states * parameters;
  return history.make(fmt::format("outer begin {}", count), {theta}, [count](History::Inputs in) {
    Datum result{in[0]->numbers, {}};
    result.numbers.insert(result.numbers.end(), count, 0.0F);
    return result;
  });
}

Value OuterRule::after(History& history, const Value& theta_and_state, const Value& moved,
                       const std::vector<std::size_t>& matrices, std::int64_t round, const Value& apart) const {
  const std::size_t parameters = std::accumulate(matrices.begin(), matrices.end(), std::size_t{0});
  std::vector<Value> inputs{theta_and_state, moved};
  if (apart) inputs.push_back(apart);
  return history.make(fmt::format("outer step {} {}", parameters, name(round)), std::move(inputs),
                      [step = step, matrices, parameters, round](History::Inputs in) {
                        Datum result = *in[0];
                        const std::vector<float>& delta = in[1]->numbers;
                        const std::span<float> all = result.numbers;
                        const auto of_group =
                            in.size() > 2 ? std::span<const float>(in[2]->numbers) : std::span<const float>();
                        step(round, {.theta = all.first(parameters),
                                     .state = all.subspan(delta.size()),
                                     .moved = std::span(delta).first(parameters),
                                     .apart = of_group.first(std::min(of_group.size(), parameters)),
                                     .matrices = matrices});
                        for (std::size_t k = parameters; k < delta.size(); ++k)
                          all[k] -= of_group.empty() ? delta[k] : delta[k] - of_group[k];
                        return result;
                      });
}

namespace outer {
namespace {

/// Returns the rule θ ← θ − η Δ. With η = 1, θ becomes the mean of the workers' weights (local SGD).
OuterRule plain_steps(double rate) {
  return {.flops = rate == 1 ? 0.0 : 2.0,
          .floats = rate == 1 ? 0.0 : 3.0,
          .name = [rate](std::int64_t) { return fmt::format("rate {}", rate); },
          .step =
              [rate = static_cast<float>(rate)](std::int64_t, const OuterNumbers& numbers) {
                for (std::size_t k = 0; k < numbers.theta.size(); ++k) numbers.theta[k] -= rate * numbers.moved[k];
              }};
}

/// Stochastic gradient descent with Nesterov momentum (the outer optimizer of DiLoCo; Douillard et al., arXiv
/// 2311.08105, in the form of PyTorch):
///   v ← μ v + Δ,  θ ← θ − η (Δ + μ v)
/// or, if `folded`, with the rate inside the momentum (MuLoCo; bentherien/muloco-1, 33cc333,
/// muloco/pytorch/muloco.py); both are equal while the rate is constant:
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

/// Nesterov momentum updated only in every B-th step (delayed Nesterov; Liu et al., arXiv 2401.09135; the form of
/// utnslab/halos, 4b5bf73). s sums Δ:
///   steps B, 2 B, …   m ← μ m + s / B,  θ ← θ − η (μ m + Δ / B),  s ← 0
///   other steps       θ ← θ − η Δ / B
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

/// Momentum with a pull towards the mean θ of a group (NoLoCo; arXiv 2506.10911; gensyn-ai/noloco, a1b4a42,
/// src/noloco/sparse_optimizer_c.py, with γ = β). Means are over the group:
///   δ ← α δ − β mean Δ + γ (mean θ − θ),  θ ← θ + δ
/// In random pairs of many workers, and without Δ, the spread of θ shrinks if γ < 2 (1 − α²).
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

struct Alignment {
  double threshold, shrink, turn;
};

/// Corrects Δ of one matrix in place, by the cosine c of Δ and the momentum v (in the spirit of HeLoCo, arXiv
/// 2606.00271, whose constants were not at hand). With the confidence q = ‖v‖ / (‖v‖ + ‖Δ‖):
///   c ≥ threshold       Δ is unchanged
///   0 ≤ c < threshold   Δ turns towards v: (1 − λ) Δ + λ ‖Δ‖ v / ‖v‖,  λ = q · turn · (1 − c / threshold)
///   c < 0               the component of Δ along v shrinks by the share q · shrink
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

/// Nesterov momentum in PyTorch's form, with Δ corrected by align(): v ← μ v + Δ,  θ ← θ − η (Δ + μ v)
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

const std::vector<RuleInfo>& rules() {
  using Values = spec::ParameterValues;
  static const std::vector<std::string> of_nesterov{kRate.name, kMomentum.name, kWarmUp.name, kFinalMomentum.name};
  static const std::vector<RuleInfo> all{
      {"mean", "the mean of the workers' weights", {}, [](const Values&, std::int64_t) { return plain_steps(1); }},
      {"sgd",
       "plain steps",
       {kRate.name},
       [](const Values& values, std::int64_t) { return plain_steps(kRate.of(values)); }},
      {"nesterov", "Nesterov momentum", of_nesterov,
       [](const Values& values, std::int64_t rounds) { return nesterov(values, rounds, false); }},
      {"nesterov-folded", "Nesterov momentum with the learning rate inside the momentum", of_nesterov,
       [](const Values& values, std::int64_t rounds) { return nesterov(values, rounds, true); }},
      {"adam", "Adam", {kRate.name, kMomentum.name, kSecondMoment.name}, adam},
      {"delayed-nesterov",
       "Nesterov momentum that is updated every outer-buffer steps",
       {kRate.name, kMomentum.name, kBuffer.name},
       delayed_nesterov},
      {"consensus",
       "momentum with a pull towards the mean of the partners",
       {kRate.name, kMomentum.name, kConsensus.name},
       consensus},
      {"nesterov-aligned",
       "Nesterov momentum that corrects changes of matrices against the momentum",
       {kRate.name, kMomentum.name, kAlign.name, kShrink.name, kTurn.name},
       aligned_nesterov}};
  return all;
}

std::vector<spec::ParameterSpec> parameters(const char* rule) {
  std::vector<std::string> names;
  std::string words = "outer optimizer";
  for (const RuleInfo& one : rules()) {
    names.emplace_back(one.name);
    words += fmt::format("{} {}: {}", names.size() > 1 ? ";" : ":", one.name, one.description);
  }
  return {spec::choice_parameter(kRule.name, rule, std::move(names), words),
          kRate,
          kMomentum,
          kSecondMoment,
          kConsensus,
          kBuffer,
          kWarmUp,
          kFinalMomentum,
          kAlign,
          kShrink,
          kTurn};
}

OuterRule make(const spec::ParameterValues& values, std::int64_t rounds) {
  return std::ranges::find(rules(), kRule.of(values), &RuleInfo::name)->make(values, rounds);
}

}  // namespace outer
}  // namespace dadsim::protocols
