#include "scenario/document/load.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <utility>

#include "scenario/document/print.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "scenario/elements/read_platform.hpp"
#include "scenario/language/overrides.hpp"
#include "scenario/language/schema.hpp"
#include "scenario/xml/files.hpp"
#include "scenario/xml/findings.hpp"

namespace dadsim::scenario {

namespace {

/// Refuses a platform, a workload or a recorded step where a scenario is expected.
void check_root(const std::string& path, std::string_view text) {
  const std::optional<RootElement> root = find_root_element(text);
  const bool platform = root && (root->name == "platform" || root->name == "cluster-platform");
  if (!platform && !(root && (root->name == "workload" || root->name == "recorded-step"))) return;
  throw InputError({path, root->line, fmt::format("is a <{}>, not a scenario", root->name),
                    fmt::format("use it in a scenario: <{} file=\"{}\"{}/>", platform ? "platform" : "timed-as", path,
                                platform ? "" : " batch=\"1\"")});
}

}  // namespace

ScenarioSource::ScenarioSource(std::string path) : path_(std::move(path)) {
  Findings findings(path_);
  std::optional<std::string> content = read_document(path_, kScenarioDocument, findings);
  findings.throw_if_any();
  *this = ScenarioSource(path_, std::move(*content));
}

ScenarioSource::ScenarioSource(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  check_root(path_, text_);
  Findings findings(path_);
  root_ = parse_xml(text_, kScenarioDocument, findings);
  findings.throw_if_any();
}

Scenario ScenarioSource::load(const std::vector<std::string>& overrides, const Catalog& catalog) const {
  return complete(overrides, catalog, true);
}

Scenario ScenarioSource::load_point(const std::vector<std::string>& overrides, const Catalog& catalog) const {
  return complete(overrides, catalog, false);
}

namespace {

/// Checks that the scenario has everything that its plan may change.
void check_allowed(const Element& root, const spec::GoalSpec& goal, Findings& findings) {
  for (const spec::AllowedChange& one : goal.allowed) {
    if (std::optional<Fault> fault = fault_of_path(root, one.varied.path)) {
      fault->what = fmt::format("path=\"{}\" of <allow>: {}", printable(one.varied.path), fault->what);
      findings.add({"", one.varied.line}, *std::move(fault));
    }
  }
}

}  // namespace

Scenario ScenarioSource::complete(const std::vector<std::string>& overrides, const Catalog& catalog,
                                  bool with_questions) const {
  Findings findings(path_);
  Element root = root_;
  if (root.name == "scenario") {
    for (const std::string& text : overrides) apply_override(root, text, findings);
  }
  if (!with_questions) {
    std::erase_if(root.children, [](const Element& child) {
      return child.name == "sweep" || child.name == "goal" || child.name == "scale-study";
    });
  }

  Scenario scenario = read_scenario(root, {path_, catalog, findings});
  if (scenario.goal && findings.empty()) check_allowed(root, *scenario.goal, findings);
  check_against_schema(root, findings);
  findings.throw_if_any();
  if (catalog.files_of_platform) scenario.platform_files = catalog.files_of_platform(scenario.platform);
  scenario.hash = hash_of(scenario);
  return scenario;
}

std::vector<std::string> ScenarioSource::without_layout() const {
  std::vector<std::string> set;
  for (const Element& child : root_.children) {
    if (child.name != "timed-as") continue;
    for (const Attribute& one : child.attributes)
      if (const std::string path = "timed-as." + one.name; sets_layout(path)) set.push_back(path + '=');
  }
  return set;
}

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides, const Catalog& catalog) {
  return ScenarioSource(path).load(overrides, catalog);
}

spec::PlatformSpec load_platform_file(const std::string& path, const Catalog& catalog) {
  Findings findings(path);
  std::optional<spec::PlatformSpec> platform = read_platform_file({path, catalog, findings});
  findings.throw_if_any();
  if (!platform) throw std::logic_error("the platform was not read, but no error was found");
  return std::move(*platform);
}

}  // namespace dadsim::scenario
