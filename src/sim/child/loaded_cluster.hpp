#pragma once

#include <functional>
#include <memory>

#include "sim/network/connection.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/platform/profiles.hpp"
#include "sim/process/child_process.hpp"
#include "sim/simulator.hpp"
#include "sim/step/nodes.hpp"

namespace dadsim::sim {

/// The cluster on a loaded platform. Only in a forked child: SimGrid's engine is a singleton. Where something fails, it
/// tells the parent through the sink and ends the child, which has to outlive this.
struct LoadedCluster {
  LoadedCluster(const Cluster& asked, const MessageSink& sink);

  /// Runs in an actor, and ends the child.
  [[noreturn]] void act(const MessageSink& sink, const std::function<void()>& code);

  /// Gives all links a million times their bandwidth and no latency, and makes all connections anew: software and
  /// protocols take what is left of a time. The caller must see to it that nothing is on its way, and nothing varies.
  void lift_limits(const Cluster& asked);

  /// Whether connections are cold or warm (those of other transports remember nothing).
  bool has_tcp() const;

  std::unique_ptr<simgrid::s4u::Engine> engine;
  Nodes nodes;
  SteadyStates states;  ///< where links change
  std::unique_ptr<Interconnect> network;
  std::unique_ptr<Connections> connections;

 private:
  void connect(const Cluster& asked);
};

}  // namespace dadsim::sim
