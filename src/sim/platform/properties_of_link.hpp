#pragma once

#include <simgrid/s4u/Engine.hpp>
#include <simgrid/s4u/Link.hpp>
#include <string>

#include "sim/platform/build/link_properties.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Returns the properties of a link: those noted when it was built, or those in a platform file. `fallback`: transport
/// of a link without one. Throws std::runtime_error, with a message, if a property has no valid value.
LinkProperties properties_of(const simgrid::s4u::Link* link, spec::Transport fallback);
/// Returns the message that properties_of would throw for one of the links; empty if it would throw none.
std::string fault_of_properties(const simgrid::s4u::Engine& engine);

}  // namespace dadsim::sim
