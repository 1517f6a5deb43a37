#pragma once

#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Link.hpp>
#include <string>

#include "sim/platform/build/link_properties.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Returns the properties of a link: stored when it was built, or read from a platform file. `fallback`: transport of a
/// link that names none. Throws std::runtime_error, with a message, if a property has no valid value.
LinkProperties properties_of(const simgrid::s4u::Link* link, spec::Transport fallback);
/// Returns the message with which properties_of would fail for one of the links; empty if it succeeds for all.
std::string fault_of_properties(const simgrid::s4u::Engine& engine);

}  // namespace dadsim::sim
