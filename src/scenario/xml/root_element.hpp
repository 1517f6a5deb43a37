#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dadsim::scenario {

struct RootElement {
  std::string name;  ///< name with its prefix
  int line = 1;      ///< line of the element, from 1
};

/// Returns the root element of an XML document, skipping the declaration, comments and a document type: it
/// distinguishes kinds of files before their own parser reads them. Nullopt if there is no element.
std::optional<RootElement> find_root_element(std::string_view document);

}  // namespace dadsim::scenario
