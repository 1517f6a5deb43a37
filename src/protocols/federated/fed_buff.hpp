#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Buffered asynchronous aggregation (Nguyen et al., arXiv 2106.06639): of every K updates
///     x ← x − η_g / K Σ Δ_k / √(1 + s_k)
/// with s_k new models since client k was sent its own. Clients count the same, however many samples they have, as in
/// the paper.
EventDrivenMethod fed_buff_method();

}  // namespace dadsim::protocols
