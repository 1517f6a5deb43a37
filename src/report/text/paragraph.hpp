#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dadsim::report {

inline constexpr std::size_t kTableWidth = 132;  ///< columns of what is written for people, at most

/// Columns that tables and sentences are made to fit: kTableWidth, or those of a narrower terminal.
std::size_t table_width();
/// From now on so many columns, for the whole process; between 60 and kTableWidth.
void fit_tables_to(std::size_t columns);

/// The sentence in lines of table_width(), all but the first indented, and ending in a newline.
std::string paragraph(std::string_view sentence, std::size_t indent = 2);

/// A column of a table, as far as it matters for where the table is cut.
struct TableColumn {
  std::size_t width = 0;  ///< columns of the terminal
  std::size_t group = 0;  ///< neighbours of the same group stand below one heading
};

/// The columns of a table in as many parts as table_width() asks for, one below the other; each begins with the first
/// column, which says what a row is of, and no group is torn apart. `gap` columns stand between two.
std::vector<std::vector<std::size_t>> parts_of_table(const std::vector<TableColumn>& columns, std::size_t gap = 2);

/// What is said to people: the answer first, then the tables and sentences behind it, then what it rests on.
struct Summary {
  std::string answer;
  std::string body;
  std::string background;  ///< what was assumed, and by which models
  std::string all() const;
};

}  // namespace dadsim::report
