#include "scenario/load.hpp"

#include <optional>
#include <stdexcept>

#include "scenario/element.hpp"
#include "scenario/files.hpp"
#include "scenario/findings.hpp"
#include "scenario/overrides.hpp"
#include "scenario/print.hpp"
#include "scenario/read_platform.hpp"
#include "scenario/schema.hpp"

namespace dadsim {

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides, const Catalog& catalog) {
  Findings findings(path);
  const std::optional<std::string> content = read_document(path, kScenarioDocument, findings);
  findings.throw_if_any();
  Element root = parse_xml(*content, kScenarioDocument, findings);
  findings.throw_if_any();
  if (root.name == "scenario") {
    for (const std::string& text : overrides) apply_override(root, text, findings);
  }

  Scenario scenario = read_scenario(root, {path, catalog, findings});
  check_against_schema(root, findings);
  findings.throw_if_any();
  scenario.hash = hash_of(scenario);
  return scenario;
}

PlatformSpec load_platform_file(const std::string& path, const Catalog& catalog) {
  Findings findings(path);
  std::optional<PlatformSpec> platform = read_platform_file({path, catalog, findings});
  findings.throw_if_any();
  if (!platform) throw std::logic_error("a platform without findings was not read");
  return std::move(*platform);
}

}  // namespace dadsim
