#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/document/document.hpp"
#include "report/text/escape.hpp"

namespace dadsim::report {
namespace {

std::string field_of(const DocumentValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return csv_field(*number);
  const bool empty = std::holds_alternative<std::monostate>(value) || std::holds_alternative<Omitted>(value);
  return empty ? std::string() : csv_field(std::string_view(in_words(value, Unit::plain)));
}

}  // namespace

std::string to_csv(const Document& document) {
  for (const DocumentPart& part : document.parts) {
    const DocumentTable* table = std::get_if<DocumentTable>(&part.what);
    if (table == nullptr || part.name.empty() || part.page_alone) continue;
    std::vector<std::vector<std::string>> lines(1 + table->rows.size());
    for (std::size_t i = 0; i < table->columns.size(); ++i) {
      if (table->columns[i].name.empty() || !table->columns[i].in_csv) continue;
      lines[0].push_back(csv_field(std::string_view(table->columns[i].name)));
      for (std::size_t row = 0; row < table->rows.size(); ++row) {
        const std::vector<DocumentTable::Cell>& cells = table->rows[row];
        lines[row + 1].push_back(i < cells.size() ? field_of(cells[i].value) : std::string());
      }
    }
    std::string csv;
    for (const std::vector<std::string>& line : lines) csv += fmt::format("{}\n", fmt::join(line, ","));
    return csv;
  }
  return {};
}

}  // namespace dadsim::report
