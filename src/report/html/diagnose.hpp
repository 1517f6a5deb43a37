#pragma once

#include <string>

#include "report/diagnose/diagnosis.hpp"
#include "report/html/about.hpp"

namespace dadsim::report {

/// Whether a measured time is normal as a page of HTML that loads nothing: what was expected, what may be wrong, and
/// the JSON they are drawn from (docs/diagnose.md).
std::string to_html(const Diagnosis& report, const About& about = {});

}  // namespace dadsim::report
