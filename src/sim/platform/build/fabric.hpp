#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/platform/build/cluster_network.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

/// Lines and switches between the adapters of different nodes. Adapters are numbered over the whole cluster, node by
/// node.
class Fabric {
 public:
  virtual ~Fabric() = default;
  Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// Appends the lines from adapter to adapter of two different nodes.
  virtual void route(std::int64_t from, std::int64_t to, Links& links) const = 0;
  /// Appends the lines from an adapter to the border of the cluster (leave), or from there to an adapter (enter).
  virtual void leave(std::int64_t from, Links& links) const = 0;
  virtual void enter(std::int64_t to, Links& links) const = 0;
};

/// Finds the node of an adapter by its number.
class NodeOfAdapter {
 public:
  explicit NodeOfAdapter(const spec::GpuClusterSpec& spec) {
    for (const spec::NodeGroup& group : node_groups(spec)) {
      const SwitchGroup before = groups_.empty() ? SwitchGroup{} : groups_.back();
      groups_.push_back({before.behind + group.nodes * group.rails, before.first_behind + group.nodes, group.rails,
                         before.behind, before.first_behind});
    }
  }
  std::int64_t operator()(std::int64_t adapter) const {
    std::size_t group = 0;
    while (group + 1 < groups_.size() && adapter >= groups_[group].behind) ++group;
    return groups_[group].first_node + (adapter - groups_[group].first) / groups_[group].rails;
  }

 private:
  struct SwitchGroup {
    std::int64_t behind = 0, first_behind = 0;  ///< first adapter and first node of the next group
    std::int64_t rails = 1;
    std::int64_t first = 0, first_node = 0;  ///< first adapter and first node of this group
  };
  std::vector<SwitchGroup> groups_;
};

// Builds the fabric of one kind; each kind has a function and a file. Throws std::runtime_error if the numbers do not
// fit the cluster.

std::unique_ptr<Fabric> make_one_switch();
std::unique_ptr<Fabric> make_fat_tree(simgrid::s4u::NetZone* zone, const spec::GpuClusterSpec& spec);
std::unique_ptr<Fabric> make_dragonfly(simgrid::s4u::NetZone* zone, const spec::GpuClusterSpec& spec);
std::unique_ptr<Fabric> make_torus(simgrid::s4u::NetZone* zone, const spec::GpuClusterSpec& spec);

/// Leaf and spine switches of a fat tree.
struct FatTreeSize {
  std::int64_t leaves = 1;
  std::int64_t spines = 0;  ///< number of spine switches, each with one line to each leaf; 0: a single leaf needs none
};
FatTreeSize fat_tree_size(const spec::GpuClusterSpec& spec);

/// Returns the number of lines between two groups of a dragonfly.
std::int64_t dragonfly_lines(const spec::FabricSpec& fabric);

}  // namespace dadsim::sim
