#include "algorithms/low_rank/cogd.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "algorithms/cost.hpp"
#include "algorithms/methods.hpp"
#include "methods/idle_parameters.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {
namespace {

/// Returns the `share` quantile of the entries, interpolated linearly. NaN, in a diverging step, sorts above all
/// numbers.
float quantile(models::Vector values, double share) {
  std::sort(values.begin(), values.end(), [](float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); });
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<Eigen::Index>(at);
  const Eigen::Index above = std::min(below + 1, values.size() - 1);
  return values(below) + static_cast<float>(at - static_cast<double>(below)) * (values(above) - values(below));
}

/// Returns the work of `passes` passes over both factors of a pair; either layer gives the same.
step::Work passes_work(double passes) {
  const step::Expression entries = step::extent::in() * step::extent::out();
  return {.flops = 2.0 * passes * entries, .bytes_moved = passes * cost::kFloatBytes * entries, .launches = passes};
}

}  // namespace

std::vector<std::size_t> factor_pairs(const models::Network& network) {
  std::vector<std::size_t> pairs;
  for (std::size_t l = 0; l + 1 < network.layers(); ++l) {
    const models::WeightsOf<float>& v = network.layer(l);
    const models::WeightsOf<float>& u = network.layer(l + 1);
    if (network.chained(l) != spec::Activation::identity || v.out() >= std::min(v.in(), u.out())) continue;
    pairs.push_back(l++);
  }
  return pairs;
}

namespace {

/// Sums the squares of a matrix's deltas per output, over the rows of all sites; charges this work.
Pending<models::Matrix> sum_squares(TrainingStep& step, std::size_t l) {
  const step::Expression entries = step::extent::rows() * step::extent::out();
  step.charge(step::Phase::add, step::Role::workers,
              {{.flops = 2.0 * entries, .bytes_moved = cost::kFloatBytes * entries, .launches = 1.0}});
  return step.exchange().sum_as_it_is(step::extent::out(), step.deltas(l).colwise().squaredNorm());
}

}  // namespace

bool Cogd::is_v(std::size_t l) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [l](const CogdPair& pair) { return pair.l == l; });
}

bool Cogd::rests(const TrainingStep& step, std::size_t l) const {
  if (options_.update != CogdUpdate::alternating) return false;
  return step.number() % 2 == 0 ? is_u(l) : is_v(l);
}

void Cogd::run(TrainingStep& step) {
  if (!std::exchange(looked_, true)) {
    for (const std::size_t v : factor_pairs(step.network())) {
      CogdPair& pair = pairs_.emplace_back();
      pair.v = v;
      // Converts the index, since a step numbers tables last.
      while (&step.weights(pair.l) != &step.network().layer(v)) ++pair.l;
    }
  }
  std::vector<Pending<models::LayerGradient>> sums(step.matrices());
  std::vector<Pending<models::Matrix>> squares(step.matrices());
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    if (!rests(step, l)) sums[l] = step.exchange().sum(step.site_gradients(l));
    if (is_v(l) && options_.strength > 0) squares[l] = sum_squares(step, l);
    step.backpropagate(l);
  });
  step.backward_with_embeddings([&](std::size_t l) {
    const models::WeightsOf<float>& weights = step.weights(l);
    models::LayerGradient& gradient = step.gradient(l);
    if (rests(step, l)) {
      gradient = {models::Matrix::Zero(weights.out(), weights.in()), models::Vector::Zero(weights.bias.size())};
    } else {
      gradient = std::move(sums[l].wait());
    }
    for (CogdPair& pair : pairs_) {
      if (pair.l == l) {
        if (options_.strength > 0) {
          pair.residual = squares[l].wait().reshaped().cwiseSqrt();
          const float largest = pair.residual.maxCoeff();
          if (largest > 0) pair.residual /= largest;
        }
        pair.v_before = weights.weight;
        pair.v_bias_before = weights.bias;
      } else if (pair.l + 1 == l) {
        pair.u_before = weights.weight;
        pair.u_bias_before = weights.bias;
        if (options_.update == CogdUpdate::stale) {
          pair.gradients.push_back(std::move(gradient));
          gradient = {models::Matrix::Zero(weights.out(), weights.in()), models::Vector::Zero(weights.bias.size())};
          if (pair.gradients.size() > static_cast<std::size_t>(options_.staleness)) {
            gradient = std::move(pair.gradients.front());
            pair.gradients.pop_front();
          }
        }
      }
    }
  });
}

