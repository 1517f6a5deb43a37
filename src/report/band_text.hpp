#pragma once

#include <optional>
#include <string>

#include "report/result.hpp"

namespace dadsim::report {

/// "19.4 s (17.2 … 22.9)", the unit once where it is the same; the time alone without a band.
std::string seconds_with_band(double seconds, const std::optional<estimate::Band>& factors);
std::string seconds_with_interval(double seconds, double low, double high);

/// Between what a run's times are to be expected, and by what: one sentence; empty without a band.
std::string band_sentence(const RunResult& run);

}  // namespace dadsim::report
