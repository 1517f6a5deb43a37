#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/data/source_bytes.hpp"

namespace dadsim::models {

/// A text as symbol numbers, divided into a training part and a held-back part.
struct TextSymbols {
  std::vector<std::uint16_t> symbols;
  std::int64_t train = 0;       ///< symbols of the training part
  std::int64_t vocabulary = 0;  ///< number of symbols: the characters of the training part in order of code points, and
                                ///< one for all other characters if there are any
};

/// Reads UTF-8. Throws InputError with file and line: invalid UTF-8, a NUL, too many different characters.
TextSymbols read_text(SourceBytes& bytes, double test_share);

/// Returns the number of windows of `length` symbols, one after the other, that a text of `symbols` symbols has; each
/// window needs the symbol after it too.
std::int64_t windows_in(std::int64_t symbols, std::int64_t length);

/// Returns `count` windows from symbol `first` on: features are the symbols, labels their successors.
Samples windows_of(const TextSymbols& text, std::int64_t first, std::int64_t count, std::int64_t length);

spec::DataFacts inspect_text(const spec::TextSource& source);
Dataset read_text(const spec::TextSource& source);

}  // namespace dadsim::models
