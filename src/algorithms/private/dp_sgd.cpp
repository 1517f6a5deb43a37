#include "algorithms/private/dp_sgd.hpp"

#include <memory>

#include "algorithms/methods.hpp"
#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {

models::ConstBlock rows_of_site(const TrainingStep& step, const models::ConstBlock& all, std::size_t site) {
  Eigen::Index before = 0;
  Eigen::Index examples = 0;
  for (std::size_t s = 0; s < step.sites(); ++s) {
    if (s < site) before += step.samples(s);
    examples += step.samples(s);
  }
  const Eigen::Index per_example = all.rows() / examples;
  return all.middleRows(before * per_example, step.samples(site) * per_example);
}

void add_gradient_to_row(const models::ConstBlock& deltas, const models::ConstBlock& inputs, models::Matrix& row) {
  if (deltas.rows() == 0) return;
  const Eigen::Index weights = deltas.cols() * inputs.cols();
  Eigen::Map<models::Matrix>(row.data(), deltas.cols(), inputs.cols()).noalias() +=
      models::counted(deltas.transpose() * inputs);
  if (row.size() > weights) row.rightCols(row.size() - weights) += deltas.colwise().sum();
}

void DpSgd::run(TrainingStep& step) {
  using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper
  step.forward();
  ExampleNorms norms(step);
  step.backward([&](std::size_t l) {
    norms.add_layer(step, l);
    step.backpropagate(l);
  });
  const models::Vector factors = noisy_.factors(step, norms);
  const double batch = noisy_.batch(step, norms);
  std::vector<NoisySum::Released> released(step.layers());
  step.backward([&](std::size_t l) {
    const models::Matrix scaled = clipped_deltas(step, l, factors);
    const models::WeightsOf<float>& weights = step.weights(l);
    released[l] = noisy_.release(step, l, batch, parameters(), weights.weight.size() + weights.bias.size(),
                                 [&](std::size_t site, models::Matrix& sum) {
                                   add_gradient_to_row(rows_of_site(step, scaled, site), step.input(site, l), sum);
                                 });
  });
  step.backward([&](std::size_t l) {
    const models::Matrix sum = released[l].wait();
    const models::WeightsOf<float>& weights = step.weights(l);
    step.gradient(l).weight = Eigen::Map<const models::Matrix>(sum.data(), weights.out(), weights.in());
    step.gradient(l).bias = sum.rightCols(weights.bias.size()).transpose();
  });
}

SynchronousMethod dp_sgd_method() {
  return as_private({{.name = "dp-sgd"}, [](const spec::RunSpec& run) {
                       return std::make_unique<DpSgd>(privacy_options(run.parameters));
                     }});
}

}  // namespace dadsim::algorithms
