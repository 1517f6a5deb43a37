#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Asynchronous federated optimization (Xie et al., arXiv 1903.03934, algorithm 1): the update that makes model t
///     x_t ← (1 − α_s) x_{t−1} + α_s x_k,   α_s = α · f(s),
/// has the staleness s = t − τ, where client k was sent model τ: 1 if no other model was made meanwhile. f (§5.2) is
///     constant     1
///     polynomial   (s + 1)^−a                                    (a = 0.5 in the paper's experiments)
///     hinge        1 where s ≤ b, else 1 / (a (s − b) + 1)       (a = 10, b = 4 there).
/// Clients are held to the model that they were sent by a proximal term ½ ρ ‖w − w_t‖², where `mu` (ρ) is not 0.
EventDrivenMethod fed_async_method();

}  // namespace dadsim::protocols
