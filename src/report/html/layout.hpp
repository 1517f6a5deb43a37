#pragma once

#include <string>

#include "report/html/about.hpp"
#include "report/layout/layout_report.hpp"

namespace dadsim::report {

/// What a search for layouts came to as a page of HTML that loads nothing: the quickest, what its step goes into, time
/// against memory, and the JSON they are drawn from (docs/layout.md).
std::string to_html(const LayoutReport& report, const About& about = {});

}  // namespace dadsim::report
