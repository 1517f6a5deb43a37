#pragma once

#include "sim/process/child_process.hpp"
#include "sim/simulator.hpp"

namespace dadsim::sim {

/// The child's side of a SimulatedWorld: carries out orders (see orders.hpp) until the last.
void serve_world(const Cluster& cluster, const MessageSink& sink, const MessageSource& source);

}  // namespace dadsim::sim
