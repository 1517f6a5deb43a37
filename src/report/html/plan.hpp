#pragma once

#include <string>

#include "report/html/about.hpp"
#include "report/plan/plan_report.hpp"

namespace dadsim::report {

/// The answers to a goal as a page of HTML that loads nothing: the answer, what every number that was tried takes, and
/// the JSON they are drawn from (docs/plan.md).
std::string to_html(const PlanReport& report, const About& about = {});

}  // namespace dadsim::report
