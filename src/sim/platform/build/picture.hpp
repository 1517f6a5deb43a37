#pragma once

#include <cstddef>

#include "sim/platform.hpp"

namespace dadsim::sim {

/// Largest number of boxes of one kind that are drawn individually.
inline constexpr std::size_t kDrawnOneByOne = 64;

}  // namespace dadsim::sim
