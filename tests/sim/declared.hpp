#pragma once

#include <string>
#include <vector>

#include "plan/platform_specification.hpp"
#include "sim/simulator.hpp"

// Declared platforms with numbers like those of real clusters, and collectives on all of their hosts.

namespace dadsim::test {

inline LinkSpec line(double bandwidth, double latency, Transport transport = Transport::plain, double efficiency = 1) {
  LinkSpec link;
  link.name = "line";
  link.bandwidth = bandwidth;
  link.latency = latency;
  link.transport = transport;
  link.efficiency = efficiency;
  return link;
}

/// `nodes` × `gpus`, one adapter per node.
inline GpuClusterSpec cluster_of(std::int64_t nodes, std::int64_t gpus, const LinkSpec& port, const LinkSpec& nic) {
  GpuClusterSpec cluster;
  cluster.nodes = nodes;
  cluster.gpus = gpus;
  cluster.port = port;
  cluster.nic = nic;
  return cluster;
}

inline FabricSpec fat_tree(std::int64_t nodes_per_switch, const LinkSpec& link, double oversubscription = 1) {
  FabricSpec fabric;
  fabric.kind = FabricSpec::Kind::fat_tree;
  fabric.link = link;
  fabric.nodes_per_switch = nodes_per_switch;
  fabric.oversubscription = oversubscription;
  return fabric;
}

inline FabricSpec dragonfly(std::int64_t groups, std::int64_t routers, std::int64_t nodes, const LinkSpec& link) {
  FabricSpec fabric;
  fabric.kind = FabricSpec::Kind::dragonfly;
  fabric.link = link;
  fabric.dimensions = {groups, routers, nodes};
  return fabric;
}

/// The first `count` hosts of the platform (0: all) are the workers.
inline Cluster workers_on(const PlatformSpec& platform, Fidelity fidelity, std::size_t count = 0) {
  Cluster cluster;
  cluster.platform = platform;
  cluster.hosts = host_names(platform);
  if (count > 0) cluster.hosts.resize(count);
  cluster.network.fidelity = fidelity;
  return cluster;
}

inline CollectiveJob job(CollectiveKind kind, const std::string& algorithm, double bytes) {
  CollectiveJob result;
  result.request.kind = kind;
  result.request.bytes = {bytes};
  result.algorithm = algorithm;
  return result;
}

}  // namespace dadsim::test
