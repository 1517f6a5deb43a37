#include "scenario/schema.hpp"

#include <libxml/tree.h>
#include <libxml/xmlschemas.h>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>

#include "scenario/schema_text.hpp"
#include "support/watched_memory.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxErrors = 1000;

const xmlChar* text(const std::string& value) { return reinterpret_cast<const xmlChar*>(value.c_str()); }

/// The tree as libxml2 validates it; every node points back at its element. Names of the language have no prefix, and
/// the hints for editors on the root are not part of it.
void append(xmlDoc* document, xmlNode* parent, const Element& element) {
  xmlNode* node = xmlNewDocNode(document, nullptr, text(element.name), nullptr);
  if (node == nullptr) throw std::bad_alloc();
  node->_private = const_cast<Element*>(&element);
  if (parent == nullptr) {
    xmlDocSetRootElement(document, node);
  } else {
    xmlAddChild(parent, node);
  }
  for (const Attribute& attribute : element.attributes) {
    if (attribute.name == "xmlns" || attribute.name.find(':') != std::string::npos) continue;
    if (xmlNewProp(node, text(attribute.name), text(attribute.value)) == nullptr) throw std::bad_alloc();
  }
  if (!element.text.empty()) xmlNodeAddContent(node, text(element.text));
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

/// Compiled once: that takes longer than to validate by it. Validation only reads it, in several threads at once too.
xmlSchema* compiled_schema() {
  static const std::unique_ptr<xmlSchema, decltype(&xmlSchemaFree)> kSchema = [] {
    const WatchedMemory memory = WatchedMemory::of(xmlMemSetup);
    xmlInitParser();
    const std::unique_ptr<xmlSchemaParserCtxt, decltype(&xmlSchemaFreeParserCtxt)> parser(
        xmlSchemaNewMemParserCtxt(kScenarioSchema, static_cast<int>(scenario_schema().size())),
        &xmlSchemaFreeParserCtxt);
    std::unique_ptr<xmlSchema, decltype(&xmlSchemaFree)> schema(xmlSchemaParse(parser.get()), &xmlSchemaFree);
    memory.check();
    if (schema == nullptr) throw std::logic_error("scenario.xsd is no schema");
    return schema;
  }();
  return kSchema.get();
}

/// Whether the reader has found something wrong with the element: at its tag, an attribute, or its text.
bool said_already(const Findings& findings, const Element* element) {
  if (element == nullptr) return !findings.empty();
  return findings.any_at(element->origin) || findings.any_at(element->text_origin) ||
         std::ranges::any_of(element->attributes,
                             [&](const Attribute& attribute) { return findings.any_at(attribute.origin); });
}

}  // namespace

std::string_view scenario_schema() { return kScenarioSchema; }

std::vector<SchemaError> validate_against_schema(const Element& root) {
  xmlSchema* schema = compiled_schema();
  const WatchedMemory memory = WatchedMemory::of(xmlMemSetup);
  const std::unique_ptr<xmlSchemaValidCtxt, decltype(&xmlSchemaFreeValidCtxt)> validator(xmlSchemaNewValidCtxt(schema),
                                                                                         &xmlSchemaFreeValidCtxt);
  const std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> document(xmlNewDoc(text("1.0")), &xmlFreeDoc);
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

}  // namespace dadsim::scenario
