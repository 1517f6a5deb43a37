#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::cli {

/// A scenario to start from: src/cli/templates/NAME.xml. If it learns from a table, there is also NAME.csv.
struct Template {
  std::string name;
  std::string_view scenario;
  std::string_view table;  ///< text of the table; empty: the scenario names no table
  std::string question;    ///< text of the scenario's <description>
  std::string command;     ///< command without the file name, from the template's comment: "dadsim sweep "
};

const std::vector<Template>& templates();

/// Returns the template of this name, or nullptr.
const Template* find_template(const std::string& name);

/// Returns the scenario for writing to `file`. `schema`: URI of its schema; `table`: name of the file for the
/// template's table, if there is one.
std::string scenario_of(const Template& one, const std::string& file, const std::string& table,
                        const std::string& schema);

}  // namespace dadsim::cli
