#include <memory>

#include "algorithms/sign/demo.hpp"

namespace dadsim::algorithms {

SynchronousMethod demo_method() {
  static constexpr spec::IntegerParameter kKept{"kept", 1, 4096, "32",
                                                "k: coefficients of every chunk that a site sends"};
  static constexpr spec::IntegerParameter kChunk{
      "chunk", 1, 256, "64", "s: chunks are as high and as wide as the largest divisors of the matrix up to it"};
  static constexpr spec::FloatParameter kDecay{"decay", 0, 1, "0.999", "β of the momentum"};
  static constexpr auto kPacking =
      spec::choice<bool>("packing", {{"wide", false}, {"packed", true}},
                         "wide: fp32 and int32 of each coefficient; packed: bf16 and 16 bits");
  return {
      {.name = "demo",
       .description =
           "Sites keep a momentum each and share its strongest cosine waves, chunk by chunk; all step by the "
           "sign of what these add up to (decoupled momentum, DeMo).",
       .source = "Peng, Quesnelle, Kingma, DeMo: Decoupled Momentum Optimization, arXiv 2411.19870; reference "
                 "implementation bloc97/DeMo",
       .payload =
           "2k per chunk of s × s entries: a value and a place of each coefficient (packed: k), and of the biases "
           "likewise",
       .family = "quantisation",
       .formula = "δ_s ← β δ_s + η g_s\n"
                  "q_s = top-k of each chunk of DCT(δ_s);  δ_s ← δ_s − DCT⁻¹(q_s)\n"
                  "Q = mean of the q_s, per coefficient over the sites that have sent it\n"
                  "W ← W − η (sgn DCT⁻¹(Q) + λ W)",
       .compute = "two cosine transforms of the momentum, there and back, one of what has arrived, each a product with "
                  "matrices of s × s from both sides; a selection in every chunk",
       .checks =
           "its definition with cosines written out, at three sites over five steps: δ to 1e-5, and every sign that "
           "is not next to nothing\n"
           "all coefficients kept: the sign of the gradient, and δ is nothing after every step (1e-6)\n"
           "128 bytes, packed, for a chunk of 64 × 64: 128 times fewer than fp32\n"
           "digits at four sites, 1000 samples, ten epochs: 84.4 %, packed too, where SGD reaches 83.8 %",
       .parameters = {kKept, kChunk, kDecay, kPacking},
       .compresses = false,
       .optimizer = Needs::plain_sgd,
       .applies_signs = true,
       // The momentum.
       .state =
           [](const spec::ParameterValues&) {
             return estimate::AlgorithmState{step::extent::in_with_bias() * step::extent::out(), 0, true};
           }},
      [](const spec::RunSpec& run) {
        return std::make_unique<DeMo>(DeMo::Options{.decay = kDecay.of(run.parameters),
                                                    .kept = kKept.of(run.parameters),
                                                    .chunk = kChunk.of(run.parameters),
                                                    .packed = kPacking.of(run.parameters)});
      }};
}

}  // namespace dadsim::algorithms
