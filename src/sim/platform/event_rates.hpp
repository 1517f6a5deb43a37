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

/// Largest number of changes of links, and of background messages, per second of simulated time. Each takes about a
/// microsecond to simulate, so that at this rate simulation runs in real time.
inline constexpr double kMostEventsPerSecond = 1e6;

/// Returns how a declared platform's profiles and background traffic exceed that rate: "what; remedy" each. Rates are
/// estimated from periods and from the bandwidths on the path, which determine how often a continuous flow sends.
std::vector<std::string> event_rate_faults(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine);

/// Checks the rate of the profiles that an element of a SimGrid file contains or names. Adds nothing if there are none,
/// or if they are unreadable, which SimGrid reports.
void check_event_rate(const Markup& markup, const std::string& file, std::vector<Diagnostic>& diagnostics);

}  // namespace dadsim::sim
