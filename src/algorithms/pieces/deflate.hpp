#pragma once

#include "algorithms/pieces/factorise.hpp"
#include "algorithms/pieces/gradient_product.hpp"

namespace dadsim::algorithms {

/// The power iteration and the rule of stopping of the released code of arXiv 2102.09631 (bbradt/edad, dad-torch), for
/// comparison with its published effective ranks; factorise() is the default. Components before the k-th are deflated,
///     v ← M Mᵀ v − Σ_{j<k} σ_j² b_j (b_jᵀ v),  v ← v ÷ ‖v‖,
/// from a start of numbers in [0, 1), `iterations` times; σ_k = ‖Mᵀ v‖, b_k = v, c_k = Mᵀ v ÷ σ_k. The search ends
/// where two directions that follow each other are alike, ‖b_k − b_{k−1}‖ < tolerance · ‖b_{k−1}‖ (the rank is
/// exhausted and noise has turned back to the direction before: both are dropped), where σ_k is zero or NaN, and
/// at the cap. Of what the code does, two accidents are left out: it drops the last components of its
/// list whatever has ended the search, and it fails on a matrix of zeros. With Stop::released the former is as in the
/// code behind the published ranks (bbradt/edad at a93efcd): two are dropped at the cap, and one that counts where σ_k
/// was zero.
Factors factorise_by_deflation(const GradientProduct& product, const FactoriseOptions& options, std::uint64_t seed,
                               std::uint32_t stream, std::uint32_t step);

}  // namespace dadsim::algorithms
