#pragma once

#include <cstdint>
#include <memory>

#include "sim/platform/build/cluster_network.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// The switches between nodes and the lines between switches: what lies between the adapter of one node and that of
/// another. Adapters are numbered node by node over the whole cluster.
class Fabric {
 public:
  virtual ~Fabric() = default;
  Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// Appends the lines from adapter to adapter of two different nodes.
  virtual void route(std::int64_t from, std::int64_t to, Links& links) const = 0;
  /// Appends the lines from an adapter to the border of the cluster, and from there to an adapter.
  virtual void leave(std::int64_t from, Links& links) const = 0;
  virtual void enter(std::int64_t to, Links& links) const = 0;
};

// One file per kind. Throw std::runtime_error if the numbers do not fit the cluster.

std::unique_ptr<Fabric> make_one_switch();
std::unique_ptr<Fabric> make_fat_tree(simgrid::s4u::NetZone* zone, const spec::GpuClusterSpec& spec);
std::unique_ptr<Fabric> make_dragonfly(simgrid::s4u::NetZone* zone, const spec::GpuClusterSpec& spec);
std::unique_ptr<Fabric> make_torus(simgrid::s4u::NetZone* zone, const spec::GpuClusterSpec& spec);

/// Leaf and spine switches of a fat tree.
struct FatTreeSize {
  std::int64_t leaves = 1;
  std::int64_t spines = 0;  ///< each has one line to each leaf; 0 where a single leaf needs none
};
FatTreeSize fat_tree_size(const spec::GpuClusterSpec& spec);

/// Lines between two groups of a dragonfly.
std::int64_t dragonfly_lines(const spec::FabricSpec& fabric);

}  // namespace dadsim::sim
