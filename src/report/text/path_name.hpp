#pragma once

#include <string>
#include <vector>

namespace dadsim::report {

/// What a path of --set is of, in words: "uplink of the sites" of "platform.federation.sites.up". A path that no rule
/// knows is named after its end: "cap of run 2".
std::string path_in_words(const std::string& path);

/// The same of paths that stand side by side: those of the same name keep their paths.
std::vector<std::string> paths_in_words(const std::vector<std::string>& paths);

/// "uplink of the sites 8.63Mbps" of "platform.federation.sites.up=8.63Mbps".
std::string assignment_in_words(const std::string& assignment);

}  // namespace dadsim::report
