#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/data/csv.hpp"
#include "models/data/csv_rows.hpp"
#include "models/data/line_errors.hpp"

namespace dadsim::models {

inline constexpr std::ptrdiff_t kIgnoredField = -1;
inline constexpr std::ptrdiff_t kSiteField = -2;

/// Roles of columns, by name.
struct CsvRoles {
  std::string target, site;
  std::vector<std::string> ignore;
};

/// Returns the roles of columns, with `names` those of the first table.
CsvRoles roles_of(const CsvTables& tables, const std::vector<std::string>& names);

/// The rows of one of the tables, and the names of its columns.
class TableRows {
 public:
  TableRows(const CsvTables& tables, const CsvText& table, LineErrors& errors);

  bool empty() const { return names_.empty(); }  ///< true: the table has no line of names
  const std::vector<std::string>& names() const { return names_; }
  std::int64_t line_of_names() const { return line_; }
  char separator() const { return separator_; }

  std::int64_t line() const { return rows_.line(); }
  const std::vector<std::string>& fields() const { return rows_.fields(); }
  /// Advances to the next sample; see CsvRows::next().
  bool next();

 private:
  char separator_;
  CsvRows rows_;
  std::vector<std::string> names_;
  std::int64_t line_ = 0;
  bool at_first_ = false;  ///< true: next() must return the first row, which has been read already
};

/// Returns for each field of a row the index of its column in CsvColumns::columns, or one of the two constants above.
std::vector<std::ptrdiff_t> columns_of_fields(const CsvRoles& roles, const std::vector<std::string>& names);

/// Returns whether a field marks a missing value.
bool is_missing_field(const std::string& field);

}  // namespace dadsim::models
