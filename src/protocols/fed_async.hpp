#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Asynchronous federated optimization (Xie et al., arXiv 1903.03934, algorithm 1): of every update
///     x ← (1 − α_s) x + α_s x_k,   α_s = α · f(s),
/// s new models since client k was sent its own, and f (§5.2)
///     constant     1
///     polynomial   (s + 1)^−a
///     hinge        1 where s ≤ b, else 1 / (a (s − b) + 1).
/// Clients are held to the model that they were sent by a proximal term ½ ρ ‖w − w_t‖², where `mu` (ρ) is not 0.
ProtocolInfo fed_async_info();

}  // namespace dadsim::protocols
