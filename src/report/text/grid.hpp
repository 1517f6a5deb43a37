#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dadsim::report {

/// Columns of what a row is of: labels of runs are told apart by their ends as well.
inline constexpr std::size_t kWidestLabel = 44;

/// Options of a grid.
struct GridStyle {
  std::vector<std::size_t> left = {0};  ///< columns that are aligned to the left; the others are to the right
  std::size_t indent = 0;               ///< spaces before the first column
  std::size_t gap = 2;                  ///< spaces between two columns
  std::size_t widest = kWidestLabel;    ///< width of the first column; longer cells are cut
  bool rule = true;                     ///< a line below the heading
  /// The last column is text that wraps, and the others are aligned to the left. Where these need most of the
  /// terminal, each row is a sentence.
  bool prose = false;
};

/// A table in parts that fit the terminal (parts_of_table): the first row is the heading, whose cells may have a second
/// line. Each row has as many cells as the heading. A column but the first is left out where every cell is "–".
std::string grid(std::vector<std::vector<std::string>> rows, const GridStyle& style = {});

}  // namespace dadsim::report
