#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/simulator.hpp"
#include "step/timing.hpp"
#include "world/world.hpp"

namespace dadsim::sim {

/// A World that a child process simulates on a simulated cluster: its connections, transports, devices, jitter,
/// profiles and background traffic are those of timed steps. Nodes are the cluster's workers, then its aggregator.
///
/// What a computation takes is the roofline of the node's device, or a measured step (see ComputeTime); nodes compute
/// one thing at a time. A host that is down and a link that is down cut all connections over them off at once, and both
/// ends learn of it without a delay.
class SimulatedWorld : public world::World {
 public:
  /// What the simulation says of the network at the end; nothing can be asked of the World after it. Throws
  /// SimulationError.
  virtual step::NetworkUse finish() = 0;
  /// Names of the platform's links. To be asked before anything is ordered.
  virtual std::vector<std::string> links() = 0;
};

/// Throws SimulationError where the cluster cannot be loaded.
std::unique_ptr<SimulatedWorld> simulate_world(const Cluster& cluster);

}  // namespace dadsim::sim
