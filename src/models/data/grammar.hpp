#pragma once

#include <cstdint>
#include <string_view>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// The characters of the grammar; a symbol is an index into them.
inline constexpr std::string_view kGrammarAlphabet = "0123456789+-*=;()[]{}";
inline constexpr auto kGrammarVocabulary = static_cast<std::int64_t>(kGrammarAlphabet.size());

/// Sentences of a small formal language, e.g. "[3+(4*2)]-7=4;", deterministic in (seed, index):
///   sentence → sum = d ;    sum → term op term    term → d | ( sum ) | [ sum ] | { sum }    op → + | - | *
/// with digits d; the d after = is the value modulo 10. Each sample starts with a sentence and breaks off in another.
/// Features: count × length symbols; labels: the symbol that follows each (docs/data.md).
Samples draw_grammar(std::int64_t length, std::int64_t first, std::int64_t count, std::uint64_t seed);

}  // namespace dadsim::models
