#pragma once

#include <string>

namespace dadsim::sim {

/// Returns whether `a` comes before `b`, comparing runs of digits as numbers.
bool before_by_number(const std::string& a, const std::string& b);

}  // namespace dadsim::sim
