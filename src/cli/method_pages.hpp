#pragma once

#include <map>
#include <string>

namespace dadsim::cli {

/// Returns the pages of docs/algorithms by file name: README.md, and one for each algorithm and compressor. Facts of
/// the registries (family, parameters, exactness, weights of sites, combinations) are inserted into the prose.
std::map<std::string, std::string> method_pages();

}  // namespace dadsim::cli
