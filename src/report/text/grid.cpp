#include "report/text/grid.hpp"

#include <algorithm>

#include "report/text/paragraph.hpp"
#include "support/human.hpp"

namespace dadsim::report {

std::string grid(const std::vector<std::vector<std::string>>& rows, const std::vector<std::size_t>& columns) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (const std::size_t i : columns) widths.at(i) = std::max(widths.at(i), display_width(row.at(i)));
  }
  widths[0] = std::min(widths[0], kWidestLabel);
  std::vector<TableColumn> in_table;
  for (const std::size_t i : columns) in_table.push_back({widths.at(i), i});
  std::string text;
  for (const std::vector<std::size_t>& part : parts_of_table(in_table)) {
    if (!text.empty()) text += '\n';
    for (const std::vector<std::string>& row : rows) {
      std::size_t total = 0;
      for (const std::size_t p : part) {
        const std::size_t i = columns[p];
        text += i == 0 ? left_aligned(row[0], widths[0]) : "  " + right_aligned(row.at(i), widths.at(i));
        total += widths.at(i) + (i == 0 ? 0 : 2);
      }
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
      if (&row != rows.data()) continue;
      for (std::size_t i = 0; i < total; ++i) text += "─";
      text += '\n';
    }
  }
  return text;
}

}  // namespace dadsim::report
