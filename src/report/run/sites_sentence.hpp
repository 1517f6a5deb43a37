#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// What the sites of a run with weights of their own are worth at its end: their average, the worst and the best of
/// them, and how far apart they are; empty for other runs.
std::string sites_sentence(const RunResult& run);

}  // namespace dadsim::report
