#include "algorithms/flexible/layer_rows.hpp"

#include <stdexcept>

#include "algorithms/cost.hpp"
#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {
namespace {

using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper

void append_rows(models::Matrix& to, const models::ConstBlock& rows) {
  const Eigen::Index before = to.rows();
  to.conservativeResize(before + rows.rows(), rows.cols());
  to.bottomRows(rows.rows()) = rows;
}

}  // namespace

void RowsOfSteps::add(TrainingStep& step, std::size_t l) {
  sites_.resize(step.sites());
  if (earlier_.empty()) {
    earlier_.assign(step.sites(), 0);
  } else {
    for (std::size_t site = 0; site < earlier_.size(); ++site) earlier_[site] += last_[site];
  }
  last_.clear();
  for (std::size_t site = 0; site < step.sites(); ++site) {
    append_rows(sites_[site].inputs, step.input(site, l));
    append_rows(sites_[site].deltas, step.delta(site, l));
    last_.push_back(static_cast<std::int32_t>(step.samples(site)));
  }
}

SiteRows RowsOfSteps::take(TrainingStep& step) {
  return {[this](std::size_t site) { return models::ConstBlock(sites_.at(site).inputs); },
          [this](std::size_t site) { return models::ConstBlock(sites_.at(site).deltas); },
          rows() + earlier_rows(step.recorder().add_earlier(earlier_))};
}

void GradientsOfSteps::add(TrainingStep& step, std::size_t l, const TrainingStep::GradientOfSite& own) {
  step.charge(step::Phase::add, step::Role::workers,
              {{.flops = parameters(), .bytes_moved = 12.0 * parameters(), .launches = 1.0}});
  const models::WeightsOf<float>& weights = step.weights(l);
  if (sites_.empty()) {
    sites_.assign(step.sites(), {models::Matrix::Zero(weights.out(), weights.in()),
                                 models::Vector::Zero(weights.has_bias() ? weights.out() : 0)});
  }
  for (std::size_t site = 0; site < step.sites(); ++site) own(site, sites_[site]);
}

TrainingStep::GradientOfSite GradientsOfSteps::sum() const {
  return [this](std::size_t site, models::LayerGradient& sum) {
    sum.weight += sites_[site].weight;
    sum.bias += sites_[site].bias;
  };
}

Pending<Rows> share_rows(TrainingStep& step, const SiteRows& own, bool with_deltas) {
  Contribution message{own.rows, {{in(), own.input}}};
  if (with_deltas) message.parts.push_back({out(), own.delta});
  return step.exchange().combine(message, concatenation());
}

void average_deltas(TrainingStep& step, std::size_t l) {
  const auto sites = static_cast<double>(step.sites());
  const Combination mean = [&step, sites](const Rows& all, step::Role who) -> Rows {
    step.charge(step::Phase::add, who,
                {{.flops = all.rows * out(),
                  .bytes_moved = cost::kFloatBytes * (1.0 + 1.0 / sites) * all.rows * out(),
                  .launches = 1.0}});
    const Eigen::Index rows = all[0].rows() / static_cast<Eigen::Index>(step.sites());
    models::Matrix sum = all[0].topRows(rows);
    for (Eigen::Index site = 1; site < static_cast<Eigen::Index>(step.sites()); ++site) {
      sum += all[0].middleRows(site * rows, rows);
    }
    sum /= static_cast<float>(sites);
    return {ceil((1.0 / sites) * all.rows), {std::move(sum)}, {}};  // an integer except for rounding
  };
  const Rows received = step.exchange().combine({rows(), {{out(), rows_of_step(step, l).delta}}}, mean).wait();
  step.replace_deltas(l, received[0]);
}

models::LayerGradient gradient_of_rows(TrainingStep& step, std::size_t l, const models::Matrix& deltas,
                                       const models::Matrix& inputs, const step::Expression& rows) {
  step.charge(step::Phase::weight_gradient, step::Role::workers,
              {{.flops = 2.0 * rows * in_with_bias() * out(),
                .bytes_moved = cost::kFloatBytes * (rows * (in() + out()) + parameters()),
                .launches = 1.0}});
  models::LayerGradient gradient;
  models::weight_gradient<float>(deltas, inputs, step.weights(l).has_bias(), gradient);
  return gradient;
}

models::Matrix pass_down(TrainingStep& step, std::size_t l, const models::Matrix& deltas,
                         const step::Expression& rows) {
  step.charge(step::Phase::backpropagate, step::Role::workers,
              {{.flops = 2.0 * rows * in() * out(),
                .bytes_moved = cost::kFloatBytes * (2.0 * rows * (in() + out()) + parameters()),
                .launches = 2.0}},
              true);
  return models::counted(deltas * step.weights(l).weight);
}

void recompute_delta(TrainingStep& step, std::size_t l, const models::Matrix& inputs, const models::Matrix& outputs,
                     const step::Expression& rows, models::Matrix& delta) {
  const std::optional<spec::Activation> activation = step.chained(l);
  if (!activation) throw std::logic_error("the Δ of this matrix cannot be recomputed");
  if (models::derivative_from_output(*activation)) {
    models::multiply_derivative_from_output(*activation, outputs, delta);
    return;
  }
  step.charge(step::Phase::forward, step::Role::workers,
              {{.flops = 2.0 * rows * in() * out(),
                .bytes_moved = cost::kFloatBytes * (rows * in() + 2.0 * rows * out() + parameters()),
                .launches = 2.0}});
  models::Matrix pre_activation;
  models::forward_rows<float>(step.weights(l), *activation, inputs, &pre_activation);
  models::multiply_derivative(*activation, pre_activation, delta);
}

}  // namespace dadsim::algorithms
