#pragma once

#include <string>

#include "report/html/about.hpp"
#include "report/scale_study/scale_study_report.hpp"

namespace dadsim::report {

/// A scale study as a page of HTML that loads nothing: the answer, relative steps against size with their fit, every
/// rung and run, and the JSON they are drawn from (docs/scale-study.md).
std::string to_html(const ScaleStudyReport& report, const About& about = {});

}  // namespace dadsim::report
