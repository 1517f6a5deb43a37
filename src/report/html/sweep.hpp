#pragma once

#include <string>

#include "report/sweep/sweep_report.hpp"

namespace dadsim::report {

/// The results of a sweep as a page of HTML that loads nothing: maps, charts, tables, and the JSON they are drawn from
/// (docs/sweep.md).
std::string to_html(const SweepReport& report);

}  // namespace dadsim::report
