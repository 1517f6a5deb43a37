#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace dadsim::report {

/// Widest label of a row, in columns; labels of runs may differ only at their ends.
inline constexpr std::size_t kWidestLabel = 44;

/// Options of a grid.
struct GridStyle {
  std::vector<std::size_t> left = {0};  ///< columns aligned to the left; the others are aligned to the right
  std::size_t indent = 0;               ///< spaces before the first column
  std::size_t gap = 2;                  ///< spaces between two columns
  std::size_t widest = kWidestLabel;    ///< width of the first column; longer cells are cut
  bool rule = true;                     ///< line below the heading
  /// The last column is text that wraps; the others are aligned to the left. Each row becomes a sentence if the others
  /// need most of the terminal.
  bool prose = false;
};

/// Writes a table in parts that fit the terminal (parts_of_table). The first row is the heading, whose cells may have a
/// second line. Each row needs as many cells as the heading. A column other than the first is left out if every cell is
/// "–".
std::string grid(std::vector<std::vector<std::string>> rows, const GridStyle& style = {});

}  // namespace dadsim::report
