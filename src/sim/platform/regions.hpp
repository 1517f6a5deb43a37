#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Cloud regions with measured throughput and round-trip time between them ("aws:eu-west-1"), sorted.
const std::vector<std::string>& region_names();

/// What was measured from one region to another (direction matters); nullopt where nothing was.
std::optional<spec::WanSpec::Pair> region_pair(const std::string& from, const std::string& to);

}  // namespace dadsim::sim
