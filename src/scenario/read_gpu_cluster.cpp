#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenario/read_link.hpp"
#include "scenario/read_platform.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxDimensions = 10;

/// "4x4x4"; empty with a finding.
std::vector<std::int64_t> read_dimensions(const Node& node) {
  constexpr const char* kForm = "whole numbers of nodes along each axis with x between them, e.g. 4x4x4";
  const std::optional<std::string> text = node.required_text("dimensions", kForm);
  if (!text) return {};
  std::vector<std::int64_t> dimensions;
  for (std::size_t i = 0; i <= text->size();) {
    const std::size_t end = std::min(text->find('x', i), text->size());
    const std::optional<std::int64_t> value = parse_integer(std::string_view(*text).substr(i, end - i));
    if (!value || *value < 1 || *value > kMaxHosts || dimensions.size() == kMaxDimensions) {
      node.fail_at("dimensions", "is not of that form", kForm);
      return {};
    }
    dimensions.push_back(*value);
    i = end + 1;
  }
  return dimensions;
}

/// A finding at `node` unless the sizes multiply to the nodes of the cluster. Nodes are 0 where they are unknown.
void check_product(const Node& node, const std::vector<std::int64_t>& sizes, std::int64_t nodes) {
  if (sizes.empty() || nodes == 0) return;
  double product = 1;  // of ten numbers up to 1e5
  std::string text;
  for (const std::int64_t size : sizes) {
    product *= static_cast<double>(size);
    text += fmt::format("{}{}", text.empty() ? "" : " × ", size);
  }
  if (product != static_cast<double>(nodes)) {
    node.fail(fmt::format("<{}> has {} = {:g} nodes", node.element().name, text, product),
              fmt::format("the cluster has {}", nodes));
  }
}

// Latencies of links of one's own beside which none stands: those of the catalogue's NVLink and of its Ethernet from 10
// Gbit/s on.
constexpr double kInside = 0.5e-6;
constexpr double kBetween = 1e-6;

spec::FabricSpec read_fabric(const Element& element, std::int64_t nodes, spec::Transport own,
                             const ReadContext& context) {
  const Node node(element, context.findings);
  spec::FabricSpec fabric;
  const bool one_switch = element.name == "one-switch";
  if (one_switch || element.name == "fat-tree") fabric.adds_up = node.boolean("sharp", false);
  if (one_switch) return fabric;
  fabric.link = scenario::read_cluster_link(node, "link", own, kBetween, context);
  if (element.name == "fat-tree") {
    fabric.kind = spec::FabricSpec::Kind::fat_tree;
    fabric.nodes_per_switch = node.integer("nodes-per-switch", 1, kMaxHosts).value_or(1);
    fabric.oversubscription = node.real("oversubscription", {.minimum = 1, .maximum = 1e6}, fabric.oversubscription);
  } else if (element.name == "dragonfly") {
    fabric.kind = spec::FabricSpec::Kind::dragonfly;
    const std::array<std::optional<std::int64_t>, 3> sizes = {node.integer("groups", 1, kMaxHosts),
                                                              node.integer("routers", 1, kMaxHosts),
                                                              node.integer("nodes", 1, kMaxHosts)};
    for (const std::optional<std::int64_t>& size : sizes) fabric.dimensions.push_back(size.value_or(0));
    if (std::ranges::all_of(sizes, [](const auto& size) { return size.has_value(); })) {
      check_product(node, fabric.dimensions, nodes);
    }
  } else {
    fabric.kind = spec::FabricSpec::Kind::torus;
    fabric.dimensions = read_dimensions(node);
    check_product(node, fabric.dimensions, nodes);
  }
  return fabric;
}

