#include "scenario/language/schema.hpp"

#include <libxml/tree.h>
#include <libxml/xmlschemas.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <regex>
#include <stdexcept>
#include <utility>

#include "scenario/language/rule.hpp"
#include "scenario/scenario.md.hpp"
#include "scenario/xml/xml_writer.hpp"
#include "support/split.hpp"
#include "support/watched_memory.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxErrors = 1000;

using Open = XmlWriter::Open;

void document(XmlWriter& xml, const std::string& words) {
  const Open annotation(xml, "xs:annotation");
  Open(xml, "xs:documentation").content(words);
}

/// Returns the meaning of an attribute, with links of the page removed.
std::string meaning_of(const std::string& element, const AttributeRule& rule) {
  std::string words = rule.words.empty() ? attribute_words(element, rule.name) : rule.words;
  if (!rule.left_out.empty()) words += fmt::format(" Default: {}.", rule.left_out);
  static const std::regex kLink(R"(\[([^\]]*)\]\([^)]*\))");
  return std::regex_replace(words, kLink, "$1");
}

void facet(XmlWriter& xml, const char* name, const auto& value) { Open(xml, name).set("value", value); }

void restrict_to(XmlWriter& xml, const Range& range) {
  facet(xml, range.open_minimum ? "xs:minExclusive" : "xs:minInclusive", range.minimum);
  if (std::isfinite(range.maximum))
    facet(xml, range.open_maximum ? "xs:maxExclusive" : "xs:maxInclusive", range.maximum);
}

void restrict_numbers(XmlWriter& xml, const char* base, const Range& range) {
  const Open type(xml, "xs:simpleType");
  Open restriction(xml, "xs:restriction");
  restriction.set("base", base);
  restrict_to(xml, range);
}

void restrict_names(XmlWriter& xml, const std::vector<std::string>& names) {
  const Open type(xml, "xs:simpleType");
  Open restriction(xml, "xs:restriction");
  restriction.set("base", "xs:string");
  for (const std::string& name : names) facet(xml, "xs:enumeration", name);
}

void restrict_text(XmlWriter& xml, const std::string& pattern) {
  const Open type(xml, "xs:simpleType");
  Open restriction(xml, "xs:restriction");
  restriction.set("base", "xs:string");
  facet(xml, "xs:pattern", pattern);
}

void list_of(XmlWriter& xml, const char* base, const Range& range) {
  const Open type(xml, "xs:simpleType");
  const Open list(xml, "xs:list");
  restrict_numbers(xml, base, range);
}

constexpr const char* kVisible = "[\\s\\S]*\\S[\\s\\S]*";  // at least one character that is not white space

/// Restricts to the names of a catalogue and its alternatives: names that the scenario defines, or quantities.
void names_of_catalog(XmlWriter& xml, const std::string& catalog, const std::vector<std::string>& names) {
  if (names.empty()) return restrict_text(xml, kVisible);
  if (catalog != "devices" && catalog != "links") return restrict_names(xml, names);
  const Open type(xml, "xs:simpleType");
  const Open either(xml, "xs:union");
  restrict_names(xml, names);
  restrict_text(xml, catalog == "devices" ? kVisible : "\\s*[0-9.].*");
}

void write_type(XmlWriter& xml, const Kind& kind, const CatalogNames& names) {
  switch (kind.of) {
    case Kind::Of::any_text:
    case Kind::Of::seed:
      return;  // types with a name in XML Schema
    case Kind::Of::text:
      if (!kind.catalog.empty()) return names_of_catalog(xml, kind.catalog, names(kind.catalog));
      return restrict_text(xml, kind.pattern.empty() ? kVisible : kind.pattern);
    case Kind::Of::quantity:
      return restrict_text(xml, kVisible);
    case Kind::Of::integer:
      return restrict_numbers(xml, "xs:long", kind.range);
    case Kind::Of::integers:
      return list_of(xml, "xs:long", kind.range);
    case Kind::Of::real:
      return restrict_numbers(xml, "xs:double", kind.range);
    case Kind::Of::reals:
      return list_of(xml, "xs:double", kind.range);
    case Kind::Of::truth:
    case Kind::Of::name:
      return restrict_names(xml, kind.names);
    case Kind::Of::word_or_count: {
      const Open type(xml, "xs:simpleType");
      const Open either(xml, "xs:union");
      restrict_numbers(xml, "xs:long", kind.range);
      restrict_names(xml, kind.names);
      return;
    }
  }
}

