#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Finds names near a misspelt word.

namespace dadsim {

/// Most names that a message lists.
inline constexpr std::size_t kMostSuggested = 3;

/// Returns the edit distance in which a swap of neighbours counts as one edit (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the text with its ASCII letters in lower case.
std::string lower_case(std::string_view text);

/// Returns at most `most` candidates, each once, the nearest to `word` by edit distance first, in any case.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most);

/// Returns "did you mean 'a', 'b' or 'c'?". There must be at least one name.
std::string did_you_mean(std::span<const std::string> names);

}  // namespace dadsim
