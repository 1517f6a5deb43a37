#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/templates.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::cli {
namespace {

namespace fs = std::filesystem;

/// Returns whether a character needs no escape in the path of a URI (RFC 3986).
bool is_unreserved(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_' || c == '~' || c == '/';
}

/// Returns the URI of the scenario.xsd installed with this program, or in its build folder. If there is none, returns
/// "scenario.xsd", a file next to the scenario.
std::string schema_uri() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return "scenario.xsd";
  // Layout: PREFIX/bin/dadsim; a build folder has src/ in place of bin/.
  const fs::path schema = program.parent_path().parent_path() / "share" / "dadsim" / "scenario.xsd";
  if (!fs::is_regular_file(schema, error)) return "scenario.xsd";
  std::string uri = "file://";
  for (const char c : schema.string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_unreserved(byte)) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri;
}

namespace fs = std::filesystem;
/// Returns the template's question, and the next command to type.
std::string next_steps(const Template& one, const std::string& path) {
  return fmt::format("{}\n  {}{}\n", one.question, one.command, path);
}

}  // namespace

std::string list_templates() {
  std::string text;
  for (const Template& one : templates()) text += fmt::format("{:<13}{}\n", one.name, one.question);
  return text;
}

Command::Names names_of_templates() {
  Command::Names names;
  for (const Template& one : templates()) names.emplace_back(one.name, one.question);
  return names;
}

void run_new(const po::variables_map& values) {
  const std::vector<std::string> operands = operands_of(values, 2, "dadsim new TEMPLATE FILE");
  if (operands.empty()) return print(list_templates());
  const Template* found = find_template(operands[0]);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const Template& one : templates()) names.push_back(one.name);
    throw UsageError(fmt::format("no template is called '{}'; {}", operands[0], suggestion(operands[0], names)));
  }
  const std::string path = operands.size() > 1 ? operands[1] : found->name + ".xml";
  const std::string schema = schema_uri();
  if (path == "-") {
    if (!found->table.empty()) {
      throw UsageError(
          fmt::format("template '{}' has two files, a scenario and its table; add a file name", found->name));
    }
    return write_file_atomically("-", scenario_of(*found, found->name + ".xml", "", schema));
  }
  if (path.empty()) throw UsageError("the file has an empty name");
  const fs::path table = fs::path(path).replace_extension(".csv");
  std::vector<std::pair<std::string, std::string>> files = {
      {path, scenario_of(*found, fs::path(path).filename().string(), table.filename().string(), schema)}};
  if (!found->table.empty()) {
    if (table.string() == path)
      throw UsageError(fmt::format("'{}' is also the name of the table; use a name ending in .xml", path));
    files.emplace_back(table.string(), std::string(found->table));
  }
  const bool force = values.contains("force");
  for (const auto& [name, content] : files) {
    if (!force) check_is_new(name, ", or --force");
  }
  for (const auto& [name, content] : files) {
    if (force) {
      write_file_atomically(name, content);
    } else {
      write_new(name, content, ", or --force");
    }
  }
  if (values.contains("quiet")) return;
  print(next_steps(*found, path));
  if (schema == "scenario.xsd") {
    print(std::string("For editors: dadsim support schema > scenario.xsd, next to the scenario.\n"));
  }
}

}  // namespace dadsim::cli