void write_attribute(XmlWriter& xml, const std::string& element, const AttributeRule& rule, const CatalogNames& names) {
  Open attribute(xml, "xs:attribute");
  attribute.set("name", rule.name);
  if (rule.kind.of == Kind::Of::any_text) attribute.set("type", "xs:string");
  if (rule.kind.of == Kind::Of::seed) attribute.set("type", "xs:unsignedLong");
  if (rule.required) attribute.set("use", "required");
  if (!rule.fallback.empty()) attribute.set("default", rule.fallback);
  document(xml, meaning_of(element, rule));
  write_type(xml, rule.kind, names);
}

void write_element(XmlWriter& xml, const ElementRule& rule, const CatalogNames& names) {
  Open element(xml, "xs:element");
  element.set("name", rule.name);
  if (rule.text) element.set("type", "xs:string");
  document(xml, rule.words);
  if (rule.text) return;
  const Open type(xml, "xs:complexType");
  if (!rule.children.empty()) {
    // Children may come in any order; the reader checks how often each occurs.
    Open choice(xml, "xs:choice");
    choice.set("minOccurs", 0).set("maxOccurs", "unbounded");
    for (const std::string& child : rule.children) Open(xml, "xs:element").set("ref", child);
  }
  for (const AttributeRule& attribute : rule.attributes) write_attribute(xml, rule.name, attribute, names);
  if (!rule.parameters.empty()) {
    Open any(xml, "xs:anyAttribute");
    any.set("processContents", "lax");
    document(xml, rule.parameters);
  }
}

const xmlChar* xml_text(const std::string& value) { return reinterpret_cast<const xmlChar*>(value.c_str()); }

/// Appends the tree in the form that libxml2 validates. Every node has a pointer to its element. Names have no prefix,
/// and hints for editors on the root element are left out.
void append(xmlDoc* document, xmlNode* parent, const Element& element) {
  xmlNode* node = xmlNewDocNode(document, nullptr, xml_text(element.name), nullptr);
  if (node == nullptr) throw std::bad_alloc();
  node->_private = const_cast<Element*>(&element);
  if (parent == nullptr) {
    xmlDocSetRootElement(document, node);
  } else {
    xmlAddChild(parent, node);
  }
  for (const Attribute& attribute : element.attributes) {
    if (attribute.name == "xmlns" || attribute.name.find(':') != std::string::npos) continue;
    if (xmlNewProp(node, xml_text(attribute.name), xml_text(attribute.value)) == nullptr) throw std::bad_alloc();
  }
  if (!element.text.empty()) xmlNodeAddContent(node, xml_text(element.text));
  for (const Element& child : element.children) append(document, node, child);
}

const Element* element_of(const xmlNode* node) {
  if (node != nullptr && node->type != XML_ELEMENT_NODE) node = node->parent;
  return node == nullptr ? nullptr : static_cast<const Element*>(node->_private);
}

void collect(std::vector<SchemaError>& errors, const xmlError& error) {
  if (errors.size() >= kMaxErrors) return;
  std::string what = error.message == nullptr ? "does not fit the schema" : printable(error.message);
  what.erase(what.find_last_not_of(' ') + 1);
  errors.push_back({element_of(static_cast<const xmlNode*>(error.node)), std::move(what)});
}

/// Returns the compiled schema. It is kept, because compiling takes longer than validating. Several threads may
/// validate at once.
xmlSchema* compiled_schema() {
  static const std::unique_ptr<xmlSchema, decltype(&xmlSchemaFree)> kSchema = [] {
    const WatchedMemory memory = WatchedMemory::of(xmlMemSetup);
    xmlInitParser();
    const std::unique_ptr<xmlSchemaParserCtxt, decltype(&xmlSchemaFreeParserCtxt)> parser(
        xmlSchemaNewMemParserCtxt(scenario_schema().data(), static_cast<int>(scenario_schema().size())),
        &xmlSchemaFreeParserCtxt);
    std::unique_ptr<xmlSchema, decltype(&xmlSchemaFree)> schema(xmlSchemaParse(parser.get()), &xmlSchemaFree);
    memory.check();
    if (schema == nullptr) throw std::logic_error("scenario.xsd is not a schema");
    return schema;
  }();
  return kSchema.get();
}

