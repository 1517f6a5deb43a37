#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::cli {

/// Returns the platform in a platform file or a scenario named on the command line. `transport`, if given, applies to
/// the links of a SimGrid file. SimGrid loads its file once, to check it. Throws InputError with all errors of the
/// file, and UsageError if a transport has no effect.
spec::PlatformSpec load_platform_argument(const std::string& path, std::optional<spec::Transport> transport);

/// Checks that pairs of hosts of a SimGrid file (indices into `hosts`) have routes in both directions; in declared
/// platforms all pairs do. Throws InputError.
void check_routes_of_file(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                          const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

}  // namespace dadsim::cli
