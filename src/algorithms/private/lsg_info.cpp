#include <memory>

#include "algorithms/private/lsg.hpp"
#include "methods/idle_parameters.hpp"

namespace dadsim::algorithms {

SynchronousMethod lsg_method() {
  static constexpr spec::RealParameter kDensity{"density", 1e-6, 1, "0.25",
                                                "share of the numbers of every matrix's carriers that is released"};
  static constexpr auto kMask = spec::choice<Lsg::Rule>(
      "mask", {{"random", Lsg::Rule::random}, {"magnitude", Lsg::Rule::magnitude}, {"synflow", Lsg::Rule::synflow}},
      "which: drawn anew in every step; the largest of the noisy gradients so far; "
      "those through which most would flow");
  static constexpr spec::RealParameter kMemory{
      "memory", 0, 1, "0.9",
      "magnitude: what is left of the noisy gradients after each step; 0: the last one "
      "alone; 1: all of them"};
  return as_private(
      {{.name = "lsg",
        .description = "RGP of which sites share but some of the numbers, so that noise is added to few.",
        .source = "in the spirit of Ito, Liew, Takahashi, Sasaki, Onizuka, Scaling Private Deep Learning with Low-Rank "
                  "and Sparse "
                  "Gradients, arXiv 2207.02699, whose rule of what is kept could not be read; scores of synaptic flow: "
                  "Tanaka et "
                  "al., arXiv 2006.05467",
        .payload = "density · min(r(p + q), pq), and the q biases",
        .formula = "L, R, G_L,i, G_R,i as of rgp\n"
                   "S by chance; or the largest of |H R|, |Hᵀ L| with H = Σ_s memory^{t−1−s} G_s; or by synaptic flow\n"
                   "G_L, G_R = (1/B) (Σ_i min(1, C / ‖S ⊙ (G_L,i, G_R,i)_l‖) S ⊙ (G_L,i, G_R,i) + S ⊙ N(0, σ²C² I))\n"
                   "G = G_L Rᵀ + L G_Rᵀ − L Lᵀ G_L Rᵀ",
        .compute =
            "what rgp computes; norms of examples over the mask, which need their gradients in full; the scores, "
            "which every site finds alike, and their largest",
        .checks = "without clipping, noise and mask it is the pooled gradient: to 2e-7\n"
                  "as many numbers as are kept are released, and have noise; clipping as of dp-sgd\n"
                  "accuracy over |S| at one ε on MNIST: a plateau, docs/private.md",
        .parameters = {Rgp::kRank, Rgp::kWarmUp, kDensity, kMask, kMemory},
        .check =
            [](const RunFacts& facts) {
              return methods::faults_of_idle_parameters(facts.run.parameters, {{kMemory, kMask, {"magnitude"}}});
            },
        .lossless = {{"rank", "65536"}, {"density", "1"}},
        // As rgp, and the history.
        .state =
            [](const spec::ParameterValues& values) {
              using namespace step::extent;  // NOLINT(google-build-using-namespace): a formula
              return estimate::AlgorithmState{
                  2.0 * in() * out() + matrix_rank(0) * (2.0 * (in() + out()) + 2.0 * rows()),
                  static_cast<std::int32_t>(Rgp::kRank.of(values))};
            }},
       [](const spec::RunSpec& run) {
         return std::make_unique<Lsg>(privacy_options(run.parameters), rgp_options(run.parameters),
                                      Lsg::Sparsity{.density = kDensity.of(run.parameters),
                                                    .rule = kMask.of(run.parameters),
                                                    .memory = kMemory.of(run.parameters)});
       }});
}

}  // namespace dadsim::algorithms
