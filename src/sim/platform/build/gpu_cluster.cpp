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

namespace sg4 = simgrid::s4u;

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
    throw std::runtime_error(fmt::format("a cluster of {} nodes with {} GPUs and {} adapters each; at least 1 of all",
                                         group.nodes, group.gpus, group.rails));
  }
}

/// Inside a node: the port of the one GPU, the host bridge if it is a limit, the port of the other; or, in a mesh, the
/// link of the pair. Between nodes: the
/// rail of the sender, the fabric, the rail of the receiver; the GPUs' ports are not touched, as a GPU hands to its
/// adapter over another bus.
class GpuCluster : public ClusterNetwork {
 public:
  GpuCluster(sg4::NetZone* zone, const spec::GpuClusterSpec& spec)
      : hosts_(all_gpus(spec)), meshed_(spec.inside == spec::InsideNode::mesh) {
    std::int64_t node = 0;
    std::int64_t gpu = 0;
    for (const spec::NodeGroup& nodes : node_groups(spec)) {
      check(nodes);
      Group& group = groups_.emplace_back();
      group.first_node = node;
      group.first_gpu = gpu;
      group.first_port = std::ssize(ports_);
      group.first_mesh = std::ssize(mesh_);
      group.first_bridge = std::ssize(bridges_);
      group.first_adapter = std::ssize(adapters_);
      group.has_bridges = nodes.gpus > 1 && spec.inside == spec::InsideNode::shared && spec.bridge.bandwidth > 0;
      group.node = {spec.inside, nodes.port.library, nodes.port.generation,
                    nodes.gpus,  nodes.rails,        spec.library_is_given};
      for (const std::int64_t behind = node + nodes.nodes; node < behind; ++node, gpu += nodes.gpus) {
        add_node(zone, spec, nodes, node, gpu);
      }
    }
    fabric_ = make_fabric(zone, spec);
  }

  std::int64_t hosts() const override { return hosts_; }
  const GpuNode* gpu_node(std::int64_t host) const override { return &group_of(host).node; }
  std::int64_t rail(std::int64_t host) const override { return group_of(host).rail_of(host); }
  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    const Group& group = group_of(from);
    const std::int64_t node = group.node_of(from);
    if (from < to ? to < group.behind(node) : to >= group.behind(node - 1)) {
      if (meshed_) {
        const std::int64_t gpus = group.node.gpus;
        const std::int64_t first = group.behind(node - 1);
        const std::int64_t a = std::min(from, to) - first;
        const std::int64_t b = std::max(from, to) - first;
        // Pairs stand in order: before those of `a` are those of 0 … a − 1.
        const std::int64_t pair = a * gpus - a * (a + 1) / 2 + b - a - 1;
        const DuplexLink& line =
            mesh_[static_cast<std::size_t>(group.first_mesh + node * (gpus * (gpus - 1) / 2) + pair)];
        links.push_back(from < to ? line.up : line.down);
        return;
      }
      links.push_back(port(group, from).up);
      if (group.has_bridges) links.push_back(bridges_[static_cast<std::size_t>(group.first_bridge + node)]);
      links.push_back(port(group, to).down);
      return;
    }
    links.push_back(line_of(from).up);
    fabric_->route(adapter(from), adapter(to), links);
    links.push_back(line_of(to).down);
  }
  void leave(std::int64_t from, Links& links) const override {
    links.push_back(line_of(from).up);
    fabric_->leave(adapter(from), links);
  }
  void enter(std::int64_t to, Links& links) const override {
    fabric_->enter(adapter(to), links);
    links.push_back(line_of(to).down);
  }

 private:
  /// Nodes that are alike; those of a group are counted from 0.
  struct Group {
    GpuNode node;
    std::int64_t first_node = 0, first_gpu = 0, first_port = 0, first_mesh = 0, first_bridge = 0, first_adapter = 0;
    bool has_bridges = false;

    std::int64_t node_of(std::int64_t gpu) const { return (gpu - first_gpu) / node.gpus; }
    /// The first GPU behind a node.
    std::int64_t behind(std::int64_t of) const { return first_gpu + (of + 1) * node.gpus; }
    /// Of its node.
    std::int64_t rail_of(std::int64_t gpu) const { return (gpu - first_gpu) % node.gpus * node.rails / node.gpus; }
  };

  void add_node(sg4::NetZone* zone, const spec::GpuClusterSpec& spec, const spec::NodeGroup& like, std::int64_t node,
                std::int64_t first) {
    const std::string name = name_in(spec.name, fmt::format("node-{}", node));
    for (std::int64_t gpu = first; gpu < first + like.gpus; ++gpu) {
      const std::string host = name_in(spec.name, fmt::format("gpu-{}", gpu));
      make_host(zone, host, name);
      if (like.gpus > 1 && !meshed_) ports_.push_back(make_duplex_link(zone, host + " port", like.port));
    }
    for (std::int64_t a = first; meshed_ && a < first + like.gpus; ++a) {
      for (std::int64_t b = a + 1; b < first + like.gpus; ++b) {
        mesh_.push_back(make_duplex_link(zone, name_in(spec.name, fmt::format("gpu-{} gpu-{}", a, b)), like.port));
      }
    }
    if (groups_.back().has_bridges) bridges_.push_back(make_link(zone, name + " bridge", spec.bridge));
    // A node by itself needs no adapters; where other clusters are, it does.
    if (all_nodes(spec) == 1 && spec.name.empty() && !(like.nic.bandwidth > 0)) return;
    for (std::int64_t rail = 0; rail < like.rails; ++rail) {
      const DuplexLink& line =
          adapters_.emplace_back(make_duplex_link(zone, fmt::format("{} rail-{}", name, rail), like.nic));
      for (sg4::Link* link : {line.up, line.down}) {
        mark(zone, link, spec.fabric.adds_up, like.port.library == spec::CollectiveLibrary::rccl);
      }
    }
  }

  const Group& group_of(std::int64_t gpu) const {
    std::size_t group = groups_.size() - 1;
    while (gpu < groups_[group].first_gpu) --group;
    return groups_[group];
  }
  /// The number of a GPU's adapter in the whole cluster, counted node by node.
  std::int64_t adapter(std::int64_t gpu) const {
    const Group& group = group_of(gpu);
    return group.first_adapter + group.node_of(gpu) * group.node.rails + group.rail_of(gpu);
  }
  const DuplexLink& line_of(std::int64_t gpu) const { return adapters_[static_cast<std::size_t>(adapter(gpu))]; }
  const DuplexLink& port(const Group& group, std::int64_t gpu) const {
    return ports_[static_cast<std::size_t>(group.first_port + gpu - group.first_gpu)];
  }

  std::int64_t hosts_;
  bool meshed_;
  std::vector<Group> groups_;
  std::vector<DuplexLink> ports_;  ///< per GPU, group by group; none where a node has one, or a mesh
  std::vector<DuplexLink> mesh_;   ///< mesh: per node and pair
  Links bridges_;                  ///< per node; none where it is no limit
  std::vector<DuplexLink> adapters_;
  std::unique_ptr<Fabric> fabric_;
};

}  // namespace

std::unique_ptr<ClusterNetwork> make_network(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) {
  return std::make_unique<GpuCluster>(zone, with_adapters(spec));
}

}  // namespace dadsim::sim
