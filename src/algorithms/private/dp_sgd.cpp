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
  return as_private(
      {{.name = "dp-sgd",
        .description = "Sites clip the gradient of every example and share the sum with Gaussian noise.",
        .source = "Abadi et al., Deep Learning with Differential Privacy, CCS 2016, arXiv 1607.00133; norms per "
                  "example as in "
                  "Goodfellow, arXiv 1510.01799, and Li et al., arXiv 2110.05679",
        .payload = "pq, and the q biases",
        .formula = "‖g_i‖² = Σ_l ‖Δ_iᵀ A_i‖² + ‖Σ_rows Δ_i‖²   for every example i, over all layers l\n"
                   "G = (1/B) (Σ_i min(1, C / ‖g_i‖) g_i + N(0, σ²C² I))",
        .compute =
            "the norm of every example's gradient in every layer, T²(p + q) or Tpq multiply-adds with T rows per "
            "example, and pq normally distributed numbers; nothing can be sent before the backward pass is over",
        .checks =
            "norms of single examples equal those of their own steps, in dense, convolutional and recurrent "
            "networks: to 3e-7\n"
            "no example, however large, adds more than C: to 1e-7 of it\n"
            "the variance of the noise over 40 seeds is σ²C²/B² (58,560 numbers, sampling error 0.6 %): 0.993 of it "
            "local, 0.998 central, 2.98 per site of three\n"
            "without clipping and noise it is the pooled gradient: to 2e-7\n"
            "ε of six published trainings on MNIST (TensorFlow Privacy): to 0.2 % with their conversion"},
       [](const spec::RunSpec& run) { return std::make_unique<DpSgd>(privacy_options(run.parameters)); }});
}

}  // namespace dadsim::algorithms
