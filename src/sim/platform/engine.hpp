#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sim/platform/link_changes.hpp"
#include "spec/platform_specification.hpp"

namespace simgrid::s4u {
class Engine;
}

namespace dadsim::sim {

/// Returns SimGrid's engine with dadsim's settings and the loaded platform. Use only in a forked child: the engine is a
/// singleton, and SimGrid may end the process. `changes` are applied to its links (see apply_link_changes). Throws
/// simgrid::ParseError with the file and the line.
std::unique_ptr<simgrid::s4u::Engine> load_engine(const spec::PlatformSpec& platform,
                                                  std::span<const spec::LinkChange> changes = {});

/// Latency of every route in SimGrid, seconds. SimGrid gives a transfer the latency of its route as weight, and the
/// weight 1 to a transfer without a wait. This value makes all weights, and so all shares, equal; connections add the
/// true latencies.
inline constexpr double kUnitLatency = 1;

/// Returns whether dadsim ignores this SimGrid option in a platform's <config> and hides it from SimGrid: options that
/// dadsim sets itself, and options that neither change results nor do harm.
bool is_passed_over(std::string_view option);

/// Returns why a platform's <config> must not set this SimGrid option to this value, and a remedy: "what", "remedy".
/// Returns nothing if the option is allowed (computation of rates) or ignored.
std::optional<std::pair<std::string, std::string>> fault_of_option(std::string_view option, std::string_view value);

}  // namespace dadsim::sim