/// Whose library they have, whatever the devices are, and how bytes travel between them.
void read_library(const Node& node, spec::GpuClusterSpec& cluster) {
  static const std::array<std::string, 2> kLibraries = {to_string(spec::CollectiveLibrary::nccl),
                                                        to_string(spec::CollectiveLibrary::rccl)};
  const bool named = !cluster.port.name.empty() && !is_own_link(cluster.port);
  if (named)
    node.refuse("inside-transport", "means nothing where 'inside' is of the catalogue, which knows it", "remove it");
  if (cluster.port.name.empty()) node.refuse("inside-transport", "means nothing without 'inside'", "remove it");
  const bool amd = node.has("library") && node.choice("library", kLibraries, 0) == 1;
  if (!named && !cluster.port.name.empty() && cluster.port.transport == spec::Transport::rdma) {
    cluster.port.costs = amd ? spec::MessageCosts::xgmi : spec::MessageCosts::pcie;
  }
  if (!node.has("library")) return;
  cluster.library_is_given = true;
  cluster.port.library = amd ? spec::CollectiveLibrary::rccl : spec::CollectiveLibrary::nccl;
}

}  // namespace

spec::GpuClusterSpec read_gpu_cluster(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::GpuClusterSpec cluster;
  cluster.name = read_cluster_name(node);
  const std::optional<std::int64_t> nodes = node.integer("nodes", 1, kMaxHosts);
  const std::optional<std::int64_t> gpus = node.integer("gpus", 1, kMaxHosts);
  cluster.nodes = nodes.value_or(1);
  cluster.gpus = gpus.value_or(1);

  const bool alone = gpus == 1;
  const auto travels = static_cast<spec::Transport>(
      node.choice("inside-transport", transport_names(), static_cast<std::size_t>(spec::Transport::nvlink)));
  if (!alone || node.has("inside")) {
    cluster.port = scenario::read_cluster_link(node, "inside", travels, kInside, context);
  } else if (node.has("inside-latency")) {
    node.refuse("inside-latency", "means nothing without 'inside'", "remove it");
  }
  if (node.boolean("mesh", false)) {
    if (alone) node.refuse("mesh", "means nothing to one GPU per node", "remove it");
    if (node.has("bridge")) node.refuse("mesh", "stands beside 'bridge'", "one of them");
    cluster.inside = spec::InsideNode::mesh;
  }
  read_library(node, cluster);
  if (node.has("bridge")) {
    if (alone) node.refuse("bridge", "means nothing to one GPU per node", "remove it");
    cluster.inside = spec::InsideNode::shared;
    cluster.bridge = scenario::read_cluster_link(node, "bridge", spec::Transport::rdma, kInside, context);
  } else if (node.has("bridge-latency")) {
    node.refuse("bridge-latency", "means nothing without 'bridge'", "remove it");
  }
  cluster.rails = node.integer("rails", 1, kMaxHosts, cluster.rails);
  if (gpus && cluster.rails > *gpus) {
    node.fail_at("rails", fmt::format("are more than the {} GPUs of a node", *gpus), "at most one for each GPU");
  }
  const auto own = static_cast<spec::Transport>(
      node.choice("transport", transport_names(), static_cast<std::size_t>(spec::Transport::tcp)));
  cluster.nic = scenario::read_cluster_link(node, "nic", own, kBetween, context);
  bool any_own = is_own_link(cluster.nic);

  const Element* fabric = nullptr;
  for (const Element& child : element.children) {
    if (child.name != "one-switch" && child.name != "fat-tree" && child.name != "dragonfly" && child.name != "torus") {
      continue;
    }
    spec::FabricSpec spec = read_fabric(child, nodes.value_or(0), own, context);
    any_own = any_own || is_own_link(spec.link);
    if (fabric == nullptr) {
      fabric = &child;
      cluster.fabric = std::move(spec);
    } else if (fabric->name != child.name) {
      context.findings.add(child.origin, fmt::format("<{}> beside <{}>", child.name, fabric->name),
                           "at most one fabric");
    }
  }
  if (node.has("transport") && !any_own) {
    node.refuse("transport", "means nothing where all links between nodes are of the catalogue", "remove it");
  }
  return cluster;
}

}  // namespace dadsim::scenario
