#pragma once

#include <optional>
#include <string>

namespace dadsim::sim {

/// Why flow fidelity does not hold somewhere.
struct FlowRefusal {
  std::string fault;   ///< as errors name it
  double in_step = 0;  ///< seconds that it would come to if ranks kept in step; 0: not known
  bool apart = false;  ///< ranks come to a collective apart
};

/// Nothing: it holds.
using Refused = std::optional<FlowRefusal>;

}  // namespace dadsim::sim
