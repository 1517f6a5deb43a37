#include "scenario/vocabulary.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "scenario/element.hpp"
#include "scenario/schema.hpp"

namespace dadsim::scenario {
namespace {

/// What scenario.xsd says inside <xs:appinfo> of elements that may stand several times in their parent: a choice that
/// repeats, which lets children come in any order, cannot say that of one of them.
constexpr std::string_view kRepeatable = "repeatable";

constexpr DocumentKind kSchemaDocument{"schema", "<xs:schema>", "</xs:schema>"};

std::string value_of(const Element& element, std::string_view attribute) {
  const Attribute* found = element.find(attribute);
  return found == nullptr ? std::string() : found->value;
}

/// Reads the declarations of one schema; it knows as much of XML Schema as scenario.xsd uses.
class SchemaReader {
 public:
  explicit SchemaReader(const Element& schema) : schema_(schema) {}

  std::vector<ElementRule> rules() const {
    std::vector<ElementRule> rules;
    std::set<std::string> inside;
    for (const Element& declaration : schema_.children) {
      if (declaration.name != "xs:element") continue;
      // An element of a named type is text alone: every type with a name is a simple one.
      ElementRule rule{.name = value_of(declaration, "name"), .text = declaration.find("type") != nullptr};
      collect(declaration, rule);
      inside.insert(rule.children.begin(), rule.children.end());
      rules.push_back(std::move(rule));
    }
    for (ElementRule& rule : rules) rule.root = !inside.contains(rule.name);
    return rules;
  }

 private:
  void collect(const Element& declaration, ElementRule& rule) const {
    for (const Element& part : declaration.children) {
      if (part.name == "xs:attribute") {
        rule.attributes.push_back(value_of(part, "name"));
      } else if (part.name == "xs:element") {
        rule.children.push_back(value_of(part, "ref"));
      } else if (part.name == "xs:group") {
        collect(group(value_of(part, "ref")), rule);
      } else if (part.name == "xs:appinfo") {
        if (part.text != kRepeatable) throw std::logic_error("scenario.xsd: xs:appinfo '" + part.text + "'");
        rule.repeatable = true;
      } else {
        if (part.name == "xs:anyAttribute") rule.any_attribute = true;
        collect(part, rule);
      }
    }
  }

  const Element& group(const std::string& name) const {
    const auto found = std::ranges::find_if(schema_.children, [&](const Element& declaration) {
      return declaration.name == "xs:group" && value_of(declaration, "name") == name;
    });
    if (found == schema_.children.end()) throw std::logic_error("scenario.xsd has no group '" + name + "'");
    return *found;
  }

  const Element& schema_;
};

std::vector<ElementRule> rules_of_schema() {
  Findings findings("scenario.xsd");
  const Element schema = parse_xml(std::string(scenario_schema()), kSchemaDocument, findings);
  if (!findings.empty()) throw std::logic_error("scenario.xsd is not well-formed");
  return SchemaReader(schema).rules();
}

}  // namespace

const std::vector<ElementRule>& vocabulary() {
  static const std::vector<ElementRule> kRules = rules_of_schema();
  return kRules;
}

const ElementRule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(vocabulary(), name, &ElementRule::name);
  return found == vocabulary().end() ? nullptr : &*found;
}

}  // namespace dadsim::scenario
