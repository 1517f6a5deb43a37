#pragma once

#include <span>

#include "spec/platform_specification.hpp"

namespace simgrid::s4u {
class Engine;
class Link;
}  // namespace simgrid::s4u

namespace dadsim::sim {

/// Multiplies bandwidths and latencies of links of a built platform. Its profiles must not be attached yet, because
/// they are relative to the present values. Throws std::runtime_error if a name fits no link, a factor is no number, or
/// the platform file has its own profiles, which contain absolute numbers.
void apply_link_changes(std::span<const spec::LinkChange> changes, const spec::PlatformSpec& platform,
                        const simgrid::s4u::Engine& engine);

/// Returns a property of a link, or of its full-duplex link in a platform file; nullptr if neither has it.
const char* property_of(const simgrid::s4u::Link* link, const char* key);

}  // namespace dadsim::sim
