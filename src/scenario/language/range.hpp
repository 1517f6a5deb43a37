#pragma once

#include <limits>
#include <string>

namespace dadsim::scenario {

/// An interval of numbers; its bounds belong to it unless they are open.
struct Range {
  double minimum = 0;
  double maximum = std::numeric_limits<double>::infinity();
  bool open_minimum = false;
  bool open_maximum = false;

  bool contains(double value) const;
  std::string to_string() const;  ///< "from 0 to 1", "above 0", "from 0 to below 1"
};

inline constexpr Range kShare{.minimum = 0, .maximum = 1};
inline constexpr Range kPositiveShare{.minimum = 0, .maximum = 1, .open_minimum = true};
inline constexpr Range kDeviation{.minimum = 0, .maximum = 3};  ///< standard deviation of a logarithm

}  // namespace dadsim::scenario
