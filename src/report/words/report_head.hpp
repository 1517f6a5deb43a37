#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/statement.hpp"

namespace dadsim::report {

/// What every report says of itself beside its answer: by what it was made, of which scenario, and on which
/// assumptions.
struct ReportHead {
  // Empty: not in the JSON.
  std::string version = {}, build = {}, simgrid = {}, network_model = {}, scenario_name = {};
  std::optional<std::string> description = {};  ///< of the scenario; none: not in the JSON
  std::vector<Statement> assumptions = {};
};

}  // namespace dadsim::report
