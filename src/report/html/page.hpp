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

/// Returns the JSON for the page. Text is not interpreted as HTML.
std::string to_json(const About& about);

/// Contents that differ between pages of one kind. Text is escaped here; markup is inserted as it is.
struct PageContent {
  std::string title;                ///< text: the page's title, the name of the run
  std::string answer;               ///< text: the answer, visible without scripts
  std::string json;                 ///< JSON of the result
  std::string_view platform_svg{};  ///< markup: picture of a run; may be empty
  /// JSON of additional elements of a page, by id. Empty entries are left out.
  std::vector<std::pair<std::string, std::string>> more{};
  std::string command{};  ///< text: command shown as the page's name; empty: the name of its kind
};

/// Returns JSON of the tables and statements in words, which a page shows in addition to its result and charts.
std::string document_in_words(const Document& document);
/// Returns JSON of the charts drawn by the page's shared script, by name; empty if there are none.
std::string charts_for_page(const Document& document);

/// Returns an HTML page that loads nothing.
std::string make_page(PageKind kind, const PageContent& content);

/// Returns a document as an HTML page that loads nothing: its answer, the drawings by the scripts of its kind, and
/// their JSON. A page without a kind shows each table with titles. A part named "about" replaces `about`.
std::string to_html(const Document& document, const About& about = {});

}  // namespace dadsim::report
