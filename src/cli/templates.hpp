#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::cli {

/// A scenario to begin with: src/cli/templates/NAME.xml, and NAME.csv where it learns from a table.
struct Template {
  std::string name;
  std::string_view scenario;
  std::string_view table;  ///< empty: it names no file
  std::string question;    ///< its <description>
  std::string command;     ///< command for the file, before its name: "dadsim sweep ", taken from its comment
};

const std::vector<Template>& templates();

/// nullptr if there is none of that name.
const Template* find_template(const std::string& name);

/// The scenario as it is to be written into a file `file`, whose schema is found at `schema` (a URI); a table of its
/// own is called `table`.
std::string scenario_of(const Template& one, const std::string& file, const std::string& table,
                        const std::string& schema);

}  // namespace dadsim::cli
