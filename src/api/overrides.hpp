#pragma once

#include <string>
#include <vector>

#include "api/dadsim.hpp"

namespace dadsim::api {

/// Returns settings in the form of `--set`.
inline std::vector<std::string> overrides_of(const Settings& settings) {
  std::vector<std::string> overrides;
  overrides.reserve(settings.size());
  for (const auto& [where, value] : settings) overrides.push_back(where + "=" + value);
  return overrides;
}

}  // namespace dadsim::api
