#pragma once

#include <string>

#include "sim/platform.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::cli {

/// What was built, for a terminal: at most kPlatformWidth columns wide, except for rows of the table of links.
std::string to_text(const std::string& file, const spec::PlatformSpec& platform, const sim::PlatformReport& report);

/// What was built, as JSON: indented, ending in a newline; every field is documented in docs/output-platform.md.
std::string to_json(const std::string& file, const spec::PlatformSpec& platform, const sim::PlatformReport& report);

inline constexpr std::size_t kPlatformWidth = 110;  ///< columns

}  // namespace dadsim::cli
