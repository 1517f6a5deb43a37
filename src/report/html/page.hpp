#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/document/page_kind.hpp"

namespace dadsim::report {

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

}  // namespace dadsim::report
