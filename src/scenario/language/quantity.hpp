#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/language/node.hpp"

namespace dadsim::scenario {

inline constexpr QuantityForm kBandwidthForm{
    Unit::bytes_per_second, {.minimum = 0, .open_minimum = true}, "a bandwidth above 0 with its unit, e.g. 100Mbps"};
inline constexpr QuantityForm kLatencyForm{
    Unit::seconds, {.minimum = 0}, "seconds with their unit, not below 0, e.g. 5ms"};
inline constexpr QuantityForm kDurationForm{
    Unit::seconds, {.minimum = 0, .open_minimum = true}, "seconds above 0 with their unit, e.g. 30s"};
inline constexpr QuantityForm kBytesForm{
    Unit::bytes, {.minimum = 0, .open_minimum = true}, "bytes above 0 with their unit, e.g. 300kB"};

/// Reads "5ms", "100Mbps", "1MiB", "312TF" in seconds, byte/s, bytes or flop/s. Nullopt unless the text is a decimal
/// number from 0 on, directly before a unit of that kind; only a zero needs none.
std::optional<double> parse_quantity(Unit unit, std::string_view text);

/// Returns the presumed correct form of a text that is no quantity of the kind: "20Mbps" for "20 Mbps", "100Mbps" for
/// "100mbps", "5s" for "5 sec". Empty if there is none.
std::string meant_quantity(Unit unit, const std::string& text);

/// Returns the forms that a number in another notation may be meant as, likeliest first, without `text` itself: without
/// blanks, plus sign and typographic characters; without separators of thousands; with a decimal point for a comma.
std::vector<std::string> other_notations(const std::string& text);

/// Returns the remedy for a number in another notation: "write 0.002" for "0,002", "write 1000 or 1.000" for "1,000".
/// Empty unless `accepts` takes one of its forms.
std::string remedy_for_number(const std::string& text, const std::function<bool(const std::string&)>& accepts);

/// Returns the unit with factor one, as SimGrid reads it: "s", "B", "Bps", "f".
const char* base_unit(Unit unit);

/// Reads a required quantity. Nullopt with a finding if it is missing, no such quantity, or not in the range.
std::optional<double> required_quantity(const Node& node, const char* attribute, const QuantityForm& form);

/// Reads an optional quantity; returns `fallback` if it is missing, or with a finding.
double quantity(const Node& node, const char* attribute, const QuantityForm& form, double fallback);

}  // namespace dadsim::scenario
