#pragma once

#include <string>
#include <string_view>

namespace dadsim::report {

enum class PageKind { run, sweep };

/// What differs between pages of one kind. Text is escaped here, markup is not.
struct PageContent {
  std::string title;                ///< text: names what was run
  std::string answer;               ///< text: the sentence that stands there even without a script
  std::string json;                 ///< the data
  std::string_view platform_svg{};  ///< markup: a picture, of a run; may be empty
};

/// A page of HTML that loads nothing.
std::string make_page(PageKind kind, const PageContent& content);

}  // namespace dadsim::report
