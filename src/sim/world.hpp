#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/simulator.hpp"
#include "step/timing.hpp"
#include "world/world.hpp"

namespace dadsim::sim {

/// A World simulated by a child process on a cluster. Connections, transports, devices, jitter, profiles and background
/// traffic are the same as for timed steps. Nodes are the cluster's workers, then its aggregator.
///
/// Computations take the seconds of the roofline on the node's device, or those of a measured step (see ComputeTime); a
/// node computes one thing at a time. A host or link that goes down cuts off all connections over it at once, and both
/// ends are notified without a delay.
class SimulatedWorld : public world::World {
 public:
  /// Ends the simulation and returns the description of the network; the World cannot be used afterwards. Throws
  /// SimulationError.
  virtual step::NetworkUse finish() = 0;
  /// Returns the names of the platform's links. Call before any order to the World.
  virtual std::vector<std::string> links() = 0;
};

/// Starts the simulation. Throws SimulationError if the cluster cannot be loaded.
std::unique_ptr<SimulatedWorld> simulate_world(const Cluster& cluster);

}  // namespace dadsim::sim
