#include <memory>

#include "algorithms/exact/gradient_sharing.hpp"

namespace dadsim::algorithms {

SynchronousMethod gradient_sharing_method() {
  return {
      {.name = GradientSharing::kName,
       .description = "Every site sends its gradients and all apply their sum (dSGD, data parallelism).",
       .source = "Dean et al., Large Scale Distributed Deep Networks, NeurIPS 2012; the baseline of arXiv 2102.09631",
       .payload = "pq",
       .family = "exact",
       .formula = "G_s = Δ_sᵀ A_s, with N_s ÷ ΣN in Δ_s\n"
                  "G = Σ_s G_s",
       .compute = "nothing",
       .checks = "Equals the pooled gradient to 1e-5, with 1 to 16 sites of equal and unequal batches "
                 "(tests/algorithms/contract_test.cpp)\n"
                 "Bytes of ResNet-18 and of the LSTM per epoch: 1,023 and 7,730 MB, as published with PowerSGD "
                 "(tests/algorithms/power_sgd_bytes_test.cpp)",
       .sends_gradients = true,
       .sums_gradients = true,
       .sums_in_buckets = true,
       .is_baseline = true,
       .exact = true},
      [](const spec::RunSpec&) { return std::make_unique<GradientSharing>(); }};
}

}  // namespace dadsim::algorithms
