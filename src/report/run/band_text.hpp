#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Between what a run's times are to be expected, and by what: one sentence; empty without a band.
std::string band_sentence(const RunResult& run);

}  // namespace dadsim::report
