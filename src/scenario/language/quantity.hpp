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

/// Reads "5ms", "100Mbps", "1MiB", "312TF" in seconds, byte/s, bytes or flop/s. Returns nullopt unless the text is a
/// decimal number of at least 0, directly followed by a unit of this kind. 0 needs no unit.
std::optional<double> parse_quantity(Unit unit, std::string_view text);

/// Suggests a correct form of a text that is not a quantity of this kind: "20Mbps" for "20 Mbps", "100Mbps" for
/// "100mbps", "5s" for "5 sec". Returns an empty text if there is none.
std::string meant_quantity(Unit unit, const std::string& text);

/// Returns possible readings of a number in another notation, likeliest first, without `text` itself: without blanks,
/// plus sign and typographic characters; without separators of thousands; with a decimal point for a comma.
std::vector<std::string> other_notations(const std::string& text);

/// Returns the remedy for a number in another notation: "write 0.002" for "0,002", "write 1000 or 1.000" for "1,000".
/// Returns an empty text unless `accepts` returns true for one of the readings.
std::string remedy_for_number(const std::string& text, const std::function<bool(const std::string&)>& accepts);

/// Returns the name of the unit in which quantities are stored, in SimGrid's spelling: "s", "B", "Bps", "f".
const char* base_unit(Unit unit);

/// Reads a required quantity. Returns nullopt, with a finding, if it is missing, is not a quantity of this kind, or is
/// out of range.
std::optional<double> required_quantity(const Node& node, const char* attribute, const QuantityForm& form);

/// Reads an optional quantity. Returns `fallback` if it is missing or, with a finding, wrong.
double quantity(const Node& node, const char* attribute, const QuantityForm& form, double fallback);

}  // namespace dadsim::scenario
