#pragma once

#include <string>

#include "report/html/page.hpp"
#include "report/run/result.hpp"
#include "report/run/retiming.hpp"

namespace dadsim::report {

/// The result as a page of HTML that loads nothing: charts, tables, and the JSON they are drawn from (docs/report.md).
/// `platform_svg`, if given, is a picture of the platform as Graphviz writes it; it is put in as it is, from its <svg>
/// on. `retiming` gives the page its sliders, timelines of the runs' steps (RunResult::traced) its animated step.
/// Throws what document_of() throws.
std::string to_html(const Result& result, const std::string& platform_svg = "", const Retiming& retiming = {},
                    const About& about = {});

}  // namespace dadsim::report
