#include "algorithms/gradient_sharing.hpp"

#include "algorithms/training_step.hpp"

namespace dadsim::algorithms {

void GradientSharing::run(TrainingStep& step) {
  std::vector<Pending<models::LayerGradient>> sums(step.matrices());
  step.forward();
  step.backward_with_embeddings([&](std::size_t l) {
    sums[l] = step.exchange().sum(step.site_gradients(l));
    step.backpropagate(l);
  });
  step.backward_with_embeddings([&](std::size_t l) { step.gradient(l) = std::move(sums[l].wait()); });
}

AlgorithmInfo gradient_sharing_info() {
  return {
      .name = "gradient-sharing",
      .description = "Every site sends its gradients and all apply their sum (dSGD, data parallelism).",
      .source = "Dean et al., Large Scale Distributed Deep Networks, NeurIPS 2012; the baseline of arXiv 2102.09631",
      .payload = "pq",
      .sharing = Sharing::one_network,
      .exact = true,
      .parameters = {},
      .make = [](const spec::ParameterValues&) { return std::make_unique<GradientSharing>(); }};
}

}  // namespace dadsim::algorithms
