#include "report/text/text_blocks.hpp"

#include <algorithm>
#include <atomic>

#include "support/human.hpp"

namespace dadsim::report {
namespace {

constexpr std::size_t kNarrowest = 60;

std::atomic<std::size_t>& width_of_tables() {
  static std::atomic<std::size_t> columns = kTableWidth;
  return columns;
}

using GridRows = std::vector<std::vector<std::string>>;

/// Moves second lines of heading cells to a second heading row. Returns the number of rows in the heading.
std::size_t split_heading(GridRows& rows) {
  std::vector<std::string> second(rows.front().size());
  bool any = false;
  for (std::size_t i = 0; i < second.size(); ++i) {
    std::string& title = rows.front()[i];
    const std::size_t end = title.find('\n');
    if (end == std::string::npos) continue;
    any = true;
    second[i] = title.substr(end + 1);
    title.resize(end);
  }
  if (any) rows.insert(rows.begin() + 1, std::move(second));
  return any ? 2 : 1;
}

/// Returns the indices of the first column and of all columns with a cell other than "–".
std::vector<std::size_t> columns_of(const GridRows& rows, std::size_t heading) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < rows.front().size(); ++i) {
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(heading);
    if (i == 0 || !std::all_of(from, rows.end(), [i](const auto& row) { return row.at(i) == "–"; }))
      columns.push_back(i);
  }
  return columns;
}

std::string prose(const GridRows& rows, const std::vector<std::size_t>& columns, const std::vector<std::size_t>& widths,
                  std::size_t gap) {
  std::size_t before = 0;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) before += widths[columns[i]] + gap;
  const bool sentences = before > table_width() * 2 / 3;
  constexpr std::size_t kIndent = 4;  // indent of sentences
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
      const std::string& cell = row[columns[i]];
      line += sentences ? cell + (i + 2 < columns.size() ? ", " : ": ")
                        : left_aligned(cell, widths[columns[i]]) + std::string(gap, ' ');
    }
    text += wrapped(line + row[columns.back()], table_width(), sentences ? kIndent : before);
  }
  return text;
}

}  // namespace

std::size_t table_width() { return width_of_tables(); }

void fit_tables_to(std::size_t columns) { width_of_tables() = std::clamp(columns, kNarrowest, kTableWidth); }

std::string paragraph(std::string_view sentence, std::size_t indent) {
  return wrapped(sentence, table_width(), indent);
}

std::vector<std::vector<std::size_t>> parts_of_table(const std::vector<TableColumn>& columns, std::size_t gap) {
  std::vector<std::vector<std::size_t>> parts;
  std::size_t used = 0;
  for (std::size_t first = 1; first < columns.size();) {
    std::size_t end = first;
    std::size_t width = 0;
    for (; end < columns.size() && columns[end].group == columns[first].group; ++end) width += gap + columns[end].width;
    if (parts.empty() || used + width > table_width()) {
      parts.push_back({0});
      used = columns[0].width;
    }
    used += width;
    for (; first < end; ++first) parts.back().push_back(first);
  }
  if (parts.empty()) parts.push_back({0});
  return parts;
}

std::string Summary::all() const {
  std::string text;
  for (const std::string* part : {&answer, &body, &background}) {
    if (part->empty()) continue;
    if (!text.empty()) text += '\n';
    text += *part;
  }
  return text;
}

std::string grid(GridRows rows, const GridStyle& style) {
  const std::size_t heading = split_heading(rows);
  const std::vector<std::size_t> columns = columns_of(rows, heading);
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (const std::size_t i : columns) widths[i] = std::max(widths[i], display_width(row.at(i)));
  }
  if (style.prose) return prose(rows, columns, widths, style.gap);
  widths[0] = std::min(widths[0], style.widest);
  std::vector<TableColumn> in_table;
  for (const std::size_t i : columns) in_table.push_back({widths[i] + (i == 0 ? style.indent : 0), i});
  std::string text;
  for (const std::vector<std::size_t>& part : parts_of_table(in_table, style.gap)) {
    if (!text.empty()) text += '\n';
    for (const std::vector<std::string>& row : rows) {
      std::size_t total = 0;
      for (const std::size_t p : part) {
        const std::size_t i = columns[p];
        const std::size_t before = i == 0 ? style.indent : style.gap;
        const bool left = std::ranges::find(style.left, i) != style.left.end();
        text += std::string(before, ' ') + (left ? left_aligned(row[i], widths[i]) : right_aligned(row[i], widths[i]));
        total += before + widths[i];
      }
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
      if (!style.rule || &row != &rows[heading - 1]) continue;
      for (std::size_t i = 0; i < total; ++i) text += "─";
      text += '\n';
    }
  }
  return text;
}

}  // namespace dadsim::report
