#pragma once

#include <string>

#include "report/html/page.hpp"
#include "report/run/result.hpp"
#include "report/run/retiming.hpp"

namespace dadsim::report {

/// Adds the data that only the page of a run shows: `platform_svg`, a picture of the platform by Graphviz whose <svg>
/// element is inserted; `retiming` for the sliders; timelines of the runs' steps (RunResult::traced) for the animated
/// step; images that messages reveal.
void add_page_data(Document& document, const Result& result, const std::string& platform_svg, const Retiming& retiming);

/// Returns the result as an HTML page that loads nothing: charts, tables, and the JSON they are drawn from
/// (docs/report.md), with the data of add_page_data(). Throws the exceptions of document_of().
std::string to_html(const Result& result, const std::string& platform_svg = "", const Retiming& retiming = {},
                    const About& about = {});

}  // namespace dadsim::report
