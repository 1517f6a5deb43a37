#pragma once

#include <string>

#include "report/result.hpp"

namespace dadsim::report {

/// The result as a page of HTML that loads nothing: charts, tables, and the JSON they are drawn from (docs/report.md).
/// `platform_svg`, if given, is a picture of the platform as Graphviz writes it; it is put in as it is, from its <svg>
/// on. Throws what to_json() throws.
std::string to_html(const Result& result, const std::string& platform_svg = "");

}  // namespace dadsim::report
