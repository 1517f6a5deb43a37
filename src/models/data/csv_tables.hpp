#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/data/csv.hpp"

namespace dadsim::models {

inline constexpr std::ptrdiff_t kIgnoredField = -1;
inline constexpr std::ptrdiff_t kSiteField = -2;

/// Which of CsvColumns::columns each field of a row is, by the line of names; or one of the two above.
std::vector<std::ptrdiff_t> columns_of_fields(const CsvTables& tables, const std::vector<std::string>& names);

/// Whether a field stands for a value that nobody knows.
bool is_missing_field(const std::string& field);

}  // namespace dadsim::models
