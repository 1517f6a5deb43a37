#pragma once

#include <string>

#include "study/sweep/results.hpp"

namespace dadsim::study {

/// One line per point, seed and run, documented in docs/sweep.md.
std::string sweep_csv(const SweepResults& results);

}  // namespace dadsim::study
