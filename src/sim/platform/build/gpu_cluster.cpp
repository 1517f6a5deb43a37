#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/platform/build/cluster_network.hpp"
#include "sim/platform/build/fabric.hpp"
#include "sim/platform/build/gpu_adapters.hpp"

namespace dadsim::sim {
namespace {

std::unique_ptr<Fabric> make_fabric(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) {
  switch (spec.fabric.kind) {
    case spec::FabricSpec::Kind::one_switch:
      return make_one_switch();
    case spec::FabricSpec::Kind::fat_tree:
      return make_fat_tree(zone, spec);
    case spec::FabricSpec::Kind::dragonfly:
      return make_dragonfly(zone, spec);
    case spec::FabricSpec::Kind::torus:
      return make_torus(zone, spec);
  }
  throw std::logic_error("unknown fabric");
}

void check(const spec::NodeGroup& group) {
  if (group.nodes < 1 || group.gpus < 1 || group.rails < 1) {
    throw std::runtime_error(
        fmt::format("a cluster of {} nodes with {} GPUs and {} adapters each; use at least 1 of each", group.nodes,
                    group.gpus, group.rails));
  }
}

/// Paths of a GPU cluster. Inside a node a path has the port of one GPU, the host bridge if it is a limit, and the port
/// of the other GPU; in a mesh, the link of the pair. Between nodes it has the rail of the sender, the fabric, and the
/// rail of the receiver. The GPUs' ports are not used there, because a GPU reaches its adapter over another bus. Slots
/// that GPUs share lie next to the rails, and on both sides of a host bridge; GPUs of one slot need no bridge.
class GpuCluster : public ClusterNetwork {
 public:
  GpuCluster(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) : hosts_(all_gpus(spec)) {
    std::int64_t node = 0;
    std::int64_t gpu = 0;
    for (const spec::NodeGroup& nodes : node_groups(spec)) {
      check(nodes);
      GroupOfNodes& group = groups_.emplace_back();
      group.first_node = node;
      group.first_gpu = gpu;
      group.first_port = std::ssize(ports_);
      group.first_mesh = std::ssize(mesh_);
      group.first_bridge = std::ssize(bridges_);
      group.first_adapter = std::ssize(adapters_);
      group.first_slot = std::ssize(slots_);
      group.meshed = nodes.inside == spec::InsideNode::mesh;
      group.has_bridges = nodes.gpus > 1 && nodes.inside == spec::InsideNode::shared && nodes.bridge.bandwidth > 0;
      group.slot_gpus = has_adapters(spec, nodes) && shared_slot(nodes) ? *nodes.slot_gpus : 1;
      // Infers the library of single chips from the fabric's links, because they have no others.
      const bool by_fabric = nodes.gpus == 1 && spec.fabric.link.library == spec::CollectiveLibrary::xla;
      group.node = {*nodes.inside,
                    by_fabric && !spec.library_is_given ? spec.fabric.link.library : nodes.port.library,
                    nodes.port.generation,
                    nodes.gpus,
                    nodes.rails,
                    spec.library_is_given,
                    through_shared_slots(nodes)};
      for (const std::int64_t behind = node + nodes.nodes; node < behind; ++node, gpu += nodes.gpus) {
        add_node(zone, spec, nodes, node, gpu);
      }
    }
    fabric_ = make_fabric(zone, spec);
    torus_ = spec::torus_of_chips(spec);
  }

  std::int64_t hosts() const override { return hosts_; }
  const GpuNode* gpu_node(std::int64_t host) const override { return &group_of(host).node; }
  std::int64_t rail(std::int64_t host) const override { return group_of(host).rail_of(host); }
  std::vector<std::int64_t> torus() const override { return torus_; }
  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    const GroupOfNodes& group = group_of(from);
    const std::int64_t node = group.node_of(from);
    if (from < to ? to < group.behind(node) : to >= group.behind(node - 1)) {
      if (group.meshed) {
        const std::int64_t gpus = group.node.gpus;
        const std::int64_t first = group.behind(node - 1);
        const std::int64_t a = std::min(from, to) - first;
        const std::int64_t b = std::max(from, to) - first;
        // Relies on the order of pairs: those of lower GPUs come before those of `a`.
        const std::int64_t pair = a * gpus - a * (a + 1) / 2 + b - a - 1;
        const DuplexLink& line =
            mesh_[static_cast<std::size_t>(group.first_mesh + node * (gpus * (gpus - 1) / 2) + pair)];
        links.push_back(from < to ? line.up : line.down);
        return;
      }
      links.push_back(port(group, from).up);
      const bool over_bridge = group.has_bridges && (group.slot_gpus == 1 || group.slot_of(from) != group.slot_of(to));
      if (over_bridge) {
        if (group.slot_gpus > 1) links.push_back(slot(group, from).up);
        links.push_back(bridges_[static_cast<std::size_t>(group.first_bridge + node)]);
        if (group.slot_gpus > 1) links.push_back(slot(group, to).down);
      }
      links.push_back(port(group, to).down);
      return;
    }
    go_out(from, links);
    fabric_->route(adapter(from), adapter(to), links);
    come_in(to, links);
  }
  void leave(std::int64_t from, Links& links) const override {
    go_out(from, links);
    fabric_->leave(adapter(from), links);
  }
  void enter(std::int64_t to, Links& links) const override {
    fabric_->enter(adapter(to), links);
    come_in(to, links);
  }

