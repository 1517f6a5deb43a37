#include <memory>

#include "algorithms/private/rgp.hpp"

namespace dadsim::algorithms {

SynchronousMethod rgp_method() {
  return as_private(
      {{.name = "rgp",
        .description = "Sites clip the gradients of examples on two thin carriers of every matrix, and share their "
                       "sums with noise.",
        .source = "Yu, Zhang, Chen, Yin, Liu, Large Scale Private Learning via Low-rank Reparametrization, ICML "
                  "2021, arXiv "
                  "2106.09352",
        .payload = "r(p + q), or pq where that is less, and the q biases",
        .formula = "L, R = one power iteration on W/‖W‖ − W₀/‖W₀‖, W₀ at the end of the warm-up (on W during it)\n"
                   "G_L,i = Δ_iᵀ A_i R,  G_R,i = A_iᵀ Δ_i L   for every example i\n"
                   "G_L, G_R = (1/B) (Σ_i min(1, C / ‖(G_L,i, G_R,i)_l‖) (G_L,i, G_R,i) + N(0, σ²C² I))\n"
                   "G = G_L Rᵀ + L G_Rᵀ − L Lᵀ G_L Rᵀ",
        .compute =
            "the power iteration, products of A and Δ with the carriers in place of Δᵀ A, norms of examples in r "
            "columns, and the way back from the carriers; nothing can be sent before the backward pass is over",
        .checks = "without clipping and noise it is the gradient projected onto the tangent space at L Rᵀ: to 1e-5\n"
                  "the projection is one, and orthogonal: to 1e-5\n"
                  "clipping and noise as of dp-sgd",
        .parameters = {Rgp::kRank, Rgp::kWarmUp},
        .lossless = {{"rank", "65536"}},
        // The weights at the end of the warm-up, the carriers, and the rows of A and Δ in r columns.
        .state =
            [](const spec::ParameterValues& values) {
              using namespace step::extent;  // NOLINT(google-build-using-namespace): a formula
              return estimate::AlgorithmState{in() * out() + matrix_rank(0) * (in() + out() + 2.0 * rows()),
                                              static_cast<std::int32_t>(Rgp::kRank.of(values))};
            }},
       [](const spec::RunSpec& run) {
         return std::make_unique<Rgp>(privacy_options(run.parameters), rgp_options(run.parameters));
       }});
}

}  // namespace dadsim::algorithms
