#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/document/document.hpp"
#include "support/build.hpp"

namespace dadsim::report {

/// Training samples by class and site.
struct ClassTable {
  static constexpr std::size_t kMostNumbers = 200'000;  ///< largest number of table entries on a page
  bool too_many = false;                                ///< true: more than kMostNumbers, so the lists are empty
  std::vector<std::string> sites;                       ///< host name of each site
  std::vector<std::vector<std::int64_t>> samples;       ///< samples per site and class
};

/// Facts about the scenario, which a page shows with its result.
struct About {
  std::string description{};       ///< description of the scenario; may be empty
  std::string scenario{};          ///< text of the scenario file; may be empty
  std::vector<std::string> set{};  ///< settings of --set, "path=value"
  std::string build = dadsim::build();
  ClassTable classes{};  ///< empty if samples have no classes, or nothing was learned
};

/// Returns a document as an HTML page that loads nothing: its answer, the drawings by the scripts of its kind, and
/// their JSON. Text is escaped; the picture is inserted as it is. A page without a kind shows each table with titles. A
/// part named "about" replaces `about`.
std::string to_html(const Document& document, const About& about = {});

}  // namespace dadsim::report
