#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/diagnostics.hpp"

// Tables of facts: CSV files (RFC 4180) next to the code that reads them, built into the program. Lines that begin with
// # are comments; the first other line has the names of columns, with units in brackets. Every row has a `date` (of the
// source, as 2024, 2024-05 or 2024-05-01) and a `source`, except in tables of words. Errors in a file are bugs of
// dadsim: std::logic_error, `file:line: what; remedy`.

namespace dadsim {

/// A built-in file: `tables::k<Name>` of "folder/name.csv.hpp", which cmake generates from folder/name.csv.
struct TableText {
  std::string_view file, text;
};

class FactTable {
 public:
  class Row {
   public:
    /// Returns the cell, which may be empty.
    const std::string& optional_text(std::string_view column) const;
    /// Returns the cell, which must not be empty.
    const std::string& text(std::string_view column) const;
    /// Returns the cell as a number; it may be a quotient of two numbers: 16/36.
    double number(std::string_view column) const;
    /// Returns a part of the column's cell as a number.
    double number_of(std::string_view part, std::string_view column) const;
    double number_or(std::string_view column, double otherwise) const;
    std::int64_t integer(std::string_view column) const;
    bool yes(std::string_view column) const;  ///< Returns true for "yes", false for "no".
    /// Returns the enumeration value whose name is in the cell.
    template <class Value>
    Value one_of(std::string_view column, std::initializer_list<std::pair<std::string_view, Value>> choices) const {
      std::vector<std::string> names;
      for (const auto& [name, value] : choices) {
        if (name == text(column)) return value;
        names.emplace_back(name);
      }
      wrong("'" + text(column) + "' as " + std::string(column), suggestion(text(column), names));
    }
    /// Returns the row of another table whose first cell equals this cell.
    const Row& row_of(std::string_view column, const FactTable& other) const;
    /// Throws an error with the file and the line of the row.
    [[noreturn]] void wrong(std::string what, std::string remedy) const;

   private:
    friend class FactTable;
    Row(const FactTable& table, int line, std::vector<std::string> cells)
        : table_(&table), line_(line), cells_(std::move(cells)) {}
    const FactTable* table_;
    int line_;
    std::vector<std::string> cells_;
  };

  /// `columns`: all columns, in order. `keys`: number of first cells that must be unique together.
  FactTable(const TableText& file, std::vector<std::string> columns, std::size_t keys = 1);
  FactTable(const FactTable&) = delete;
  FactTable& operator=(const FactTable&) = delete;

  const std::vector<Row>& rows() const { return rows_; }
  /// Returns the result of `make` for each row.
  template <class Make>
  auto each(const Make& make) const {
    std::vector<std::invoke_result_t<const Make&, const Row&>> all;
    for (const Row& row : rows_) all.push_back(make(row));
    return all;
  }

 private:
  [[noreturn]] void wrong(int line, std::string what, std::string remedy) const;
  void check(const Row& row, std::size_t keys) const;

  std::string file_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

/// Reads a table with one constant per row: name, value, unit, words, date and source. `members`: the member for each
/// name. Throws an error for a name without a row, or a row without a name.
template <class Constants>
Constants read_constants(const TableText& file,
                         std::initializer_list<std::pair<std::string_view, double Constants::*>> members) {
  const FactTable table(file, {"name", "value", "unit", "words", "date", "source"});
  Constants all{};
  for (const FactTable::Row& row : table.rows())
    all.*row.one_of<double Constants::*>("name", members) = row.number("value");
  if (table.rows().size() != members.size()) table.rows().back().wrong("the last row", "a row for every constant");
  return all;
}

/// Returns the cells of a line of a CSV file, without their quotes. Throws std::invalid_argument for wrong quotes:
/// unpaired, inside an unquoted cell, or followed by text.
std::vector<std::string> csv_cells(std::string_view line);

}  // namespace dadsim
