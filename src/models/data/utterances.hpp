#pragma once

#include <cstdint>

#include "models/data/dataset.hpp"

namespace dadsim::models {

inline constexpr std::int64_t kUtteranceChannels = 13;
inline constexpr std::int64_t kUtteranceClasses = 10;

/// Draws sequences like spoken digits (13 cepstral coefficients per frame), deterministic in (seed, index): ten words
/// of three or four phones, in pairs of the same phones in opposite order; durations, speaker and noise vary
/// (docs/data.md). Features: count × (length · 13), frame by frame, zeros after the end of a word.
Samples draw_utterances(std::int64_t length, std::int64_t first, std::int64_t count, std::uint64_t seed);

}  // namespace dadsim::models
