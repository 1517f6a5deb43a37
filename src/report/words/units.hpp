#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Units of places in sentence templates: how a value is written.

namespace dadsim::report::words {

/// Returns whether a place may have this unit.
bool is_unit(std::string_view unit);
/// Returns whether the unit shows an interval, from the values `name_low` and `name_high`.
bool has_interval(std::string_view unit);

/// Returns a number by unit or by a specification of {fmt}. Throws std::logic_error for a unit of other values.
std::string in_unit(std::string_view unit, double number);
std::string in_unit(std::string_view unit, double number, std::optional<double> low, std::optional<double> high);
std::string in_unit(std::string_view unit, const std::string& text);
std::string in_unit(std::string_view unit, const std::vector<std::string>& list);

}  // namespace dadsim::report::words
