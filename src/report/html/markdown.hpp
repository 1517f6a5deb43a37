#pragma once

#include <string>
#include <string_view>

namespace dadsim::report {

/// Markdown of this program's own documentation as HTML: tables too. Throws std::runtime_error where it cannot be read.
std::string html_of(const std::string& markdown);

/// A page that stands alone has neither a network nor the documentation beside it: links to pages of the documentation
/// become their names, links to anywhere else their texts. Those to lessons name the page of the lesson.
std::string with_own_links(const std::string& html);

/// docs/glossary.md as it stands in a page: without its title, below a heading of the second level, each word with an
/// id, "word-critical-path".
const std::string& glossary_html();

}  // namespace dadsim::report
