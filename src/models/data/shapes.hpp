#pragma once

#include <cstdint>

#include "models/data/dataset.hpp"

namespace dadsim::models {

inline constexpr spec::SampleShape kShapesShape{32, 32, 3};
inline constexpr std::int64_t kShapesClasses = 10;

/// Coloured shapes on coloured ground, 32 × 32 × 3, deterministic in (seed, index): disk, ring, triangle, square, star,
/// cross, crescent, half disk, L, chevron, at any angle, in any colours (docs/data.md). Features 0…1 in steps of 1/255.
Samples draw_shapes(std::int64_t first, std::int64_t count, std::uint64_t seed);

}  // namespace dadsim::models
