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
  static constexpr std::size_t kMostNumbers = 200'000;  ///< numbers on a page
  bool too_many = false;                                ///< true: more numbers than allowed, so the lists are empty
  std::vector<std::string> sites;                       ///< names of hosts
  std::vector<std::vector<std::int64_t>> samples;       ///< per site and class
};

/// Facts of the scenario that a page shows with its result.
struct About {
  std::string description{};       ///< description of the scenario; may be empty
  std::string scenario{};          ///< text of the scenario file; may be empty
  std::vector<std::string> set{};  ///< settings by --set, "path=value"
  std::string build = dadsim::build();
  ClassTable classes{};  ///< empty if samples have no classes, or nothing was learned
};

/// Returns the JSON for the page; text stays text there.
std::string to_json(const About& about);

/// Parts that differ between pages of one kind. Text is escaped here, markup is not.
struct PageContent {
  std::string title;                ///< text: name of the run
  std::string answer;               ///< text: sentence shown even without scripts
  std::string json;                 ///< data
  std::string_view platform_svg{};  ///< markup: picture of a run; may be empty
  /// Further data of a page, in addition to its result: ids of elements, and JSON. Empty entries are left out.
  std::vector<std::pair<std::string, std::string>> more{};
  std::string command{};  ///< text: name of the page; empty: the name of its kind
};

/// Returns what a page shows in addition to its result and charts: tables and statements in words.
std::string document_in_words(const Document& document);
/// Returns the JSON of the charts that the page's shared script draws, by name; empty without any.
std::string charts_for_page(const Document& document);

/// Returns a page of HTML that loads nothing.
std::string make_page(PageKind kind, const PageContent& content);

/// Returns a document as a page of HTML that loads nothing: its answer, the drawings by the scripts of its kind, and
/// their JSON. Without a kind, each table with titles is shown. A part named "about" replaces `about`.
std::string to_html(const Document& document, const About& about = {});

}  // namespace dadsim::report
