#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// What a page plays of steps with timelines, as JSON: per run one step, on connections that are warm where there is
/// such a one, with what its first nodes compute, wait for, send and receive. Empty where no run has a timeline.
std::string timelines_for_page(const Result& result);

}  // namespace dadsim::report
