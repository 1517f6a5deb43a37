#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/json.hpp"

// Functions for all JSON files. Include this header only in source files, because the JSON library takes a second to
// compile.

namespace dadsim::report {

using Json = formats::Json;

/// Returns null for infinity, NaN and unknown values, because JSON has only finite numbers.
Json number(double value);
Json number(const std::optional<double>& value);

/// Returns `json` on one line. Names from a platform file may be in another encoding; JSON is UTF-8, so invalid bytes
/// become U+FFFD.
std::string one_line(const Json& json);
/// Returns `json` with a member per line and a final newline, encoded as by one_line().
std::string indented(const Json& json);

}  // namespace dadsim::report
