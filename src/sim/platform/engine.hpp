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

/// SimGrid's engine with dadsim's settings and the platform loaded. Only in a forked child: it is a singleton, and
/// SimGrid may end the process. `changes` are made to its links (see apply_link_changes). Throws simgrid::ParseError
/// with the file and the line.
std::unique_ptr<simgrid::s4u::Engine> load_engine(const spec::PlatformSpec& platform,
                                                  std::span<const spec::LinkChange> changes = {});

/// Seconds. SimGrid weighs a transfer with the latency of its route, and one that needs not wait with 1. Equal shares
/// need equal weights: so this is what every route has for a latency as far as SimGrid knows. The true latencies are
/// the connections' matter.
inline constexpr double kUnitLatency = 1;

/// Whether what a platform says of this option of SimGrid in its <config> is passed over, and kept from SimGrid: what
/// dadsim sets itself, and what neither changes anything here nor does harm.
bool is_passed_over(std::string_view option);

/// Why a platform must not set this option of SimGrid to that value in its <config>, and what would be right: "what",
/// "remedy". Nothing where it may (how a rate is found) and where it is passed over.
std::optional<std::pair<std::string, std::string>> fault_of_option(std::string_view option, std::string_view value);

}  // namespace dadsim::sim
