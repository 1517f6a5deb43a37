#include "scenario/load.hpp"

#include <algorithm>
#include <optional>

#include "scenario/element.hpp"
#include "scenario/files.hpp"
#include "scenario/findings.hpp"
#include "scenario/overrides.hpp"
#include "scenario/print.hpp"
#include "scenario/read.hpp"
#include "scenario/schema.hpp"

namespace dadsim {
namespace {

/// Whether the reader has found something wrong with the element: at its tag, an attribute, or its text.
bool said_already(const Findings& findings, const Element* element) {
  if (element == nullptr) return !findings.empty();
  return findings.any_at(element->origin) || findings.any_at(element->text_origin) ||
         std::ranges::any_of(element->attributes,
                             [&](const Attribute& attribute) { return findings.any_at(attribute.origin); });
}

}  // namespace

Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides, const Catalog& catalog) {
  Findings findings(path);
  const std::optional<std::string> content = read_scenario_file(path, findings);
  findings.throw_if_any();
  Element root = parse_xml(*content, findings);
  findings.throw_if_any();
  if (root.name == "scenario") {
    for (const std::string& text : overrides) apply_override(root, text, findings);
  }

  Scenario scenario = read_scenario(root, {path, catalog, findings});
  // The reader says it better; the schema guards against what it might let pass.
  const Findings read = findings;
  const std::vector<SchemaError> errors = findings.full() ? std::vector<SchemaError>{} : validate_against_schema(root);
  for (const SchemaError& error : errors) {
    if (!said_already(read, error.element)) {
      findings.add(error.element == nullptr ? root.origin : error.element->origin, error.what, "as in scenario.xsd");
    }
  }
  findings.throw_if_any();
  scenario.hash = hash_of(scenario);
  return scenario;
}

}  // namespace dadsim
