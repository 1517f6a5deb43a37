#pragma once

#include <cstdint>
#include <string_view>

#include "models/data/dataset.hpp"

// Generated data sets; each kind has a separate file.

namespace dadsim::models {

/// Draws digits, 28 × 28 grey, ten classes, deterministic in (seed, index): sample i is the same whatever the number of
/// samples. Strokes, slant, size, position, thickness and noise vary (docs/data.md). Features: count × 784, 0…1 in
/// steps of 1/255. Throws std::logic_error for a negative range.
Samples draw_digits(std::int64_t first, std::int64_t count, std::uint64_t seed);

inline constexpr spec::SampleShape kDigitsShape{28, 28, 1};

/// The characters of the grammar; a symbol is an index into them.
inline constexpr std::string_view kGrammarAlphabet = "0123456789+-*=;()[]{}";
inline constexpr auto kGrammarVocabulary = static_cast<std::int64_t>(kGrammarAlphabet.size());

/// Sentences of a small formal language, e.g. "[3+(4*2)]-7=4;", deterministic in (seed, index):
///   sentence → sum = d ;    sum → term op term    term → d | ( sum ) | [ sum ] | { sum }    op → + | - | *
/// with digits d; the d after = is the value modulo 10. Each sample starts with a sentence and breaks off in another.
/// Features: count × length symbols; labels: the symbol that follows each (docs/data.md).
Samples draw_grammar(std::int64_t length, std::int64_t first, std::int64_t count, std::uint64_t seed);

inline constexpr spec::SampleShape kShapesShape{32, 32, 3};
inline constexpr std::int64_t kShapesClasses = 10;

/// Coloured shapes on coloured ground, 32 × 32 × 3, deterministic in (seed, index): disk, ring, triangle, square, star,
/// cross, crescent, half disk, L, chevron, at any angle, in any colours (docs/data.md). Features 0…1 in steps of 1/255.
Samples draw_shapes(std::int64_t first, std::int64_t count, std::uint64_t seed);

/// Draws a table labelled by a teacher, deterministic in (seed, index): features from a mixture of normal
/// distributions, the class the largest output of a random two-layer network V |W x|, both drawn from the seed. A share
/// `noise` of the labels is replaced by a random class (docs/data.md). `train` and `test` of the source have no effect.
Samples draw_tabular(const spec::TabularSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed);

inline constexpr std::int64_t kUtteranceChannels = 13;
inline constexpr std::int64_t kUtteranceClasses = 10;

/// Draws sequences like spoken digits (13 cepstral coefficients per frame), deterministic in (seed, index): ten words
/// of three or four phones, in pairs of the same phones in opposite order; durations, speaker and noise vary
/// (docs/data.md). Features: count × (length · 13), frame by frame, zeros after the end of a word.
Samples draw_utterances(std::int64_t length, std::int64_t first, std::int64_t count, std::uint64_t seed);

}  // namespace dadsim::models
