#pragma once

#include <optional>
#include <string>

#include "estimate/bands.hpp"

namespace dadsim::report {

/// "19.4 s (17.2 … 22.9)", the unit once where it is the same; the time alone without a band.
std::string seconds_with_band(double seconds, const std::optional<estimate::Band>& factors);
std::string seconds_with_interval(double seconds, double low, double high);

}  // namespace dadsim::report
