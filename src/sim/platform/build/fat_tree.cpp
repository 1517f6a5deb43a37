#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "sim/platform/build/fabric.hpp"

namespace dadsim::sim {
namespace {

namespace sg4 = simgrid::s4u;

/// Two levels: every leaf switch has one line to every spine switch. The destination's adapter decides over which spine
/// a route goes (D-mod-K; E. Zahavi, D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on Real Life
/// Fat Trees, 2010): adapters one after the other lie behind different spines, so that i → i + k for all i at once does
/// not collide where the tree is not oversubscribed.
class FatTree : public Fabric {
 public:
  FatTree(sg4::NetZone* zone, const spec::GpuClusterSpec& spec)
      : size_(fat_tree_size(spec)), adapters_per_leaf_(spec.fabric.nodes_per_switch * spec.rails) {
    for (std::int64_t leaf = 0; leaf < size_.leaves; ++leaf) {
      for (std::int64_t spine = 0; spine < size_.spines; ++spine) {
        lines_.push_back(
            make_duplex_link(zone, name_in(spec.name, fmt::format("leaf-{} spine-{}", leaf, spine)), spec.fabric.link));
      }
    }
  }

  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    if (from / adapters_per_leaf_ == to / adapters_per_leaf_) return;
    links.push_back(line(from, to).up);
    links.push_back(line(to, to).down);
  }
  /// The border is above the spines.
  void leave(std::int64_t from, Links& links) const override {
    if (size_.spines > 0) links.push_back(line(from, from).up);
  }
  void enter(std::int64_t to, Links& links) const override {
    if (size_.spines > 0) links.push_back(line(to, to).down);
  }

 private:
  /// The link from the leaf above `adapter` to the spine that `key` stands for.
  const DuplexLink& line(std::int64_t adapter, std::int64_t key) const {
    return lines_[static_cast<std::size_t>(adapter / adapters_per_leaf_ * size_.spines + key % size_.spines)];
  }

  FatTreeSize size_;
  std::int64_t adapters_per_leaf_;
  std::vector<DuplexLink> lines_;  ///< [leaf · spines + spine]
};

}  // namespace

FatTreeSize fat_tree_size(const spec::GpuClusterSpec& spec) {
  const spec::FabricSpec& fabric = spec.fabric;
  if (fabric.nodes_per_switch < 1) {
    throw std::runtime_error(fmt::format("a fat tree has {} nodes per switch; at least 1", fabric.nodes_per_switch));
  }
  if (!(fabric.oversubscription >= 1)) {
    throw std::runtime_error(
        fmt::format("a fat tree has an oversubscription of {}; at least 1", fabric.oversubscription));
  }
  if (!(fabric.link.bandwidth > 0)) throw std::runtime_error("a fat tree needs links between its switches");
  FatTreeSize size;
  size.leaves = (spec.nodes + fabric.nodes_per_switch - 1) / fabric.nodes_per_switch;
  if (size.leaves == 1) return size;
  const double down =
      static_cast<double>(fabric.nodes_per_switch) * static_cast<double>(spec.rails) * spec.nic.bandwidth;
  const double lines = down / fabric.oversubscription / fabric.link.bandwidth;
  // Whole lines: rounded up, so that the tree is never more oversubscribed than asked for. What rounding errors make of
  // a whole number stays that number.
  constexpr double kRounding = 1e-9;
  size.spines = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(lines * (1 - kRounding))));
  return size;
}

std::unique_ptr<Fabric> make_fat_tree(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) {
  return std::make_unique<FatTree>(zone, spec);
}

}  // namespace dadsim::sim
