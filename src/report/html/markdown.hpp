#pragma once

#include <string>

namespace dadsim::report {

/// Converts Markdown of dadsim's own documentation to HTML, including tables.
std::string html_of(const std::string& markdown);

/// Adapts links to a page that is read without network and documentation. A link to a documentation page becomes its
/// text and the page's name; a link to a lesson leads to the lesson's page; any other link becomes its text.
std::string with_own_links(const std::string& html);

/// Returns docs/glossary.md for use within a page: without its title, under a heading of the second level. Each entry
/// has an id such as "word-critical-path".
const std::string& glossary_html();

}  // namespace dadsim::report
