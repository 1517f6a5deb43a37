#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dadsim::scenario {

/// White space as XML defines it.
inline constexpr std::string_view kWhiteSpace = " \t\r\n";

/// Returns the text without white space at either end.
std::string trimmed(std::string_view text);

/// Returns the words between white space.
std::vector<std::string> split_words(std::string_view text);

}  // namespace dadsim::scenario
