#pragma once

#include "plan/platform_specification.hpp"
#include "sim/compat.hpp"

namespace dadsim {

/// Hangs the profiles of a platform on the links that they name, before the platform is sealed. Throws
/// std::runtime_error where a name fits no link.
void apply_profiles(const PlatformSpec& platform, const simgrid::s4u::Engine& engine);

}  // namespace dadsim
