#pragma once

#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Link.hpp>
#include <string>

#include "sim/platform/build/link_properties.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// How a link is used: as it was noted when it was built, or as the properties of a platform file say; `fallback`: the
/// transport of one that says none. Throws std::runtime_error, with words, where a property says nothing.
LinkProperties properties_of(const simgrid::s4u::Link* link, spec::Transport fallback);
/// What it would throw of some link; empty: nothing.
std::string fault_of_properties(const simgrid::s4u::Engine& engine);

}  // namespace dadsim::sim
