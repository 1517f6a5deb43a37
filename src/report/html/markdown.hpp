#pragma once

#include <string>

namespace dadsim::report {

/// Converts Markdown of this program's own documentation to HTML, including tables. Throws std::runtime_error if it
/// cannot be read.
std::string html_of(const std::string& markdown);

/// Adapts links to a page that stands alone, without network and documentation. Links to pages of the documentation
/// become their names, other links become their texts. Links to lessons name the page of the lesson.
std::string with_own_links(const std::string& html);

/// Returns docs/glossary.md for use within a page: without its title, under a heading of the second level. Each word
/// has an id, "word-critical-path".
const std::string& glossary_html();

}  // namespace dadsim::report
