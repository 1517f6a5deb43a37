#pragma once

#include <string_view>
#include <vector>

#include "estimate/bands.hpp"

namespace dadsim::estimate {

/// The category of computing whose speed was fitted to one measured step of the same network and software.
inline constexpr std::string_view kOwnStep = "compute.own-step";

/// The parts of a time as they are once the speed of computing is fitted so.
std::vector<TimePart> with_own_step(std::vector<TimePart> parts);

}  // namespace dadsim::estimate
