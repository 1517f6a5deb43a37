#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/xml/findings.hpp"

namespace dadsim::scenario {

struct Attribute {
  std::string name;  ///< name with its prefix
  std::string value;
  Origin origin;
};

/// One XML element with the origins of its parts, as plain values: overrides change it, and the reader reads it.
struct Element {
  std::string name;  ///< name with its prefix
  bool in_namespace = false;
  Origin origin;  ///< origin of the start tag
  std::vector<Attribute> attributes{};
  std::vector<Element> children{};
  std::string text{};    ///< character data directly inside the element
  Origin text_origin{};  ///< origin of the first character that is not white space

  const Attribute* find(std::string_view attribute) const;
};

/// Kind of the file being read, for messages.
struct DocumentKind {
  const char* noun;
  const char* start;  ///< example of the root's start tag
  const char* end;
};
inline constexpr DocumentKind kScenarioDocument{"scenario", "<scenario name=\"…\">", "</scenario>"};
inline constexpr DocumentKind kWorkloadDocument{"workload", "<workload name=\"…\">", "</workload>"};
inline constexpr DocumentKind kClusterPlatformDocument{"platform", "<cluster-platform>", "</cluster-platform>"};

/// Returns whether `text` is well-formed UTF-8 of characters that XML 1.0 permits.
bool is_xml_text(std::string_view text);

/// Parses a document. Refuses any DOCTYPE: XML's own five entities are the only ones, nothing is fetched, and nothing
/// expands. After an error, adds it to `findings` and returns an element without a name.
Element parse_xml(const std::string& content, const DocumentKind& kind, Findings& findings);

struct RootElement {
  std::string name;  ///< name with its prefix
  int line = 1;      ///< line of the element, from 1
};

/// Returns the root element of an XML document, after the declaration, comments and a document type. It tells kinds of
/// files apart before they are parsed. Returns nullopt if there is no element.
std::optional<RootElement> find_root_element(std::string_view document);

}  // namespace dadsim::scenario
