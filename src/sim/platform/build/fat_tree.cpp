#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "sim/platform/build/fabric.hpp"

namespace dadsim::sim {
namespace {

/// A fat tree of two levels: every leaf switch has one line to every spine switch. The destination's adapter selects
/// the spine of a route (D-mod-K; E. Zahavi, D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on
/// Real Life Fat Trees, 2010). Consecutive adapters use different spines, so that i → i + k for all i at once does not
/// collide unless the tree is oversubscribed.
class FatTree : public Fabric {
 public:
  FatTree(sg4::NetZone* zone, const spec::GpuClusterSpec& spec)
      : size_(fat_tree_size(spec)),
        nodes_per_leaf_(spec.fabric.nodes_per_switch),
        adapters_per_leaf_(spec.more.empty() ? spec.fabric.nodes_per_switch * spec.rails : 0),
        node_of_(spec) {
    for (std::int64_t leaf = 0; leaf < size_.leaves; ++leaf) {
      for (std::int64_t spine = 0; spine < size_.spines; ++spine) {
        lines_.push_back(
            make_duplex_link(zone, name_in(spec.name, fmt::format("leaf-{} spine-{}", leaf, spine)), spec.fabric.link));
      }
    }
  }

  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    if (leaf_of(from) == leaf_of(to)) return;
    links.push_back(line(from, to).up);
    links.push_back(line(to, to).down);
  }
  /// Appends the way to the border of the cluster, which is above the spines.
  void leave(std::int64_t from, Links& links) const override {
    if (size_.spines > 0) links.push_back(line(from, from).up);
  }
  void enter(std::int64_t to, Links& links) const override {
    if (size_.spines > 0) links.push_back(line(to, to).down);
  }

 private:
  std::int64_t leaf_of(std::int64_t adapter) const {
    return adapters_per_leaf_ > 0 ? adapter / adapters_per_leaf_ : node_of_(adapter) / nodes_per_leaf_;
  }
  /// Returns the link from the leaf above `adapter` to the spine that `key` selects.
  const DuplexLink& line(std::int64_t adapter, std::int64_t key) const {
    return lines_[static_cast<std::size_t>(leaf_of(adapter) * size_.spines + key % size_.spines)];
  }

  FatTreeSize size_;
  std::int64_t nodes_per_leaf_;
  std::int64_t adapters_per_leaf_;  ///< number of adapters per leaf; 0: leaves differ
  NodeOfAdapter node_of_;
  std::vector<DuplexLink> lines_;  ///< [leaf · spines + spine]
};

/// Returns the sum of the bandwidths of a leaf switch's adapters, byte/s, for the leaf with the largest sum.
double down_from_leaf(const spec::GpuClusterSpec& spec) {
  if (spec.more.empty()) {
    return static_cast<double>(spec.fabric.nodes_per_switch) * static_cast<double>(spec.rails) * spec.nic.bandwidth;
  }
  std::vector<double> leaves;
  std::int64_t node = 0;
  for (const spec::NodeGroup& group : node_groups(spec)) {
    for (std::int64_t i = 0; i < group.nodes; ++i, ++node) {
      if (node % spec.fabric.nodes_per_switch == 0) leaves.push_back(0);
      leaves.back() += static_cast<double>(group.rails) * group.nic.bandwidth;
    }
  }
  return *std::ranges::max_element(leaves);
}

}  // namespace

FatTreeSize fat_tree_size(const spec::GpuClusterSpec& spec) {
  const spec::FabricSpec& fabric = spec.fabric;
  if (fabric.nodes_per_switch < 1) {
    throw std::runtime_error(
        fmt::format("a fat tree has {} nodes per switch; use at least 1", fabric.nodes_per_switch));
  }
  if (!(fabric.oversubscription >= 1)) {
    throw std::runtime_error(
        fmt::format("a fat tree has an oversubscription of {}; use at least 1", fabric.oversubscription));
  }
  if (!(fabric.link.bandwidth > 0)) throw std::runtime_error("a fat tree needs links between its switches");
  FatTreeSize size;
  size.leaves = (all_nodes(spec) + fabric.nodes_per_switch - 1) / fabric.nodes_per_switch;
  if (size.leaves == 1) return size;
  const double lines = down_from_leaf(spec) / fabric.oversubscription / fabric.link.bandwidth;
  // Rounds lines up, so that the tree is never more oversubscribed than requested. A number that is whole up to
  // rounding errors is not increased.
  constexpr double kRounding = 1e-9;
  size.spines = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(lines * (1 - kRounding))));
  return size;
}

std::unique_ptr<Fabric> make_fat_tree(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) {
  return std::make_unique<FatTree>(zone, spec);
}

}  // namespace dadsim::sim
