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

/// A cluster on a loaded platform, used only in a forked child because SimGrid's engine is a singleton. A failure is
/// reported to the parent through the sink and ends the child. The caller must keep the sink alive as long as the
/// cluster.
struct LoadedCluster {
  LoadedCluster(const Cluster& asked, const MessageSink& sink);

  /// Runs `code` in an actor, then ends the child.
  [[noreturn]] void act(const MessageSink& sink, const std::function<void()>& code);

  /// Multiplies the bandwidth of all links by a million, removes latencies and replaces all connections. Only the times
  /// of software and protocols remain. The caller must ensure that no message is in flight and no link varies.
  void lift_limits(const Cluster& asked);

  /// Selects the workers among `all` nodes, with new connections; empty: all.
  void select(const Nodes& all, const std::vector<std::size_t>& workers, const Cluster& asked);

  /// Returns whether connections can be cold or warm; only TCP connections can.
  bool has_tcp() const;

  std::unique_ptr<simgrid::s4u::Engine> engine;
  Nodes nodes;
  SteadyStates states;  ///< times at which links change, and the steady states between them
  std::unique_ptr<Interconnect> network;
  std::unique_ptr<Connections> connections;

 private:
  void connect(const Cluster& asked);
};

}  // namespace dadsim::sim
