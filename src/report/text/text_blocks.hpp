#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::report {

inline constexpr std::size_t kTableWidth = 132;  ///< largest width of text for people, in columns

/// Returns the width of tables and sentences: kTableWidth, or that of a narrower terminal.
std::size_t table_width();
/// Sets the width for the whole process, between 60 and kTableWidth columns.
void fit_tables_to(std::size_t columns);

/// Breaks the sentence into lines of table_width(), all but the first indented, with a final newline.
std::string paragraph(std::string_view sentence, std::size_t indent = 2);

/// A column of a table that may be cut into parts.
struct TableColumn {
  std::size_t width = 0;  ///< width of the column in terminal columns
  std::size_t group = 0;  ///< group of the column; adjacent columns of one group share a heading
};

/// Divides the columns of a table into parts of table_width(), printed below each other. Each part begins with the
/// first column, which labels the rows, and no group is divided. `gap`: spaces between two columns.
std::vector<std::vector<std::size_t>> parts_of_table(const std::vector<TableColumn>& columns, std::size_t gap = 2);

/// Text for people: the answer first, then tables and sentences, then the sources.
struct Summary {
  std::string answer;
  std::string body;
  std::string background;  ///< assumptions and models
  std::string all() const;
};

/// Widest label of a row, in columns; labels of runs may differ only at their ends.
inline constexpr std::size_t kWidestLabel = 44;

/// Options of a grid.
struct GridStyle {
  std::vector<std::size_t> left = {0};  ///< indices of the columns aligned to the left; others are aligned to the right
  std::size_t indent = 0;               ///< spaces before the first column
  std::size_t gap = 2;                  ///< spaces between two columns
  std::size_t widest = kWidestLabel;    ///< width of the first column; longer cells are cut
  bool rule = true;                     ///< line below the heading
  /// true: the last column is text that wraps; others are aligned to the left. Rows become sentences if the other
  /// columns need most of the terminal.
  bool prose = false;
};

/// Returns a table in parts that fit the terminal (parts_of_table). The first row is the heading, whose cells may have
/// a second line. Each row needs as many cells as the heading. Leaves out columns, except the first, in which every
/// cell is "–".
std::string grid(std::vector<std::vector<std::string>> rows, const GridStyle& style = {});

}  // namespace dadsim::report
