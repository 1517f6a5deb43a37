#pragma once

#include <string>

#include "report/result.hpp"

namespace dadsim::report {

/// What gets done in a second by the run that shares gradients, or the first that shares: one sentence; empty where
/// nobody has a throughput.
std::string throughput_sentence(const Result& result);

/// For a terminal, where nothing was learned: a row per run with its step and what gets done in a second.
std::string throughput_grid(const Result& result);

}  // namespace dadsim::report
