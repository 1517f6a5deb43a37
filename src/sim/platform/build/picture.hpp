#pragma once

#include <cstddef>

#include "sim/platform.hpp"

namespace dadsim::sim {

/// Boxes of one kind that are drawn one by one, at most.
inline constexpr std::size_t kDrawnOneByOne = 64;

}  // namespace dadsim::sim