/// Returns whether the reader has reported an error of the element: at its tag, an attribute, or its text.
bool said_already(const Findings& findings, const Element* element) {
  if (element == nullptr) return !findings.empty();
  return findings.any_at(element->origin) || findings.any_at(element->text_origin) ||
         std::ranges::any_of(element->attributes,
                             [&](const Attribute& attribute) { return findings.any_at(attribute.origin); });
}

/// Meanings by element and attribute.
using PageWords = std::map<std::pair<std::string, std::string>, std::string, std::less<>>;

/// Returns the cells of a table row without surrounding blanks; a backslash escapes a bar in a cell.
std::vector<std::string> row_cells(std::string_view row) {
  std::vector<std::string> cells(1);
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (row[i] == '|') {
      cells.emplace_back();
    } else if (row.substr(i, 2) != "\\|") {
      cells.back() += row[i];
    } else {
      cells.back() += row[++i];
    }
  }
  for (std::string& cell : cells) {
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
  }
  return cells;
}

/// Reads the tables after lines "<!-- attributes of a b -->". A table of several elements names the element in each
/// row.
PageWords read_page() {
  constexpr std::string_view kMark = "<!-- attributes of ";
  PageWords words;
  std::vector<std::string> elements;  // and "-->"
  std::string element;
  for (const std::string_view line : lines_of(tables::kScenarioPage.text)) {
    if (line.starts_with(kMark)) {
      elements = words_of(line.substr(kMark.size()));
      element = elements.front();
    } else if (!line.starts_with('|')) {
      elements.clear();
    } else if (!elements.empty()) {
      const std::vector<std::string> cells = row_cells(line);
      const std::size_t name = elements.size() > 2 ? 1 : 0;
      if (name == 1 && cells[0].starts_with("`<")) element = cells[0].substr(2, cells[0].size() - 4);
      if (cells[name].starts_with('`'))
        words[{element, cells[name].substr(1, cells[name].size() - 2)}] = cells[name + 1];
    }
  }
  return words;
}

}  // namespace

std::string schema_with(const CatalogNames& names) {
  XmlWriter xml;
  {
    Open schema(xml, "xs:schema");
    schema.set("xmlns:xs", "http://www.w3.org/2001/XMLSchema").set("elementFormDefault", "unqualified");
    for (const ElementRule& rule : vocabulary()) write_element(xml, rule, names);
  }
  return xml.finish();
}

std::string_view scenario_schema() {
  static const std::string kSchema = schema_with([](const std::string&) { return std::vector<std::string>(); });
  return kSchema;
}

std::vector<SchemaError> validate_against_schema(const Element& root) {
  xmlSchema* schema = compiled_schema();
  const WatchedMemory memory = WatchedMemory::of(xmlMemSetup);
  const std::unique_ptr<xmlSchemaValidCtxt, decltype(&xmlSchemaFreeValidCtxt)> validator(xmlSchemaNewValidCtxt(schema),
                                                                                         &xmlSchemaFreeValidCtxt);
  const std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> document(xmlNewDoc(xml_text("1.0")), &xmlFreeDoc);
  if (validator == nullptr || document == nullptr) throw std::bad_alloc();
  append(document.get(), nullptr, root);

  std::vector<SchemaError> errors;
#if LIBXML_VERSION >= 21200
  const auto handler = [](void* data, const xmlError* error) {
    collect(*static_cast<std::vector<SchemaError>*>(data), *error);
  };
#else
  const auto handler = [](void* data, xmlErrorPtr error) {
    collect(*static_cast<std::vector<SchemaError>*>(data), *error);
  };
#endif
  xmlSchemaSetValidStructuredErrors(validator.get(), handler, &errors);
  const int judged = xmlSchemaValidateDoc(validator.get(), document.get());
  memory.check();
  if (judged < 0) throw std::logic_error("libxml2 could not validate");
  return errors;
}

void check_against_schema(const Element& root, Findings& findings) {
  if (findings.full()) return;
  const Findings read = findings;
  for (const SchemaError& error : validate_against_schema(root)) {
    if (said_already(read, error.element)) continue;
    findings.add(error.element == nullptr ? root.origin : error.element->origin, error.what, "as in scenario.xsd");
  }
}

std::string attribute_words(std::string_view element, std::string_view attribute) {
  static const PageWords kPageWords = read_page();
  const auto found = kPageWords.find({std::string(element), std::string(attribute)});
  return found == kPageWords.end() ? "" : found->second;
}

}  // namespace dadsim::scenario
