#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::cli {

/// The platform in a file named on the command line: a platform file, or the one of a scenario. `transport`, if given,
/// is how the links of a SimGrid file are used. A SimGrid file is loaded once to see whether SimGrid can. Throws
/// InputError with everything that is wrong with the file, UsageError where a transport means nothing.
spec::PlatformSpec load_platform_argument(const std::string& path, std::optional<spec::Transport> transport);

/// Checks that every pair of hosts of a SimGrid file (indices into `hosts`) has routes both ways; declared platforms
/// always have. Throws InputError.
void check_routes_of_file(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                          const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

}  // namespace dadsim::cli
