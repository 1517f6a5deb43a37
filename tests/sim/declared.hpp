#pragma once

#include <string>
#include <vector>

#include "sim/simulator.hpp"
#include "spec/platform_specification.hpp"

// Declares platforms with figures like those of real clusters, and collectives among all their hosts.

namespace dadsim::test {

inline spec::LinkSpec line(double bandwidth, double latency, spec::Transport transport = spec::Transport::plain,
                           double efficiency = 1) {
  spec::LinkSpec link;
  link.name = "line";
  link.bandwidth = bandwidth;
  link.latency = latency;
  link.transport = transport;
  link.efficiency = efficiency;
  return link;
}

/// Returns `nodes` × `gpus` with one adapter per node.
inline spec::GpuClusterSpec cluster_of(std::int64_t nodes, std::int64_t gpus, const spec::LinkSpec& port,
                                       const spec::LinkSpec& nic) {
  spec::GpuClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.gpus = gpus;
  cluster.port = port;
  cluster.nic = nic;
  return cluster;
}

inline spec::FabricSpec fat_tree(std::int64_t nodes_per_switch, const spec::LinkSpec& link,
                                 double oversubscription = 1) {
  spec::FabricSpec fabric;
  fabric.kind = spec::FabricSpec::Kind::fat_tree;
  fabric.link = link;
  fabric.nodes_per_switch = nodes_per_switch;
  fabric.oversubscription = oversubscription;
  return fabric;
}

inline spec::FabricSpec dragonfly(std::int64_t groups, std::int64_t routers, std::int64_t nodes,
                                  const spec::LinkSpec& link) {
  spec::FabricSpec fabric;
  fabric.kind = spec::FabricSpec::Kind::dragonfly;
  fabric.link = link;
  fabric.dimensions = {groups, routers, nodes};
  return fabric;
}

/// Returns a cluster whose workers are the first `count` hosts of the platform (0: all).
inline sim::Cluster workers_on(const spec::PlatformSpec& platform, spec::Fidelity fidelity, std::size_t count = 0) {
  sim::Cluster cluster;
  cluster.platform = platform;
  cluster.hosts = host_names(platform);
  if (count > 0) cluster.hosts.resize(count);
  cluster.network.fidelity = fidelity;
  return cluster;
}

inline sim::CollectiveJob job(step::CollectiveKind kind, const std::string& algorithm, double bytes) {
  sim::CollectiveJob result;
  result.request.kind = kind;
  result.request.bytes = {bytes};
  result.algorithm = algorithm;
  return result;
}

}  // namespace dadsim::test
