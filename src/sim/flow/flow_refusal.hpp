#pragma once

#include <optional>
#include <string>

namespace dadsim::sim {

/// Reason why flow fidelity is not valid.
struct FlowRefusal {
  std::string fault;   ///< phrase for error messages
  double in_step = 0;  ///< seconds of the collective if ranks kept in step; 0: unknown
  bool apart = false;  ///< ranks begin a collective at different dates
};

/// Reason for a refusal; empty if flow fidelity is valid.
using Refused = std::optional<FlowRefusal>;

}  // namespace dadsim::sim