void Cogd::updated(TrainingStep& step, models::Network& network) {
  for (CogdPair& pair : pairs_) {
    models::WeightsOf<float>& v = network.layer(pair.v);
    models::WeightsOf<float>& u = network.layer(pair.v + 1);
    // Resets a frozen factor, which the optimizer's momentum has moved.
    if (rests(step, pair.l)) v.weight = pair.v_before, v.bias = pair.v_bias_before;
    if (rests(step, pair.l + 1)) u.weight = pair.u_before, u.bias = pair.u_bias_before;
    if (options_.l1 > 0 && !rests(step, pair.l)) {
      const auto threshold = static_cast<float>(options_.l1 * step.update_rule().rate);
      v.weight = v.weight.unaryExpr([threshold](float x) {
        return x > threshold ? x - threshold : x < -threshold ? x + threshold : 0.0F;
      });
    }
    if (options_.strength > 0) move(step, pair, u.weight, v.weight);
    if (options_.cap > 0) {
      for (Eigen::Index j = 0; j < u.weight.cols(); ++j) {
        const float length = u.weight.col(j).stableNorm();
        if (length > static_cast<float>(options_.cap)) u.weight.col(j) *= static_cast<float>(options_.cap) / length;
      }
    }
  }
  step.backward([&](std::size_t l) {
    const double passes = is_v(l)   ? (options_.l1 > 0 ? 2.0 : 0.0) + (options_.strength > 0 ? 3.0 : 0.0)
                          : is_u(l) ? (options_.strength > 0 ? 4.0 : 0.0) + (options_.cap > 0 ? 2.0 : 0.0)
                                    : 0.0;
    if (passes > 0) step.charge(step::Phase::update, step::Role::workers, {passes_work(passes)});
  });
  step.ranks().site.assign(step.layers(), 0);
  for (std::size_t l = 0; l < step.layers(); ++l) {
    step.ranks().site[l] = static_cast<double>(std::min(step.weights(l).in(), step.weights(l).out()));
  }
  for (const CogdPair& pair : pairs_) {
    const auto dead = static_cast<double>(dead_components(network, pair.v));
    for (const std::size_t l : {pair.l, pair.l + 1}) {
      step.ranks().site[l] = static_cast<double>(network.layer(pair.v).out()) - dead;
    }
  }
  step.ranks().merged = step.ranks().site;
}

void Cogd::move(TrainingStep& step, CogdPair& pair, models::Matrix& u, const models::Matrix& v) {
  const std::int64_t steps = step.update_rule().steps;
  const double share = steps > 0 ? static_cast<double>(steps - step.number()) / (2.0 * static_cast<double>(steps)) : 0;
  const models::Vector activity = v.cwiseAbs().rowwise().sum();
  const models::Vector lengths = u.colwise().stableNorm().transpose();
  const float much = quantile(activity, 1 - share);
  const float middle = quantile(lengths, 0.5);
  for (Eigen::Index j = 0; j < u.cols(); ++j) {
    if (!(activity(j) > much && lengths(j) > middle)) continue;
    const float of_v = (v.row(j) - pair.v_before.row(j)).stableNorm();
    const float of_u = (u.col(j) - pair.u_before.col(j)).stableNorm();
    const float ratio = std::min(1.0F, of_v / (of_u + 1e-5F));
    u.col(j) += static_cast<float>(options_.strength) * pair.residual(j) * ratio * pair.u_before.col(j);
    ++moved_;
  }
}

std::int64_t Cogd::dead_components(const models::Network& network, std::size_t pair) {
  const models::Vector lengths = network.layer(pair).weight.rowwise().stableNorm().cwiseProduct(
      network.layer(pair + 1).weight.colwise().stableNorm().transpose());
  return (lengths.array() <= 0.01F * lengths.maxCoeff()).count();
}

SynchronousMethod cogd_method() {
  static constexpr auto kUpdate =
      spec::choice<Cogd::CogdUpdate>("update",
                                     {{"synchronous", Cogd::CogdUpdate::synchronous},
                                      {"alternating", Cogd::CogdUpdate::alternating},
                                      {"stale", Cogd::CogdUpdate::stale}},
                                     "synchronous: update both factors in every step; alternating: V in even and U in "
                                     "odd steps; stale: U with gradients of earlier steps");
  static constexpr spec::IntegerParameter kStaleness{"staleness", 0, 1000, "4",
                                                     "stale: age of the gradients of U in steps"};
  static constexpr spec::RealParameter kStrength{"strength", 0, 10, "0.1", "s; 0: plain gradient descent"};
  static constexpr spec::RealParameter kL1{"l1", 0, 10, "0",
                                           "strength of the penalty on V, applied by a proximal step"};
  static constexpr spec::RealParameter kCap{"cap", 0, 1e6, "1", "maximum norm of a column u_j; 0: no limit"};
  return {{.name = "cogd",
           .family = "low-rank",
           .parameters = {kUpdate, kStaleness, kStrength, kL1, kCap},
           .check =
               [](const RunFacts& facts) {
                 return methods::faults_of_idle_parameters(facts.run.parameters, {{kStaleness, kUpdate, {"stale"}}});
               },
           .lossless = {{"update", "synchronous"}},
           // Counts the factors before the step, and delayed gradients.
           .state =
               [](const spec::ParameterValues& values) {
                 const double waiting =
                     kUpdate.of(values) == Cogd::CogdUpdate::stale ? static_cast<double>(kStaleness.of(values)) : 0;
                 return estimate::AlgorithmState{(1.0 + waiting) * step::extent::in() * step::extent::out()};
               },
           .remark = [](const RunFacts& facts) -> std::string {
             const std::optional<models::Network> network = network_of(facts);
             if (!network || !factor_pairs(*network).empty()) return "";
             return "cogd equals gradient "
                    "sharing: the model has no factored matrix: two dense layers with a narrow width and no activation "
                    "between them";
           }},
          [](const spec::RunSpec& run) {
            return std::make_unique<Cogd>(Cogd::Options{.update = kUpdate.of(run.parameters),
                                                        .staleness = kStaleness.of(run.parameters),
                                                        .strength = kStrength.of(run.parameters),
                                                        .l1 = kL1.of(run.parameters),
                                                        .cap = kCap.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
