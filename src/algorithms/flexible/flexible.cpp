#include "algorithms/flexible/flexible.hpp"

#include <utility>

namespace dadsim::algorithms {

SharedFactorsOptions factors_of(const spec::ParameterValues& values) {
  return {{.cap = FlexibleParameters::kCap.of(values),
           .iterations = FlexibleParameters::kIterations.of(values),
           .tolerance = FlexibleParameters::kTolerance.of(values)},
          Padding::agree};
}

Flexible::Flexible(spec::RunSpec run) : run_(std::move(run)), factors_(factors_of(run_.parameters)) {}

void Flexible::run(TrainingStep& step) {
  if (plan_.empty()) {
    plan_ = plan_of(run_, step.network());
    backlog_.resize(plan_.size());
    averaged_ = averaged_layer(run_, step.network());
  }
  sharing_.clear();
  sharing_.resize(step.layers());
  for (std::size_t l = 0; l < step.layers(); ++l) {
    sharing_[l].due = (step.number() + 1) % plan_[l].every == 0;
    if (!sharing_[l].due) step.freeze(l);
  }
  step.forward();
  step.backward([&](std::size_t l) {
    share(step, l);
    step.backpropagate(l);
  });
  step.backward([&](std::size_t l) {
    if (sharing_[l].due) receive(step, l);
  });
}

void Flexible::share_gradient(TrainingStep& step, std::size_t l) {
  const TrainingStep::GradientOfSite own = step.site_gradients(l);
  if (plan_[l].every == 1) {
    sharing_[l].sum = step.exchange().sum(own);
    return;
  }
  GradientsOfSteps& before = backlog_[l].gradients;
  before.add(step, l, own);
  if (!sharing_[l].due) return;
  sharing_[l].sum = step.exchange().sum(before.sum());
  before.clear();
}

void Flexible::share(TrainingStep& step, std::size_t l) {
  const LayerPlan& plan = plan_[l];
  if (averaged_ == l) average_deltas(step, l);
  if (plan.statistic == Statistic::none) return step.keep_gradients(l);
  if (plan.statistic == Statistic::gradient) return share_gradient(step, l);
  RowsOfSteps& rows = backlog_[l].rows;
  if (plan.every > 1) rows.add(step, l);
  if (!sharing_[l].due) return;
  const SiteRows own = plan.every > 1 ? rows.take(step) : rows_of_step(step, l);
  if (plan.statistic == Statistic::rank_dad) {
    const SiteFactors factors = factorise_sites(step, l, factors_, own);
    sharing_[l].rows = step.exchange().combine(factors.contribution(), refactorise(step, l, factors_, own.rows));
  } else {
    sharing_[l].rows = share_rows(step, own, plan.statistic == Statistic::dad || l + 1 == step.layers());
  }
  rows.clear();
}

void Flexible::receive(TrainingStep& step, std::size_t l) {
  const Statistic statistic = plan_[l].statistic;
  if (statistic == Statistic::none) return;
  if (statistic == Statistic::gradient) {
    step.gradient(l) = std::move(sharing_[l].sum.wait());
    return;
  }
  Rows& all = sharing_[l].rows.wait();
  if (statistic == Statistic::rank_dad) {
    step.gradient(l) = multiply(step, l, all);
    return;
  }
  const models::Matrix& inputs = all[0];
  if (all.parts.size() > 1) {
    delta_ = std::move(all.parts[1]);
  } else {
    recompute_delta(step, l, inputs, *outputs_, all.rows, delta_);
  }
  step.gradient(l) = gradient_of_rows(step, l, delta_, inputs, all.rows);
  if (l > 0 && plan_[l - 1].statistic == Statistic::edad) delta_ = pass_down(step, l, delta_, all.rows);
  outputs_ = &inputs;
}

}  // namespace dadsim::algorithms
