#pragma once

#include <optional>
#include <string>

namespace dadsim::sim {

/// The reason for which flow fidelity does not hold.
struct FlowRefusal {
  std::string fault;   ///< phrase as used in errors
  double in_step = 0;  ///< seconds that ranks in step would take; 0: unknown
  bool apart = false;  ///< ranks begin a collective at different dates
};

/// Empty if flow fidelity is available.
using Refused = std::optional<FlowRefusal>;

}  // namespace dadsim::sim
