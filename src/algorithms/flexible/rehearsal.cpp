#include "algorithms/flexible/rehearsal.hpp"

#include <utility>

#include "algorithms/flexible/plan.hpp"
#include "step/assignment.hpp"

namespace dadsim::algorithms {
namespace {

/// The alternatives in the order of preference among equals.
enum Way : unsigned { kGradient, kDad, kDadPassing, kEdad, kEdadPassing, kRank };

constexpr step::AlternativeSet set(Way way) { return 1U << way; }
constexpr step::AlternativeSet kAnyDad = set(kDad) | set(kDadPassing);
constexpr step::AlternativeSet kAnyEdad = set(kEdad) | set(kEdadPassing);
constexpr step::AlternativeSet kPassing = set(kDadPassing) | set(kEdadPassing);

}  // namespace

Rehearsal::Rehearsal(spec::RunSpec run, SharedFactorsOptions factors)
    : run_(std::move(run)),
      by_(FlexibleParameters::kPolicy.of(run_.parameters) == Policy::time ? step::Choices::By::time
                                                                          : step::Choices::By::bytes),
      lossy_(FlexibleParameters::kLossy.of(run_.parameters)),
      factors_(std::move(factors)) {}

step::Choices Rehearsal::choices(const TrainingStep& step) const {
  step::Choices choices;
  choices.by = by_;
  choices.alternatives = {{to_string(Statistic::gradient), false, false},
                          {to_string(Statistic::dad), false, false},
                          {to_string(Statistic::dad), false, true},
                          {to_string(Statistic::edad), true, false},
                          {to_string(Statistic::edad), true, true}};
  if (lossy_) choices.alternatives.push_back({to_string(Statistic::rank_dad), false, false});
  for (std::size_t l = 0; l < step.layers(); ++l) {
    const bool below = l > 0 && step.chained(l - 1);
    step::AlternativeSet offered = set(kGradient) | set(kDad);
    if (below) offered |= set(kDadPassing);
    if (step.chained(l)) offered |= below ? kAnyEdad : set(kEdad);
    if (may_lose_[l]) offered |= set(kRank);
    choices.offered.push_back(offered);
  }
  return choices;
}

void Rehearsal::only_in(TrainingStep& step, std::size_t l, step::AlternativeSet alternatives,
                        const std::function<void()>& what) {
  Entry entry{l, alternatives, step.exchange().uplink_bytes(), step.exchange().downlink_bytes()};
  step.recorder().only_in(alternatives);
  what();
  step.recorder().only_in(0);
  const std::vector<double>& now = step.exchange().uplink_bytes();
  for (std::size_t site = 0; site < now.size(); ++site) entry.over[site] = now[site] - entry.over[site];
  entry.down = step.exchange().downlink_bytes() - entry.down;
  entries_.push_back(std::move(entry));
}

void Rehearsal::run(TrainingStep& step) {
  entries_.clear();
  if (may_lose_.empty()) {
    for (const LayerPlan& plan : plan_of(run_, step.network())) may_lose_.push_back(lossy_ && plan.rule < 0);
  }
  std::vector<Layer> layers(step.layers());
  step.forward();
  step.backward([&](std::size_t l) {
    share(step, l, layers[l]);
    step.backpropagate(l);
  });
  step.backward([&](std::size_t l) { receive(step, l, layers[l]); });
  step.recorder().set_choices(choices(step));
  count_what_is_taken(step);
}

void Rehearsal::share(TrainingStep& step, std::size_t l, Layer& layer) {
  only_in(step, l, set(kGradient), [&] { layer.sum = step.exchange().sum(step.site_gradients(l)); });
  only_in(step, l, kAnyDad, [&] { layer.dad = share_rows(step, rows_of_step(step, l), true); });
  if (step.chained(l)) {
    only_in(step, l, kAnyEdad, [&] { layer.edad = share_rows(step, rows_of_step(step, l), false); });
  }
  if (!may_lose_[l]) return;
  only_in(step, l, set(kRank), [&] {
    const SiteFactors own = factorise_sites(step, l, factors_);
    layer.rank = step.exchange().combine(own.contribution(), refactorise(step, l, factors_));
  });
}

void Rehearsal::receive(TrainingStep& step, std::size_t l, Layer& layer) {
  models::Matrix own_delta;  // as dAD has it
  only_in(step, l, set(kGradient), [&] { step.gradient(l) = std::move(layer.sum.wait()); });
  only_in(step, l, kAnyDad, [&] {
    Rows& all = layer.dad.wait();
    gradient_of_rows(step, l, all[1], all[0], all.rows);
    own_delta = std::move(all.parts[1]);
  });
  const models::Matrix* inputs = &layer.dad.data()[0];
  if (step.chained(l)) {
    only_in(step, l, kAnyEdad, [&] {
      Rows& all = layer.edad.wait();
      recompute_delta(step, l, all[0], *outputs_, all.rows, delta_);
      gradient_of_rows(step, l, delta_, all[0], all.rows);
      inputs = &all[0];
    });
  } else {
    delta_ = std::move(own_delta);
  }
  if (l > 0 && step.chained(l - 1)) {
    only_in(step, l, kPassing, [&] {
      const step::Expression rows = step::extent::over_workers(step::extent::rows());
      delta_ = pass_down(step, l, delta_, rows);
    });
  }
  outputs_ = inputs;
  if (!may_lose_[l]) return;
  only_in(step, l, set(kRank), [&] { step.gradient(l) = multiply(step, l, layer.rank.wait()); });
}

void Rehearsal::count_what_is_taken(TrainingStep& step) const {
  const spec::ModelShape& shape = step.network().shape();
  const step::Assignment taken =
      step::fewest_bytes(step.recorder().structure(), step.recorder().sizes(), shape, shape, 1, spec::Precision::fp32);
  std::vector<std::int32_t> of_layer;
  for (const std::int32_t one : taken) {
    if (one >= 0) of_layer.push_back(one);
  }
  for (const Entry& entry : entries_) {
    if (((entry.alternatives >> of_layer.at(entry.layer)) & 1) == 0) step.exchange().forget(entry.over, entry.down);
  }
}

}  // namespace dadsim::algorithms
