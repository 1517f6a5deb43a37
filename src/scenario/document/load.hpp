#pragma once

#include <string>
#include <vector>

#include "scenario/language/catalog.hpp"
#include "scenario/scenario.hpp"
#include "scenario/xml/element.hpp"

namespace dadsim::scenario {

/// A scenario file that is read once and completed many times with different overrides. The files that it names are
/// read each time.
class ScenarioSource {
 public:
  /// Reads the file. Throws InputError if there is no such file or it is not XML.
  explicit ScenarioSource(std::string path);
  /// Uses `text` as the contents of a file with this path.
  ScenarioSource(std::string path, std::string text);

  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  /// Returns assignments of --set that remove the layout in the file, "timed-as.tensor=".
  std::vector<std::string> without_layout() const;

  /// Loads the scenario with these overrides; see load_scenario().
  Scenario load(const std::vector<std::string>& overrides, const Catalog& catalog) const;
  /// Loads one point of a study, without <sweep>, <scale-study> and <goal>. Overrides may still name these.
  Scenario load_point(const std::vector<std::string>& overrides, const Catalog& catalog) const;

 private:
  Scenario complete(const std::vector<std::string>& overrides, const Catalog& catalog, bool with_questions) const;

  std::string path_, text_;
  Element root_;
};

/// Reads, validates and completes a scenario. `overrides` are "path=value" of --set, applied in order before any check.
/// Throws InputError with all errors.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides, const Catalog& catalog);

/// Reads a platform file. A <cluster-platform> is read and checked; the contents of a SimGrid <platform> are checked
/// later, by Catalog::check_platform. Throws InputError with all errors.
spec::PlatformSpec load_platform_file(const std::string& path, const Catalog& catalog);

/// Returns the resolved scenario as XML, with every default filled in and every path absolute: loading it gives an
/// equal scenario.
std::string print_scenario(const Scenario& scenario);

}  // namespace dadsim::scenario
