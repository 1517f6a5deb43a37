#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/statement.hpp"

namespace dadsim::report {

/// The head of every report: the program that made it, its scenario, and its assumptions.
struct ReportHead {
  // Empty texts are left out of the JSON.
  std::string version = {}, build = {}, simgrid = {}, network_model = {}, scenario_name = {};
  std::optional<std::string> description = {};  ///< description of the scenario; nothing: left out of the JSON
  std::vector<Statement> assumptions = {};
};

}  // namespace dadsim::report
