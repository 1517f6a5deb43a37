#pragma once

#include "support/wire.hpp"
#include "world/world.hpp"

// Serialisation of events, which the simulating process sends to its parent.

namespace dadsim::world {

constexpr Event::Kind last_of(Event::Kind /*type*/) { return Event::Kind::host_up; }

void fields(auto& bytes, of<Event> auto& event) { bytes(event.kind, event.activity, event.node, event.at); }

}  // namespace dadsim::world
