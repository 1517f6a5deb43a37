#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/data/csv.hpp"
#include "models/data/line_errors.hpp"

namespace dadsim::models {

inline constexpr const char* kCsvForm =
    "use comma-separated values: a line of names, then one line per sample (RFC 4180); semicolons, tabs and blanks "
    "also work";

/// Returns a table's text shortened to one line, for messages.
std::string shown_field(std::string_view text);

/// The fields of a table, row by row.
class CsvRows {
 public:
  /// `separator`: the character between fields.
  CsvRows(const CsvText& table, char separator, LineErrors& errors);

  std::int64_t line() const { return line_; }  ///< line of the row's start
  const std::vector<std::string>& fields() const { return fields_; }

  /// Advances to the next row that is not blank. Returns false at the end, or after an error that hides the next row.
  bool next();

 private:
  bool read_row();
  bool read_quoted(std::string& field);
  std::size_t end_of_field() const;
  /// Returns whether the row has another field; consumes the separator before this field.
  bool pass_separator();

  std::string_view rest_;
  char separator_;
  LineErrors& errors_;
  std::int64_t line_ = 0;
  std::int64_t next_line_ = 1;
  std::vector<std::string> fields_;
};

/// Returns the separator that separates `target` in the first row; otherwise the most frequent one in this row; a blank
/// if there is none.
char separator_of(const CsvText& table, const std::string& target);

/// Returns a field as a number, or nullopt. Unless commas separate fields, one comma may be the decimal point.
std::optional<double> number_of_field(std::string_view field, char separator);

}  // namespace dadsim::models
