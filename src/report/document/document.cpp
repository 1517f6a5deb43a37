#include "report/document/document.hpp"

#include <stdexcept>

namespace dadsim::report {

TableRow DocumentTable::add_row(bool is_detail) {
  if (is_detail) detail.push_back(rows.size());
  rows.emplace_back();
  return TableRow(*this);
}

TableRow& TableRow::add(std::string name, std::string title, DocumentValue value, Unit unit,
                        std::optional<std::string> words) {
  std::vector<DocumentTable::Cell>& cells = table_.rows.back();
  if (cells.size() == table_.columns.size())
    table_.columns.push_back({.name = name, .title = title, .left = unit == Unit::text});
  const DocumentTable::Head& head = table_.columns[cells.size()];
  if (head.name != name || head.title != title)
    throw std::logic_error("a row has '" + name + "', '" + title + "' in the column of '" + head.name + "'");
  if (!words) words = title.empty() ? std::string() : in_words(value, unit);
  cells.push_back({std::move(value), std::move(*words)});
  return *this;
}

TableRow& TableRow::json(std::string name, DocumentValue value) {
  add(std::move(name), std::move(value));
  table_.columns[table_.rows.back().size() - 1].in_csv = false;
  return *this;
}

TableRow& TableRow::csv(std::string name, DocumentValue value) {
  add(std::move(name), std::move(value));
  table_.columns[table_.rows.back().size() - 1].in_json = false;
  return *this;
}

TableRow& TableRow::page(std::string title, std::string words) {
  say(std::move(title), std::move(words));
  table_.columns[table_.rows.back().size() - 1].in_text = false;
  return *this;
}

}  // namespace dadsim::report
