#pragma once

#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// Clients minimise F_k(w) + ½ μ ‖w − w_t‖² (Li et al., arXiv 1812.06127, equation 2), and stragglers' partial work is
/// kept.
EventDrivenMethod fed_prox_method();

}  // namespace dadsim::protocols
