#pragma once

#include <map>
#include <string>

namespace dadsim::cli {

/// Pages of docs/algorithms, by file name: one for each algorithm and each compressor, with what the registries say of
/// it, and README.md: all of them by family, and which algorithm goes with which compressor.
std::map<std::string, std::string> algorithm_pages();

}  // namespace dadsim::cli
