#pragma once

#include <cstdint>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// Draws digits, 28 × 28 grey, ten classes, deterministic in (seed, index): sample i is the same whatever the number of
/// samples. Strokes, slant, size, position, thickness and noise vary (docs/data.md). Features: count × 784, 0…1 in
/// steps of 1/255. Throws std::logic_error for a negative range.
Samples draw_digits(std::int64_t first, std::int64_t count, std::uint64_t seed);

inline constexpr spec::SampleShape kDigitsShape{28, 28, 1};

}  // namespace dadsim::models
