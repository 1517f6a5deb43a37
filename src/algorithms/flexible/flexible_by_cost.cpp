#include "algorithms/flexible/flexible_by_cost.hpp"

#include <utility>

#include "algorithms/flexible/plan.hpp"

namespace dadsim::algorithms {
namespace {

/// The alternatives in the order of preference among equals.
enum Way : unsigned { kGradient, kDad, kDadPassing, kEdad, kEdadPassing, kRank };

constexpr step::AlternativeSet set(Way way) { return 1U << way; }
constexpr step::AlternativeSet kAnyDad = set(kDad) | set(kDadPassing);
constexpr step::AlternativeSet kAnyEdad = set(kEdad) | set(kEdadPassing);
constexpr step::AlternativeSet kPassing = set(kDadPassing) | set(kEdadPassing);

}  // namespace

FlexibleByCost::FlexibleByCost(spec::RunSpec run, SharedFactorsOptions factors)
    : run_(std::move(run)),
      by_(FlexibleParameters::kPolicy.of(run_.parameters) == Policy::time ? step::Alternatives::By::time
                                                                          : step::Alternatives::By::bytes),
      lossy_(FlexibleParameters::kLossy.of(run_.parameters)),
      factors_(factors) {}

step::Alternatives FlexibleByCost::alternatives(const TrainingStep& step) const {
  step::Alternatives ways;
  ways.by = by_;
  ways.all = {{to_string(Statistic::gradient), false, false},
              {to_string(Statistic::dad), false, false},
              {to_string(Statistic::dad), false, true},
              {to_string(Statistic::edad), true, false},
              {to_string(Statistic::edad), true, true}};
  if (lossy_) ways.all.push_back({to_string(Statistic::rank_dad), false, false});
  for (std::size_t l = 0; l < step.layers(); ++l) {
    const bool below = l > 0 && step.chained(l - 1);
    step::AlternativeSet offered = set(kGradient) | set(kDad);
    if (below) offered |= set(kDadPassing);
    if (step.chained(l)) offered |= below ? kAnyEdad : set(kEdad);
    if (may_lose_[l]) offered |= set(kRank);
    ways.offered.push_back(offered);
  }
  return ways;
}

void FlexibleByCost::run(TrainingStep& step) {
  if (may_lose_.empty()) {
    for (const LayerPlan& plan : plan_of(run_, step.network())) may_lose_.push_back(lossy_ && plan.rule < 0);
  }
  LayerAlternatives ways(step);
  std::vector<Layer> layers(step.layers());
  step.forward();
  step.backward([&](std::size_t l) {
    share(step, ways, l, layers[l]);
    step.backpropagate(l);
  });
  step.backward([&](std::size_t l) { receive(step, ways, l, layers[l]); });
  ways.offer(alternatives(step));
}

void FlexibleByCost::share(TrainingStep& step, LayerAlternatives& ways, std::size_t l, Layer& layer) {
  ways.carry_out(l, set(kGradient), [&] { layer.sum = step.exchange().sum(step.site_gradients(l)); });
  ways.carry_out(l, kAnyDad, [&] { layer.dad = share_rows(step, rows_of_step(step, l), true); });
  if (step.chained(l)) {
    ways.carry_out(l, kAnyEdad, [&] { layer.edad = share_rows(step, rows_of_step(step, l), false); });
  }
  if (!may_lose_[l]) return;
  ways.carry_out(l, set(kRank), [&] {
    const SiteFactors own = factorise_sites(step, l, factors_);
    layer.rank = step.exchange().combine(own.contribution(), refactorise(step, l, factors_));
  });
}

void FlexibleByCost::receive(TrainingStep& step, LayerAlternatives& ways, std::size_t l, Layer& layer) {
  models::Matrix own_delta;  // as dAD has it
  ways.carry_out(l, set(kGradient), [&] { step.gradient(l) = std::move(layer.sum.wait()); });
  ways.carry_out(l, kAnyDad, [&] {
    Rows& all = layer.dad.wait();
    gradient_of_rows(step, l, all[1], all[0], all.rows);
    own_delta = std::move(all.parts[1]);
  });
  const models::Matrix* inputs = &layer.dad.data()[0];
  if (step.chained(l)) {
    ways.carry_out(l, kAnyEdad, [&] {
      Rows& all = layer.edad.wait();
      recompute_delta(step, l, all[0], *outputs_, all.rows, delta_);
      gradient_of_rows(step, l, delta_, all[0], all.rows);
      inputs = &all[0];
    });
  } else {
    delta_ = std::move(own_delta);
  }
  if (l > 0 && step.chained(l - 1)) {
    ways.carry_out(l, kPassing, [&] {
      const step::Expression rows = step::extent::over_workers(step::extent::rows());
      delta_ = pass_down(step, l, delta_, rows);
    });
  }
  outputs_ = inputs;
  if (!may_lose_[l]) return;
  ways.carry_out(l, set(kRank), [&] { step.gradient(l) = multiply(step, l, layer.rank.wait()); });
}

}  // namespace dadsim::algorithms
