#pragma once

#include <string>
#include <vector>

#include "spec/platform_specification.hpp"
#include "support/diagnostics.hpp"

namespace simgrid::s4u {
class Engine;
}

namespace dadsim::sim {

class Markup;

/// Changes of links and messages of others that may come in a second of simulated time: each takes about a microsecond
/// to simulate, so that at this rate the simulation takes as long as what it simulates.
inline constexpr double kMostEventsPerSecond = 1e6;

/// What the profiles and the background traffic of a declared platform ask for beyond that, estimated from their
/// periods and from the rate of the links on the way: "what; remedy" each. Where a flow is to be repeated sooner than
/// its message gets through, the links set the pace.
std::vector<std::string> event_rate_faults(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine);

/// The same of the profiles that an element of a SimGrid file holds or names; nothing is added where it has none or
/// they cannot be read, of which SimGrid says why.
void check_event_rate(const Markup& markup, const std::string& file, std::vector<Diagnostic>& diagnostics);

}  // namespace dadsim::sim
