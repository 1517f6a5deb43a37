#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/document/document.hpp"
#include "support/build.hpp"

namespace dadsim::report {

/// Training samples by class and site.
struct ClassTable {
  static constexpr std::size_t kMostNumbers = 200'000;  ///< of a page
  bool too_many = false;                                ///< there would be more: the lists are empty
  std::vector<std::string> sites;                       ///< names of hosts
  std::vector<std::vector<std::int64_t>> samples;       ///< per site and class
};

/// Facts of the scenario that a page shows beside its result.
struct About {
  std::string description{};       ///< of the scenario; may be empty
  std::string scenario{};          ///< the text of its file; may be empty
  std::vector<std::string> set{};  ///< what was set beside it, "path=value"
  std::string build = dadsim::build();
  ClassTable classes{};  ///< empty where samples have no classes, or nothing was learned
};

/// For the page alone; text stays text there.
std::string to_json(const About& about);

/// What differs between pages of one kind. Text is escaped here, markup is not.
struct PageContent {
  std::string title;                ///< text: names what was run
  std::string answer;               ///< text: the sentence that stands there even without a script
  std::string json;                 ///< the data
  std::string_view platform_svg{};  ///< markup: a picture, of a run; may be empty
  /// More data that a page has beside its result: ids of elements, and JSON. What is empty is left out.
  std::vector<std::pair<std::string, std::string>> more{};
};

/// A page of HTML that loads nothing.
std::string make_page(PageKind kind, const PageContent& content);

/// A document as a page of HTML that loads nothing: its answer, what the scripts of its kind of page draw (without a
/// kind each table that has titles), and the JSON they are drawn from. A part "about" takes the place of `about`.
std::string to_html(const Document& document, const About& about = {});

}  // namespace dadsim::report
