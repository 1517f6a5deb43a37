#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Names that are near what somebody typed.

namespace dadsim {

/// Names that a message lists at most.
inline constexpr std::size_t kMostSuggested = 3;

/// Edit distance in which a swap of neighbours counts as one edit (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The text in lower case, as far as ASCII has one.
std::string lower_case(std::string_view text);

/// At most so many candidates, the nearest to `word` by edit distance first, whatever their case; each once.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates, std::size_t most);

/// "did you mean 'a', 'b' or 'c'?" of names, of which there is at least one.
std::string did_you_mean(std::span<const std::string> names);

}  // namespace dadsim
