#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dadsim::scenario {

struct RootElement {
  std::string name;  ///< as written, with its prefix
  int line = 1;      ///< 1-based
};

/// The root element of an XML document, found by passing over the declaration, comments and a document type: tells
/// kinds of files apart before their own parser reads them. Nullopt where no element comes.
std::optional<RootElement> find_root_element(std::string_view document);

}  // namespace dadsim::scenario
