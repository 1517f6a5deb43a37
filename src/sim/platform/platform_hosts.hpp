#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// A host of a platform that has been built.
struct PlatformHost {
  std::string name;
  std::int32_t node =
      0;  ///< hosts of one node have the same; numbered from 0 up without gaps, in the order of the hosts
};

/// The hosts of a platform: of a declared one in the order in which they are built, of a SimGrid file by name, where
/// numbers count as numbers (gpu-2 before gpu-10). Builds it in a process of its own. Throws std::runtime_error if it
/// cannot be built.
std::vector<PlatformHost> platform_hosts(const spec::PlatformSpec& platform);

/// The names of its links, as profiles name them, in the order of their numbers; each direction of a split link by
/// itself. Throws as platform_hosts.
std::vector<std::string> platform_links(const spec::PlatformSpec& platform);

/// Whether `a` comes before `b`, where runs of digits count as numbers.
bool before_by_number(const std::string& a, const std::string& b);

}  // namespace dadsim::sim
