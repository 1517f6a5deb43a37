#pragma once

#include "report/run/result.hpp"

namespace dadsim::report {

/// The most that any adversary knows of a figure; what is no number is not known.
double most_leaked(const RunResult& run, double step::LeakFigures::*figure);
/// ε towards whom it is known of: the least of all adversaries.
double epsilon_spent(const RunResult& run);

}  // namespace dadsim::report
