#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::cli {

/// A scenario to start from: src/cli/templates/NAME.xml. A template that learns from a table has NAME.csv too.
struct Template {
  std::string name;
  std::string_view scenario;
  std::string_view table;  ///< text of the table; empty: the scenario names no table
  std::string question;    ///< text of its <description>
  std::string command;     ///< command before the name of the file: "dadsim sweep ", from the template's comment
};

const std::vector<Template>& templates();

/// Returns the template of this name, or nullptr.
const Template* find_template(const std::string& name);

/// Returns the scenario for a file `file` with its schema at `schema` (a URI); its own table, if any, has the name
/// `table`.
std::string scenario_of(const Template& one, const std::string& file, const std::string& table,
                        const std::string& schema);

}  // namespace dadsim::cli
