#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/document/document.hpp"
#include "report/text/escape.hpp"

namespace dadsim::report {
namespace {

/// Returns a number, flag or text as a field; joins a list of texts with spaces; other values give an empty field.
std::string field_of(const DocumentValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return csv_field(*number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
    return csv_field(std::string_view(fmt::format("{}", fmt::join(*texts, " "))));
  const bool one = std::holds_alternative<std::string>(value) || std::holds_alternative<std::int64_t>(value) ||
                   std::holds_alternative<std::uint64_t>(value);
  return one ? csv_field(std::string_view(in_words(value, Unit::plain))) : std::string();
}

}  // namespace

std::string to_csv(const DocumentTable& table) {
  const auto named = [](const DocumentTable::Head& head) { return !head.name.empty() && head.in_csv; };
  const bool of_words = std::ranges::none_of(table.columns, named);
  std::vector<std::vector<std::string>> lines(1 + table.rows.size());
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const DocumentTable::Head& head = table.columns[i];
    if (of_words ? head.title.empty() : !named(head)) continue;
    lines[0].push_back(csv_field(std::string_view(of_words ? head.title : head.name)));
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const std::vector<DocumentTable::Cell>& cells = table.rows[row];
      lines[row + 1].push_back(i >= cells.size() ? std::string()
                               : of_words        ? csv_field(std::string_view(cells[i].words))
                                                 : field_of(cells[i].value));
    }
  }
  std::string csv;
  for (const std::vector<std::string>& line : lines) csv += fmt::format("{}\n", fmt::join(line, ","));
  return csv;
}

std::string to_csv(const Document& document) {
  for (const DocumentPart& part : document.parts) {
    const DocumentTable* table = std::get_if<DocumentTable>(&part.what);
    if (table != nullptr && !part.name.empty() && !part.page_alone) return to_csv(*table);
  }
  return {};
}

}  // namespace dadsim::report
