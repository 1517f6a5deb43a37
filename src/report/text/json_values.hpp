#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/json.hpp"

// Functions common to all JSON files. Only sources should include this header: the library takes the compiler a second.

namespace dadsim::report {

using Json = formats::Json;

/// Returns null for infinity, for "not a number" and for unknown values, since JSON has only finite numbers.
Json number(double value);
Json number(const std::optional<double>& value);

/// Returns the file with `json` on one line. Names from a platform file may be in another encoding: JSON is UTF-8, and
/// invalid bytes become U+FFFD.
std::string one_line(const Json& json);
/// Returns the same as one_line(), with a member per line and a final newline.
std::string indented(const Json& json);

}  // namespace dadsim::report
