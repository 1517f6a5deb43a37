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

void check(const spec::GpuClusterSpec& spec) {
  if (spec.nodes < 1 || spec.gpus < 1 || spec.rails < 1) {
    throw std::runtime_error(fmt::format("a cluster of {} nodes with {} GPUs and {} adapters each; at least 1 of all",
                                         spec.nodes, spec.gpus, spec.rails));
  }
}

/// Inside a node: the port of the one GPU, the host bridge if it is a limit, the port of the other; or, in a mesh, the
/// link of the pair. Between nodes: the
/// rail of the sender, the fabric, the rail of the receiver; the GPUs' ports are not touched, as a GPU hands to its
/// adapter over another bus.
class GpuCluster : public ClusterNetwork {
 public:
  GpuCluster(sg4::NetZone* zone, const spec::GpuClusterSpec& spec)
      : nodes_(spec.nodes),
        gpus_(spec.gpus),
        rails_(spec.rails),
        meshed_(spec.inside == spec::InsideNode::mesh && spec.gpus > 1),
        node_{spec.inside, spec.port.library, spec.port.generation, spec.gpus, spec.rails, spec.library_is_given} {
    check(spec);
    for (std::int64_t node = 0; node < nodes_; ++node) {
      const std::string name = name_in(spec.name, fmt::format("node-{}", node));
      for (std::int64_t gpu = node * gpus_; gpu < (node + 1) * gpus_; ++gpu) {
        const std::string host = name_in(spec.name, fmt::format("gpu-{}", gpu));
        make_host(zone, host, name);
        if (gpus_ > 1 && !meshed_) ports_.push_back(make_duplex_link(zone, host + " port", spec.port));
      }
      if (meshed_) {
        for (std::int64_t a = 0; a < gpus_; ++a) {
          for (std::int64_t b = a + 1; b < gpus_; ++b) {
            const std::string pair = fmt::format("gpu-{} gpu-{}", node * gpus_ + a, node * gpus_ + b);
            mesh_.push_back(make_duplex_link(zone, name_in(spec.name, pair), spec.port));
          }
        }
      }
      if (gpus_ > 1 && spec.inside == spec::InsideNode::shared && spec.bridge.bandwidth > 0) {
        bridges_.push_back(make_link(zone, name + " bridge", spec.bridge));
      }
      // A node by itself needs no adapters; where other clusters are, it does.
      if (nodes_ == 1 && spec.name.empty() && !(spec.nic.bandwidth > 0)) continue;
      for (std::int64_t rail = 0; rail < rails_; ++rail) {
        const DuplexLink& line =
            adapters_.emplace_back(make_duplex_link(zone, fmt::format("{} rail-{}", name, rail), spec.nic));
        for (sg4::Link* link : {line.up, line.down}) {
          mark(zone, link, spec.fabric.adds_up, spec.port.library == spec::CollectiveLibrary::rccl);
        }
      }
    }
    fabric_ = make_fabric(zone, spec);
  }

  std::int64_t hosts() const override { return nodes_ * gpus_; }
  const GpuNode* gpu_node(std::int64_t) const override { return &node_; }
  std::int64_t rail(std::int64_t host) const override { return host % gpus_ * rails_ / gpus_; }
  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    const std::int64_t node = from / gpus_;
    if (node == to / gpus_) {
      if (meshed_) {
        const std::int64_t a = std::min(from, to) % gpus_;
        const std::int64_t b = std::max(from, to) % gpus_;
        // Pairs stand in order: before those of `a` are those of 0 … a − 1.
        const std::int64_t pair = a * gpus_ - a * (a + 1) / 2 + b - a - 1;
        const DuplexLink& line = mesh_[static_cast<std::size_t>(node * (gpus_ * (gpus_ - 1) / 2) + pair)];
        links.push_back(from < to ? line.up : line.down);
        return;
      }
      links.push_back(ports_[static_cast<std::size_t>(from)].up);
      if (!bridges_.empty()) links.push_back(bridges_[static_cast<std::size_t>(node)]);
      links.push_back(ports_[static_cast<std::size_t>(to)].down);
      return;
    }
    links.push_back(adapters_[static_cast<std::size_t>(adapter(from))].up);
    fabric_->route(adapter(from), adapter(to), links);
    links.push_back(adapters_[static_cast<std::size_t>(adapter(to))].down);
  }
  void leave(std::int64_t from, Links& links) const override {
    links.push_back(adapters_[static_cast<std::size_t>(adapter(from))].up);
    fabric_->leave(adapter(from), links);
  }
  void enter(std::int64_t to, Links& links) const override {
    fabric_->enter(adapter(to), links);
    links.push_back(adapters_[static_cast<std::size_t>(adapter(to))].down);
  }

 private:
  /// The number of a GPU's adapter in the whole cluster, counted node by node.
  std::int64_t adapter(std::int64_t gpu) const { return gpu / gpus_ * rails_ + gpu % gpus_ * rails_ / gpus_; }

  std::int64_t nodes_, gpus_, rails_;  ///< in all, per node, per node
  bool meshed_;
  GpuNode node_;
  std::vector<DuplexLink> ports_;  ///< per GPU; none where a node has one, or a mesh
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
