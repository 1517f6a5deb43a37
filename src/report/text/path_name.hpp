#pragma once

#include <string>
#include <vector>

namespace dadsim::report {

/// Returns the name of a --set path in words: "uplink of the sites" for "platform.federation.sites.up". A path without
/// a rule is named by its end: "cap of run 2".
std::string path_in_words(const std::string& path);

/// Returns the names of several paths in words; paths with equal names are returned unchanged.
std::vector<std::string> paths_in_words(const std::vector<std::string>& paths);

/// Returns "uplink of the sites 8.63Mbps" for "platform.federation.sites.up=8.63Mbps".
std::string assignment_in_words(const std::string& assignment);

}  // namespace dadsim::report
