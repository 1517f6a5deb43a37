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

/// One XML element with the origins of its parts. Plain values: overrides edit it, the reader reads it.
struct Element {
  std::string name;  ///< name with its prefix
  bool in_namespace = false;
  Origin origin;  ///< origin of the start tag
  std::vector<Attribute> attributes{};
  std::vector<Element> children{};
  std::string text{};    ///< all character data directly inside
  Origin text_origin{};  ///< origin of the first character that is not white space

  const Attribute* find(std::string_view attribute) const;
};

/// Kind of the file being read, for messages.
struct DocumentKind {
  const char* noun;
  const char* start;  ///< example of its start tag
  const char* end;
};
inline constexpr DocumentKind kScenarioDocument{"scenario", "<scenario name=\"…\">", "</scenario>"};
inline constexpr DocumentKind kWorkloadDocument{"workload", "<workload name=\"…\">", "</workload>"};
inline constexpr DocumentKind kClusterPlatformDocument{"platform", "<cluster-platform>", "</cluster-platform>"};

/// Returns whether `text` is well-formed UTF-8 of characters that XML 1.0 permits.
bool is_xml_text(std::string_view text);

/// Parses a document. Refuses any DOCTYPE, so that there are no entities but XML's own five, nothing is fetched and
/// nothing expands. On an error adds it to `findings` and returns an element without a name.
Element parse_xml(const std::string& content, const DocumentKind& kind, Findings& findings);

struct RootElement {
  std::string name;  ///< name with its prefix
  int line = 1;      ///< line of the element, from 1
};

/// Returns the root element of an XML document, skipping the declaration, comments and a document type: it
/// distinguishes kinds of files before their own parser reads them. Nullopt if there is no element.
std::optional<RootElement> find_root_element(std::string_view document);

}  // namespace dadsim::scenario
