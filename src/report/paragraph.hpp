#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dadsim::report {

inline constexpr std::size_t kTableWidth = 132;   ///< columns of what is written for a terminal
inline constexpr std::size_t kLongestLabel = 23;  ///< columns of a run's label in a table

/// The sentence in lines of kTableWidth, all but the first indented, and ending in a newline.
std::string paragraph(std::string_view sentence, std::size_t indent = 2);

}  // namespace dadsim::report
