#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dadsim::report {

/// Columns of what a row is of: labels of runs are told apart by their ends as well.
inline constexpr std::size_t kWidestLabel = 44;

/// A table in parts that fit the terminal (parts_of_table): the first row is the heading, with a line below it; the
/// first column is what a row is of, at most kWidestLabel wide, and the others are aligned to the right. `columns` are
/// those shown, the first among them; each row has as many cells as the heading.
std::string grid(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& columns);

}  // namespace dadsim::report
