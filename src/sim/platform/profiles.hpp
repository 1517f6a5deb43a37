#pragma once

#include "sim/process/compat.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Hangs the profiles of a platform on the links that they name, before the platform is sealed. Throws
/// std::runtime_error where a name fits no link.
void apply_profiles(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine);

}  // namespace dadsim::sim
