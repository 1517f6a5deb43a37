#include "algorithms/gradient_sharing.hpp"

namespace dadsim {

void GradientSharing::run(TrainingStep& step) {
  std::vector<Pending<LayerGradient>> sums(step.matrices());
  step.forward();
  step.backward_with_tables([&](std::size_t l) {
    step.record_weight_gradient();
    sums[l] =
        step.exchange().sum([&](std::size_t site, LayerGradient& sum) { step.add_weight_gradient(site, l, sum); });
    step.propagate(l);
  });
  step.backward_with_tables([&](std::size_t l) { step.gradient(l) = std::move(sums[l].wait()); });
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
      .make = [](const ParameterValues&) { return std::make_unique<GradientSharing>(); }};
}

}  // namespace dadsim
