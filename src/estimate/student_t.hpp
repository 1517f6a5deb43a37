#pragma once

#include <cstdint>

namespace dadsim::estimate {

/// Returns Student's t for a two-sided interval of `level` (0.95: t(0.975, freedom)), with `freedom` of at least 1.
/// Half the interval is t times the standard error.
double student_t(std::int64_t freedom, double level = 0.95);

/// Returns the two-sided p-value of Student's t.
double student_tails(double t, std::int64_t freedom);

}  // namespace dadsim::estimate
