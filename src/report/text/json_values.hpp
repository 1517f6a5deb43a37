#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/json.hpp"

// What every JSON file here has in common. Only sources include this: the library takes the compiler a second.

namespace dadsim::report {

using Json = formats::Json;

/// JSON knows no infinity and no "not a number": null stands for them, and for what is not known.
Json number(double value);
Json number(const std::optional<double>& value);

/// The file that holds `json`, on one line. Names from a platform file may be in another encoding: JSON is UTF-8, and
/// what is not becomes U+FFFD.
std::string one_line(const Json& json);
/// As one_line(), a member a line, and ending in a newline.
std::string indented(const Json& json);

}  // namespace dadsim::report
