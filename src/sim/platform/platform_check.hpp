#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spec/platform_specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::sim {

struct PlatformFindings {
  std::vector<Diagnostic> file_errors;    ///< of the platform file itself
  std::vector<std::string> host_errors;   ///< per host asked for: empty, or "what; remedy"
  std::vector<std::string> route_errors;  ///< "what; remedy"
};

/// Loads or builds a platform in a process of its own and finds out whether it can carry the workers: hosts exist
/// (did-you-mean), no host has more workers than cores, every pair (indices into `hosts`) has a route both ways.
/// SimGrid's own errors are passed on with file and line; nothing SimGrid does can end this process.
PlatformFindings check_platform(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                                const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

/// Whether bandwidths, latencies or speeds change, so that a step takes a different time at another date.
bool varies_over_time(const spec::PlatformSpec& platform);

}  // namespace dadsim::sim
