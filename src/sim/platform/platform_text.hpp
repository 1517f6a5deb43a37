#pragma once

#include <string>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::sim {

/// What can be said of a platform file before SimGrid sees it, which would end the process for some of it: whether it
/// is a readable XML file of reasonable size, without entities, and without what a step timed by itself cannot follow
/// (profiles over time) or what would change the network model (<config>).
std::vector<Diagnostic> check_platform_text(const std::string& file);

/// Whether the file has profiles.
bool file_varies_over_time(const std::string& file);

}  // namespace dadsim::sim
