#pragma once

#include <string>

#include "report/document/document.hpp"
#include "report/html/about.hpp"

namespace dadsim::report {

/// A document as a page of HTML that loads nothing: its answer, what the scripts of its kind of page draw (without a
/// kind each table that has titles), and the JSON they are drawn from. A part "about" takes the place of `about`.
std::string to_html(const Document& document, const About& about = {});

}  // namespace dadsim::report
