#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// The server takes −Σ p_k Δ_k as the gradient of an optimizer of its own (Reddi et al., arXiv 2003.00295, algorithm
/// 2). With D = Σ p_k (y_k − x):
///     momentum   m ← β₁ m + D,            x ← x + η m           (Hsu et al., arXiv 1909.06335)
///     adam       m ← β₁ m + (1 − β₁) D,   v ← β₂ v + (1 − β₂) D²
///     yogi       m as adam,               v ← v − (1 − β₂) D² sign(v − D²)
///     adagrad    m as adam,               v ← v + D²
/// and of the last three x ← x + η m / (√v + τ), v = τ² at first. β₁ = 0.9 (adagrad: 0), β₂ = 0.99 and τ = 0.001 are
/// those of the paper's experiments (§5). Nothing is corrected for its beginning, as in the
/// paper. Running statistics are no parameters: they take the mean.
EventDrivenMethod fed_opt_method();

}  // namespace dadsim::protocols
