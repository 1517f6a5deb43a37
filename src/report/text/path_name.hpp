#pragma once

#include <string>
#include <vector>

namespace dadsim::report {

/// Returns the meaning of a --set path: "uplink of the sites" for "platform.federation.sites.up". A path without a rule
/// is named after its end: "cap of run 2".
std::string path_in_words(const std::string& path);

/// Returns the meanings of several paths; paths with equal meanings are returned as they are.
std::vector<std::string> paths_in_words(const std::vector<std::string>& paths);

/// Returns "uplink of the sites 8.63Mbps" for "platform.federation.sites.up=8.63Mbps".
std::string assignment_in_words(const std::string& assignment);

}  // namespace dadsim::report
