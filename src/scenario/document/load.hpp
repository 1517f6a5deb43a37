#pragma once

#include <string>
#include <vector>

#include "scenario/language/catalog.hpp"
#include "scenario/scenario.hpp"
#include "scenario/xml/element.hpp"

namespace dadsim::scenario {

/// A scenario file, read once, to be completed many times with other overrides. What it refers to is read each time.
class ScenarioSource {
 public:
  /// Throws InputError if there is no such file or it is no XML.
  explicit ScenarioSource(std::string path);
  /// As if this text stood in a file of that path.
  ScenarioSource(std::string path, std::string text);

  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }

  /// As load_scenario.
  Scenario load(const std::vector<std::string>& overrides, const Catalog& catalog) const;
  /// Without its <sweep>, <scale-study> and <goal>, which overrides may still name: one point of such a study.
  Scenario load_point(const std::vector<std::string>& overrides, const Catalog& catalog) const;

 private:
  Scenario complete(const std::vector<std::string>& overrides, const Catalog& catalog, bool with_questions) const;

  std::string path_, text_;
  Element root_;
};

/// Reads, validates and completes a scenario. `overrides` are "path=value" of --set, applied in order before anything
/// is checked. Throws InputError with everything that is wrong.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides, const Catalog& catalog);

/// Reads a platform file: one that starts with <cluster-platform> is read and checked; one of SimGrid, which starts
/// with <platform>, is only recognised: what it holds is for Catalog::check_platform to say. Throws InputError with
/// everything that is wrong.
spec::PlatformSpec load_platform_file(const std::string& path, const Catalog& catalog);

/// The resolved scenario as XML, every default filled in and every path absolute: loading it gives an equal scenario.
std::string print_scenario(const Scenario& scenario);

}  // namespace dadsim::scenario
