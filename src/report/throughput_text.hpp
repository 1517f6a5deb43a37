#pragma once

#include <string>

#include "report/result.hpp"

namespace dadsim::report {

/// "1,056", "1.08 M": four digits at most, so that columns stay narrow.
std::string rate_in_words(double rate);

/// For a terminal, where nothing was learned: a row per run with its step and what gets done in a second.
std::string throughput_grid(const Result& result);

}  // namespace dadsim::report
