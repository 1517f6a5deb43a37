#pragma once

#include <optional>
#include <string>

namespace dadsim::sim {

// SimGrid's own unit parsers; nullopt where the text is no number with such a unit. A unit is required, except for a
// zero.
std::optional<double> parse_seconds(const std::string& text);           ///< "5ms"
std::optional<double> parse_bytes(const std::string& text);             ///< "1MiB"
std::optional<double> parse_bytes_per_second(const std::string& text);  ///< "100Mbps"
std::optional<double> parse_flops(const std::string& text);             ///< "312TF", "312Tf"

}  // namespace dadsim::sim