 private:
  /// Equal nodes. Functions of a group number its nodes from 0.
  struct GroupOfNodes {
    GpuNode node;
    std::int64_t first_node = 0, first_gpu = 0, first_port = 0, first_mesh = 0, first_bridge = 0, first_adapter = 0,
                 first_slot = 0;
    bool meshed = false, has_bridges = false;
    std::int64_t slot_gpus = 1;  ///< GPUs per slot; 1: slots are not links of their own

    std::int64_t node_of(std::int64_t gpu) const { return (gpu - first_gpu) / node.gpus; }
    /// Returns the first GPU after node `of`.
    std::int64_t behind(std::int64_t of) const { return first_gpu + (of + 1) * node.gpus; }
    /// Returns the rail of a GPU in its node.
    std::int64_t rail_of(std::int64_t gpu) const { return (gpu - first_gpu) % node.gpus * node.rails / node.gpus; }
    /// Returns the slot of a GPU in the group. GPUs of a slot belong to one node, whose number of GPUs is a multiple of
    /// the slot's.
    std::int64_t slot_of(std::int64_t gpu) const { return (gpu - first_gpu) / slot_gpus; }
  };

  /// Returns whether nodes have adapters; a single node needs none unless there are other clusters.
  static bool has_adapters(const spec::GpuClusterSpec& spec, const spec::NodeGroup& like) {
    return all_nodes(spec) > 1 || !spec.name.empty() || like.nic.bandwidth > 0;
  }

  // Appends the adapter first on the way out, because other code takes the first link for the host's own.
  void go_out(std::int64_t from, Links& links) const {
    links.push_back(line_of(from).up);
    if (const GroupOfNodes& group = group_of(from); group.slot_gpus > 1) links.push_back(slot(group, from).up);
  }
  void come_in(std::int64_t to, Links& links) const {
    links.push_back(line_of(to).down);
    if (const GroupOfNodes& group = group_of(to); group.slot_gpus > 1) links.push_back(slot(group, to).down);
  }

  void add_node(sg4::NetZone* zone, const spec::GpuClusterSpec& spec, const spec::NodeGroup& like, std::int64_t node,
                std::int64_t first) {
    const std::string name = name_in(spec.name, fmt::format("node-{}", node));
    for (std::int64_t gpu = first; gpu < first + like.gpus; ++gpu) {
      const std::string host = name_in(spec.name, fmt::format("gpu-{}", gpu));
      make_host(zone, host, name);
      if (like.gpus > 1 && !groups_.back().meshed) ports_.push_back(make_duplex_link(zone, host + " port", like.port));
    }
    for (std::int64_t a = first; groups_.back().meshed && a < first + like.gpus; ++a) {
      for (std::int64_t b = a + 1; b < first + like.gpus; ++b) {
        mesh_.push_back(make_duplex_link(zone, name_in(spec.name, fmt::format("gpu-{} gpu-{}", a, b)), like.port));
      }
    }
    if (groups_.back().has_bridges) bridges_.push_back(make_link(zone, name + " bridge", like.bridge));
    if (!has_adapters(spec, like)) return;
    for (std::int64_t i = 0; groups_.back().slot_gpus > 1 && i < like.gpus / groups_.back().slot_gpus; ++i) {
      slots_.push_back(make_duplex_link(zone, fmt::format("{} slot-{}", name, i), *shared_slot(like)));
    }
    for (std::int64_t rail = 0; rail < like.rails; ++rail) {
      const DuplexLink& line =
          adapters_.emplace_back(make_duplex_link(zone, fmt::format("{} rail-{}", name, rail), like.nic));
      for (sg4::Link* link : {line.up, line.down}) {
        mark(zone, link, spec.fabric.adds_up, like.port.library == spec::CollectiveLibrary::rccl);
      }
    }
  }

  const GroupOfNodes& group_of(std::int64_t gpu) const {
    std::size_t group = groups_.size() - 1;
    while (gpu < groups_[group].first_gpu) --group;
    return groups_[group];
  }
  /// Returns the number of a GPU's adapter in the whole cluster, counted node by node.
  std::int64_t adapter(std::int64_t gpu) const {
    const GroupOfNodes& group = group_of(gpu);
    return group.first_adapter + group.node_of(gpu) * group.node.rails + group.rail_of(gpu);
  }
  const DuplexLink& line_of(std::int64_t gpu) const { return adapters_[static_cast<std::size_t>(adapter(gpu))]; }
  const DuplexLink& port(const GroupOfNodes& group, std::int64_t gpu) const {
    return ports_[static_cast<std::size_t>(group.first_port + gpu - group.first_gpu)];
  }

  const DuplexLink& slot(const GroupOfNodes& group, std::int64_t gpu) const {
    return slots_[static_cast<std::size_t>(group.first_slot + group.slot_of(gpu))];
  }

  std::int64_t hosts_;
  std::vector<GroupOfNodes> groups_;
  std::vector<DuplexLink> ports_;  ///< port of each GPU, group by group; empty for groups with one GPU per node or a
                                   ///< mesh
  std::vector<DuplexLink> mesh_;   ///< link of each node and pair, in a mesh
  Links bridges_;                  ///< bridge of each node; empty if the bridge is no limit
  std::vector<DuplexLink> slots_;  ///< slots shared by several GPUs, node by node
  std::vector<DuplexLink> adapters_;
  std::unique_ptr<Fabric> fabric_;
  std::vector<std::int64_t> torus_;  ///< nodes along each axis of a torus of single GPUs; empty: no torus
};

}  // namespace

std::unique_ptr<ClusterNetwork> make_network(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) {
  return std::make_unique<GpuCluster>(zone, with_adapters(spec));
}

}  // namespace dadsim::sim
