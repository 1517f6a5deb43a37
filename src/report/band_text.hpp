#pragma once

#include <optional>
#include <string>

#include "report/result.hpp"

namespace dadsim::report {

/// "19.4 s (17.2 … 22.9)", the unit once where it is the same; the time alone without a band.
std::string seconds_with_band(double seconds, const std::optional<estimate::Band>& factors);
std::string seconds_with_interval(double seconds, double low, double high);

/// The ratio of the times of two runs to the target, other ÷ winner, with its band (estimate::ratio_band).
struct RatioBand {
  double ratio = 1, low = 1, high = 1;
  /// The other may as well be the quicker one.
  bool open() const { return low <= 1; }
};
/// None where one of them has no band, or takes no time.
std::optional<RatioBand> ratio_of_times(const RunResult& winner, const RunResult& other);

/// Between what a run's times are to be expected, and by what: one sentence; empty without a band.
std::string band_sentence(const RunResult& run);

}  // namespace dadsim::report
