#pragma once

#include <string>
#include <vector>

#include "support/diagnostics.hpp"

namespace dadsim::sim {

/// Checks a platform file before SimGrid reads it, because some faults would end SimGrid's process. The file must be
/// readable XML of reasonable size, without entities. It must not contain profiles over time that a step timed
/// separately cannot follow, or a <config> that changes the network model.
std::vector<Diagnostic> check_platform_text(const std::string& file);

/// Returns whether the file names profiles of bandwidths, latencies or speeds.
bool file_varies_over_time(const std::string& file);

}  // namespace dadsim::sim
