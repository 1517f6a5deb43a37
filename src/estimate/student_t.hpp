#pragma once

#include <cstdint>

namespace dadsim::estimate {

/// Student's t of a two-sided interval of 95 %, t(0.975, freedom), for `freedom` of at least 1: half an interval is
/// this times the standard error.
double student_t(std::int64_t freedom);

}  // namespace dadsim::estimate
