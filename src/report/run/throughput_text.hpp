#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

/// For a terminal, where nothing was learned: a row per run with its step and what gets done in a second.
std::string throughput_grid(const Result& result);

}  // namespace dadsim::report
