#pragma once

#include <cstddef>

#include "sim/platform.hpp"

namespace dadsim::sim {

/// At most about so many boxes of one kind are drawn one by one.
inline constexpr std::size_t kDrawnOneByOne = 64;

}  // namespace dadsim::sim
