#pragma once

#include <string>

#include "report/html/page.hpp"
#include "report/run/result.hpp"
#include "report/run/retiming.hpp"

namespace dadsim::report {

/// Returns the result as an HTML page that loads nothing: charts, tables, and the JSON they are drawn from
/// (docs/report.md). `platform_svg`, if given, is a picture of the platform by Graphviz; its <svg> element is inserted.
/// `retiming` provides the sliders; timelines of the runs' steps (RunResult::traced) provide the animated step. Throws
/// the exceptions of document_of().
std::string to_html(const Result& result, const std::string& platform_svg = "", const Retiming& retiming = {},
                    const About& about = {});

}  // namespace dadsim::report
