#pragma once

#include <string>

namespace dadsim::sim {

/// Whether `a` comes before `b`, where runs of digits count as numbers.
bool before_by_number(const std::string& a, const std::string& b);

}  // namespace dadsim::sim
