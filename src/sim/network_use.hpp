#pragma once

#include "plan/timing.hpp"
#include "sim/network.hpp"

namespace dadsim {

/// Fills in which kinds of link were used, and how.
void describe_links(const Network& network, NetworkUse& use);

/// Starts the traffic of others, if any: actors that go on as long as the simulation does.
void start_background(const PlatformSpec& platform, simgrid::s4u::Engine& engine);

}  // namespace dadsim
