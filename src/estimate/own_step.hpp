#pragma once

#include <string_view>
#include <vector>

#include "estimate/bands.hpp"

namespace dadsim::estimate {

/// Returns the category of computing whose speed was fitted to one measured step of the same network and software.
inline constexpr std::string_view kOwnStep = "compute.own-step";

/// Returns the parts of a time once the speed of computing has been fitted to such a step.
std::vector<TimePart> with_own_step(std::vector<TimePart> parts);

}  // namespace dadsim::estimate
