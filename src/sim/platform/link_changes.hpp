#pragma once

#include <span>

#include "spec/platform_specification.hpp"

namespace simgrid::s4u {
class Engine;
class Link;
}  // namespace simgrid::s4u

namespace dadsim::sim {

/// Multiplies the numbers of the links of a built platform that has no profiles yet, since profiles are relative to the
/// numbers that they find. Throws std::runtime_error if a name fits no link, a factor is no number, or the platform
/// file has its own profiles, which hold absolute numbers.
void apply_link_changes(std::span<const spec::LinkChange> changes, const spec::PlatformSpec& platform,
                        const simgrid::s4u::Engine& engine);

/// Returns a property of a link, or of the full-duplex link of a platform file to which a direction belongs; nullptr if
/// it has none.
const char* property_of(const simgrid::s4u::Link* link, const char* key);

}  // namespace dadsim::sim
