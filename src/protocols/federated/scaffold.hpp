#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Stochastic controlled averaging (Karimireddy et al., arXiv 1910.06378, algorithm 1 with option II). In a round with
/// the model x and the server's control variate c, client i makes K steps
///     y ← y − η_l (g_i(y) − c_i + c)                from y = x
///     c_i⁺ = c_i − c + (x − y) / (K η_l)
/// and sends x − y and c_i⁺ − c_i; the server takes
///     x ← x − η_g Σ p_i (x − y_i),   c ← c + Σ (n_i / n) (c_i⁺ − c_i).
/// p_i are the clients' shares of the samples of the round, n_i / n of all samples: for clients of equal size the
/// paper's means, 1/|S| and |S|/N · 1/|S|; for others what makes c the gradient of the pooled loss, as in federated
/// averaging. Where the rate changes within a round, K η_l is the sum of the rates. A client takes its new c_i over
/// when the server has used its answer, so that c stays the mean of the c_i whatever fails.
///
/// (x − y) / (K η_l) is the mean of the client's gradients only where a step is plain SGD: the scenario's optimizer has
/// to be that.
EventDrivenMethod scaffold_method();

}  // namespace dadsim::protocols
