#include "report/text/paragraph.hpp"

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

}  // namespace dadsim::report
