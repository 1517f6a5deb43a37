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

/// Changes of links and background messages per second of simulated time, at most. Each takes about a microsecond to
/// simulate, so at this rate simulation runs in real time.
inline constexpr double kMostEventsPerSecond = 1e6;

/// Returns the excess of a declared platform's profiles and background traffic over that rate: "what; remedy" each.
/// Rates are estimated from periods and from the rates of the links on the path. The links set the pace of a flow that
/// is repeated before its message is through.
std::vector<std::string> event_rate_faults(const spec::PlatformSpec& platform, const simgrid::s4u::Engine& engine);

/// Checks the rate of the profiles that an element of a SimGrid file holds or names. Adds nothing if there are none or
/// they are unreadable, which SimGrid reports.
void check_event_rate(const Markup& markup, const std::string& file, std::vector<Diagnostic>& diagnostics);

}  // namespace dadsim::sim
