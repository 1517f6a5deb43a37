#pragma once

#include <cstddef>

namespace dadsim::models {

/// Samples that one thread takes through the whole sequence, so that what they need stays in its cache.
inline constexpr std::size_t kSequencesAtOnce = 12;

}  // namespace dadsim::models
