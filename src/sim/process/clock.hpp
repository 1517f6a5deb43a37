#pragma once

#include <simgrid/s4u/Engine.hpp>

namespace dadsim::sim {

/// Returns the simulated time in seconds.
inline double now() { return simgrid::s4u::Engine::get_clock(); }

}  // namespace dadsim::sim
