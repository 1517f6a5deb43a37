#pragma once

#include <string>

namespace dadsim::report {

/// Converts Markdown of this program's own documentation to HTML, including tables. Throws std::runtime_error if it
/// cannot be read.
std::string html_of(const std::string& markdown);

/// Adapts the links of a page that is read without network and documentation. A link to a page of the documentation
/// becomes its text and the name of the page; a link to a lesson becomes one to the lesson's page; any other link
/// becomes its text.
std::string with_own_links(const std::string& html);

/// Returns docs/glossary.md for use within a page: without its title, under a heading of the second level. Each word
/// has an id, "word-critical-path".
const std::string& glossary_html();

}  // namespace dadsim::report
