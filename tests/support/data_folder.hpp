#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace dadsim::test {

/// Returns the folder of published data that has `file`: DADSIM_DATA, or a folder next to the source tree. Empty if
/// neither has it.
inline std::filesystem::path folder_with(const std::string& file) {
  std::vector<std::filesystem::path> candidates;
  if (const char* named = std::getenv("DADSIM_DATA")) candidates.emplace_back(named);
  candidates.emplace_back(std::filesystem::path(DADSIM_SOURCE_DIR).parent_path() / "shared" / "data");
  for (const auto& candidate : candidates) {
    if (std::filesystem::exists(candidate / file)) return candidate;
  }
  return {};
}

}  // namespace dadsim::test
