#pragma once

#include <string_view>

#include "spec/names.hpp"
#include "support/fact_table.hpp"

namespace dadsim::spec {

/// Returns the enumeration value named in a cell of a table of facts.
template <Named Enum>
Enum named_in(const FactTable::Row& row, std::string_view column) {
  const auto value = parse<Enum>(row.text(column));
  if (!value)
    row.wrong("'" + row.text(column) + "' as " + std::string(column), suggestion(row.text(column), all_names<Enum>()));
  return *value;
}

}  // namespace dadsim::spec
