#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/link_rows.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read_platform.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::scenario {
namespace {

/// Returns the bytes of buffer at a switch port. Switches of 10 to 400 Gbit/s share 12 to 113 MB among all ports, and
/// one port may take some MB (an assumption; docs/timing.md). An access line has the catalogue's buffer.
double usual_queue(const spec::LinkSpec& link) {
  constexpr double kSeconds = 320e-6;  // a queue of 1 MB at 25 Gbit/s
  constexpr double kMost = 16e6;       // largest queue, bytes
  return link.is_access ? link.queue_bytes : std::clamp(kSeconds * link.bandwidth, link.queue_bytes, kMost);
}

bool over_tcp(const spec::GpuClusterSpec& cluster) { return cluster.nic.transport == spec::Transport::tcp; }

/// Returns the rows of <gpu-cluster> for adapters other than their links: slots, and TCP.
std::vector<Row<spec::GpuClusterSpec>> adapter_rows() {
  using Spec = spec::GpuClusterSpec;
  return {
      printed_as<Spec>(attribute("slot", name_in("links")), [](const Spec& cluster) { return link_text(cluster.slot); })
          .printed_if([](const Spec& cluster) { return cluster.slot.bandwidth > 0; }),
      attribute("slot-gpus", &Spec::slot_gpus, integer(1, kMaxHosts)).if_given(),
      printed_as<Spec>(queue_rule(), [](const Spec& cluster) { return fmt::format("{}B", cluster.nic.queue_bytes); })
          .printed_if([](const Spec& cluster) {
            spec::LinkSpec usual = cluster.nic;
            usual.queue_bytes = spec::LinkSpec().queue_bytes;
            return over_tcp(cluster) && cluster.nic.queue_bytes != usual_queue(usual);
          }),
      by_code<Spec>(congestion_rule()),
      attribute("sockets", &Spec::sockets, integer(1, 64)).if_given().printed_if(over_tcp),
      attribute("socket-threads", &Spec::socket_threads, integer(1, 64)).if_given().printed_if(over_tcp),
      printed_as<Spec>(attribute("flow-limit", quantity(kBandwidthForm)),
                       [](const Spec& cluster) { return fmt::format("{}Bps", cluster.flow_limit); })
          .printed_if([](const Spec& cluster) { return over_tcp(cluster) && cluster.flow_limit > 0; }),
      attribute("mtu", &Spec::mtu, integer(576, 65535)).if_given().printed_if(over_tcp)};
}
/// Checks that slots with `behind` GPUs each divide the `gpus` of a node; adds a finding at `node` otherwise.

void check_slots(const Node& node, const spec::LinkSpec& slot, std::int64_t behind, std::int64_t gpus) {
  if (behind > 1 && !(slot.bandwidth > 0)) {
    node.fail_at("slot-gpus", "needs 'slot'", "add slot=\"pcie-5\", or remove it");
  } else if (gpus % behind != 0) {
    const std::string what = fmt::format("the {} of a node", gpus == 1 ? "one GPU" : fmt::format("{} GPUs", gpus));
    if (node.has("slot-gpus")) {
      node.fail_at("slot-gpus", fmt::format("does not divide {}", what), "use a divisor");
    } else {
      node.fail(fmt::format("<{}> takes slots of {} GPUs from <gpu-cluster>, which do not divide {}",
                            node.element().name, behind, what),
                "set slot-gpus=\"1\", or another divisor");
    }
  }
}

/// Reads `slot`. The caller must have read the adapters first.
void read_slot(const Node& node, spec::GpuClusterSpec& cluster, const ReadContext& context) {
  if (node.has("slot")) {
    cluster.slot = read_cluster_link(node, "slot", spec::Transport::rdma, 0, context);
    if (!(cluster.nic.bandwidth > 0)) node.refuse("slot", "needs network adapters", "remove it");
  }
  check_slots(node, cluster.slot, cluster.slot_gpus, cluster.gpus);
}

/// Reads queue and congestion, and reports attributes without effect. The caller must have read links and rows first.
void read_adapters(const Node& node, spec::GpuClusterSpec& cluster) {
  const bool tcp = over_tcp(cluster);
  const std::optional<double> queue = read_queue(node, tcp, cluster.nic.transport);
  for (spec::LinkSpec* link : {&cluster.nic, &cluster.fabric.link}) {
    if (link->transport == spec::Transport::tcp) link->queue_bytes = queue.value_or(usual_queue(*link));
  }
  for (spec::NodeGroup& group : cluster.more) {
    if (tcp) group.nic.queue_bytes = queue.value_or(usual_queue(group.nic));
  }
  cluster.flow_limit = quantity(node, "flow-limit", kBandwidthForm, 0);
  for (const char* attribute : {"sockets", "socket-threads", "flow-limit", "mtu"}) {
    if (node.has(attribute) && !tcp) {
      node.refuse(attribute, fmt::format("needs transport=\"tcp\", not {}", to_string(cluster.nic.transport)),
                  "remove it: only tcp has sockets");
    }
  }
}

/// Default latency in seconds of a custom link between nodes: that of the catalogue's Ethernet of 10 Gbit/s and more.
constexpr double kBetween = 1e-6;

constexpr std::size_t kMaxDimensions = 10;

const Table<spec::FabricSpec>& one_switch_table() {
  using Spec = spec::FabricSpec;
  static const Table<Spec> kTable("one-switch", "Fabric: one non-blocking switch.",
                                  std::vector<Row<Spec>>{attribute("sharp", &Spec::adds_up).if_given()});
  return kTable;
}

const Table<spec::FabricSpec>& fat_tree_table() {
  using Spec = spec::FabricSpec;
  static const Table<Spec> kTable(
      "fat-tree", "Fabric: two levels of switches, with a link from each leaf to each spine.",
      std::vector<Row<Spec>>{attribute("sharp", &Spec::adds_up).if_given()} +
          cluster_link("link", &Spec::link, name_in("links"), true) +
          std::vector<Row<Spec>>{
              attribute("nodes-per-switch", &Spec::nodes_per_switch, integer(1, kMaxHosts)).must(),
              attribute("oversubscription", &Spec::oversubscription, real({.minimum = 1, .maximum = 1e6}))});
  return kTable;
}

const Table<spec::FabricSpec>& dragonfly_table() {
  using Spec = spec::FabricSpec;
  static const Table<Spec> kTable(
      "dragonfly", "Fabric: a dragonfly of groups × routers × nodes, with links between all groups.",
      cluster_link("link", &Spec::link, name_in("links"), true) +
          std::vector<Row<Spec>>{
              printed_as<Spec>(attribute("groups", integer(1, kMaxHosts)).must(),
                               [](const Spec& fabric) { return fmt::format("{}", fabric.dimensions.at(0)); }),
              printed_as<Spec>(attribute("routers", integer(1, kMaxHosts)).must(),
                               [](const Spec& fabric) { return fmt::format("{}", fabric.dimensions.at(1)); }),
              printed_as<Spec>(attribute("nodes", integer(1, kMaxHosts)).must(),
                               [](const Spec& fabric) { return fmt::format("{}", fabric.dimensions.at(2)); })});
  return kTable;
}

const Table<spec::FabricSpec>& torus_table() {
  using Spec = spec::FabricSpec;
  static const Table<Spec> kTable(
      "torus", "Fabric: a torus, a grid of nodes whose axes are rings.",
      cluster_link("link", &Spec::link, name_in("links"), true) +
          std::vector<Row<Spec>>{printed_as<Spec>(
              attribute("dimensions", text("", "[0-9]+(x[0-9]+)*")).must(),
              [](const Spec& fabric) { return fmt::format("{}", fmt::join(fabric.dimensions, "x")); })});
  return kTable;
}

const Table<spec::FabricSpec>& fabric_table(spec::FabricSpec::Kind kind) {
  using enum spec::FabricSpec::Kind;
  return kind == one_switch  ? one_switch_table()
         : kind == fat_tree  ? fat_tree_table()
         : kind == dragonfly ? dragonfly_table()
                             : torus_table();
}

/// Reads dimensions like "4x4x4"; returns none, with a finding, for another text.
std::vector<std::int64_t> read_dimensions(const Node& node) {
  constexpr const char* kForm = "whole numbers of nodes along each axis with x between them, e.g. 4x4x4";
  const std::optional<std::string> text = node.required_text("dimensions", kForm);
  if (!text) return {};
  std::vector<std::int64_t> dimensions;
  for (std::size_t i = 0; i <= text->size();) {
    const std::size_t end = std::min(text->find('x', i), text->size());
    const std::optional<std::int64_t> value = parse_whole<std::int64_t>(std::string_view(*text).substr(i, end - i));
    if (!value || *value < 1 || *value > kMaxHosts || dimensions.size() == kMaxDimensions) {
      node.fail_at("dimensions", "has the wrong form", kForm);
      return {};
    }
    dimensions.push_back(*value);
    i = end + 1;
  }
  return dimensions;
}

/// Adds a finding at `node` unless the product of the sizes is the number of the cluster's nodes (0: unknown).
void check_product(const Node& node, const std::vector<std::int64_t>& sizes, std::int64_t nodes) {
  if (sizes.empty() || nodes == 0) return;
  double product = 1;  // at most ten numbers up to 1e5
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

/// Reads the fabric between `nodes` nodes (0: unknown); custom links have transport `own`.
spec::FabricSpec read_fabric(const Element& element, spec::FabricSpec::Kind kind, std::int64_t nodes,
                             spec::Transport own, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::FabricSpec fabric;
  fabric.kind = kind;
  if (kind != spec::FabricSpec::Kind::one_switch) fabric.link = read_cluster_link(node, "link", own, kBetween, context);
  fabric_table(kind).read(node, context, fabric);
  if (kind == spec::FabricSpec::Kind::dragonfly) {
    std::vector<std::int64_t>& sizes = fabric.dimensions;
    for (const char* size : {"groups", "routers", "nodes"}) sizes.push_back(node.integer(size).value_or(0));
    if (std::ranges::find(sizes, 0) == sizes.end()) check_product(node, sizes, nodes);
  } else if (kind == spec::FabricSpec::Kind::torus) {
    fabric.dimensions = read_dimensions(node);
    check_product(node, fabric.dimensions, nodes);
  }
  return fabric;
}

void write_fabric(XmlWriter& xml, const spec::FabricSpec& fabric) { fabric_table(fabric.kind).print(xml, fabric, {}); }

}  // namespace

std::vector<ElementRule> fabrics_rules() {
  return {one_switch_table().rule(), fat_tree_table().rule(), dragonfly_table().rule(), torus_table().rule()};
}

namespace {

/// Default latency in seconds of a custom link inside a node: that of the catalogue's NVLink.
constexpr double kInside = 0.5e-6;

constexpr std::size_t kMostGroups = 100;

/// Reads a link of <more-nodes> that replaces the cluster's link; a custom link has the transport of the cluster's.
void read_link(const Node& node, const char* attribute, double latency, spec::LinkSpec& link,
               const ReadContext& context) {
  if (!node.has(attribute)) {
    const std::string beside = fmt::format("{}-latency", attribute);
    node.refuse(beside, fmt::format("needs '{}'", attribute), "remove it");
    return;
  }
  const spec::LinkSpec usual = link;
  link = read_cluster_link(node, attribute, usual.transport, latency, context);
  if (!is_own_link(link)) return;
  link.name = fmt::format("gpu-cluster {}", attribute);  // class of the cluster's link that it replaces
  link.costs = usual.costs;
  link.library = usual.library;
  link.generation = usual.generation;
}

/// Reads the link between the GPUs of a node, and the node's slots.
void read_buses(const Node& node, const spec::GpuClusterSpec& cluster, spec::NodeGroup& group,
                const ReadContext& context) {
  if (group.gpus == 1) {
    for (const char* attribute : {"mesh", "bridge", "bridge-latency"}) {
      node.refuse(attribute, "needs several GPUs per node", "remove it");
    }
  } else if (node.has("bridge")) {
    if (node.boolean("mesh", false)) node.refuse("mesh", "cannot be combined with 'bridge'", "remove one of them");
    group.inside = spec::InsideNode::shared;
    group.bridge = read_cluster_link(node, "bridge", spec::Transport::rdma, kInside, context);
    if (is_own_link(group.bridge)) group.bridge.name = "gpu-cluster bridge";
  } else {
    node.refuse("bridge-latency", "needs 'bridge'", "remove it");
    if (node.has("mesh"))
      group.inside = node.boolean("mesh", false) ? spec::InsideNode::mesh : spec::InsideNode::switched;
  }
  if (node.has("slot")) {
    group.slot = read_cluster_link(node, "slot", spec::Transport::rdma, 0, context);
    if (is_own_link(*group.slot)) group.slot->name = "gpu-cluster slot";
  }
  check_slots(node, group.slot.value_or(cluster.slot), group.slot_gpus.value_or(cluster.slot_gpus), group.gpus);
}

/// Table of <more-nodes> of <gpu-cluster>: nodes that differ from the others.
const Table<spec::NodeGroup>& more_nodes_table() {
  using Spec = spec::NodeGroup;
  static const Table<Spec> kTable =
      Table<Spec>(
          "more-nodes",
          "Nodes of another size or with other links, numbered after the `nodes` of the cluster. Omitted attributes "
          "are as in the cluster.",
          std::vector<Row<Spec>>{attribute("nodes", &Spec::nodes, integer(1, kMaxHosts)).must(),
                                 attribute("gpus", &Spec::gpus, integer(1, kMaxHosts)).without_default()} +
              cluster_link<Spec>("inside", &Spec::port, name_in("links"), false,
                                 [](const Spec& group) { return group.gpus > 1 && !group.port.name.empty(); }) +
              std::vector<Row<Spec>>{printed_as<Spec>(attribute("mesh", truth()),
                                                      [](const Spec& group) {
                                                        return std::string(
                                                            group.inside == spec::InsideNode::mesh ? "true" : "false");
                                                      })
                                         .printed_if([](const Spec& group) {
                                           return group.inside && group.inside != spec::InsideNode::shared;
                                         })} +
              cluster_link<Spec>("bridge", &Spec::bridge, text(), false,
                                 [](const Spec& group) { return group.inside == spec::InsideNode::shared; }) +
              std::vector<Row<Spec>>{attribute("rails", &Spec::rails, integer(1, kMaxHosts)).without_default()} +
              cluster_link<Spec>("nic", &Spec::nic, name_in("links"), false) +
              std::vector<Row<Spec>>{printed_as<Spec>(attribute("slot", name_in("links")),
                                                      [](const Spec& group) { return link_text(*group.slot); })
                                         .printed_if([](const Spec& group) { return group.slot.has_value(); }),
                                     attribute("slot-gpus", &Spec::slot_gpus, integer(1, kMaxHosts))})
          .repeats();
  return kTable;
}

/// Reads all <more-nodes> into a cluster. The caller must have read the cluster's own nodes and links first.
void read_more_nodes(const Node& node, spec::GpuClusterSpec& cluster, const ReadContext& context) {
  for (const Element* element : node.children("more-nodes", kMostGroups)) {
    const Node own(*element, context.findings);
    spec::NodeGroup group{1, cluster.gpus, cluster.port, cluster.rails, cluster.nic};
    more_nodes_table().read(own, context, group);
    if (group.gpus == 1) {
      for (const char* attribute : {"inside", "inside-latency"}) {
        own.refuse(attribute, "needs several GPUs per node", "remove it");
      }
    } else if (!own.has("inside") && cluster.port.name.empty()) {
      own.fail("<more-nodes> lacks 'inside'", "add the link between the GPUs of a node; the cluster has no default");
    } else {
      read_link(own, "inside", kInside, group.port, context);
    }
    read_link(own, "nic", kBetween, group.nic, context);
    read_buses(own, cluster, group, context);
    if (cluster.library_is_given) group.port.library = cluster.port.library;
    if (group.nic.transport != cluster.nic.transport) {
      own.fail_at("nic",
                  fmt::format("uses {}, but the adapters of the other nodes use {}", to_string(group.nic.transport),
                              to_string(cluster.nic.transport)),
                  "use adapters of one transport for all nodes of the fabric");
    }
    if (group.rails > group.gpus && group.rails % group.gpus != 0) {
      own.fail_at("rails",
                  fmt::format("are more than the {} GPUs of a node, but not a multiple of the GPUs", group.gpus),
                  "use at most one adapter per GPU, or a multiple of the GPUs");
    }
    cluster.more.push_back(std::move(group));
  }
}

bool has_port(const spec::GpuClusterSpec& cluster) { return !cluster.port.name.empty(); }

/// Returns the first custom link between nodes, which has a bandwidth of its own; nullptr: none.
const spec::LinkSpec* own_between(const spec::GpuClusterSpec& cluster) {
  for (const spec::LinkSpec* link : {&cluster.nic, &cluster.fabric.link}) {
    if (is_own_link(*link)) return link;
  }
  for (const spec::NodeGroup& group : cluster.more) {
    if (is_own_link(group.nic)) return &group.nic;
  }
  return nullptr;
}

const Table<spec::GpuClusterSpec>& gpu_cluster_table() {
  using Spec = spec::GpuClusterSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "gpu-cluster",
          "Nodes of GPUs. Hosts are called gpu-0, gpu-1 and so on, node by node. Without a fabric inside, one switch "
          "joins all nodes.",
          std::vector<Row<Spec>>{attribute("name", &Spec::name, text("", kPrefix)).if_given().by_reader(),
                                 attribute("nodes", &Spec::nodes, integer(1, kMaxHosts)).must().by_reader(),
                                 attribute("gpus", &Spec::gpus, integer(1, kMaxHosts)).must().by_reader()} +
              cluster_link<Spec>("inside", &Spec::port, name_in("links"), false, has_port) +
              std::vector<Row<Spec>>{
                  printed_as<Spec>(attribute("inside-transport", one_of<spec::Transport>()).otherwise("nvlink"),
                                   [](const Spec& cluster) { return to_string(cluster.port.transport); })
                      .printed_if([](const Spec& cluster) { return has_port(cluster) && is_own_link(cluster.port); }),
                  printed_as<Spec>(attribute("library", one_of({"nccl", "rccl"})),
                                   [](const Spec& cluster) { return to_string(cluster.port.library); })
                      .printed_if([](const Spec& cluster) { return cluster.library_is_given; }),
                  printed_as<Spec>(attribute("mesh", truth()).otherwise("false"), [](const Spec&) { return "true"; })
                      .printed_if([](const Spec& cluster) { return cluster.inside == spec::InsideNode::mesh; })} +
              cluster_link<Spec>("bridge", &Spec::bridge, text(), false,
                                 [](const Spec& cluster) { return cluster.inside == spec::InsideNode::shared; }) +
              std::vector<Row<Spec>>{attribute("rails", &Spec::rails, integer(1, kMaxHosts))} +
              cluster_link<Spec>("nic", &Spec::nic, name_in("links"), true) +
              std::vector<Row<Spec>>{
                  printed_as<Spec>(attribute("transport", one_of<spec::Transport>()).otherwise("tcp"),
                                   [](const Spec& cluster) { return to_string(own_between(cluster)->transport); })
                      .printed_if([](const Spec& cluster) { return own_between(cluster) != nullptr; })} +
              adapter_rows())
          .holds({"more-nodes"})
          .holds(spec::all_names<spec::FabricSpec::Kind>())
          .repeats();
  return kTable;
}

/// Reads the library that carries out collectives, and the transport between devices.
void read_library(const Node& node, spec::GpuClusterSpec& cluster) {
  const bool named = !cluster.port.name.empty() && !is_own_link(cluster.port);
  if (named)
    node.refuse("inside-transport", "has no effect: the catalogue link 'inside' sets the transport", "remove it");
  if (cluster.port.name.empty()) node.refuse("inside-transport", "needs 'inside'", "remove it");
  const bool amd = node.has("library") && node.chosen("library") == 1;
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
  const std::optional<std::int64_t> nodes = node.integer("nodes");
  const std::optional<std::int64_t> gpus = node.integer("gpus");
  cluster.nodes = nodes.value_or(1);
  cluster.gpus = gpus.value_or(1);

  const bool alone = gpus == 1;
  const spec::Transport travels = node.named("inside-transport", spec::Transport::nvlink);
  if (!alone || node.has("inside")) {
    cluster.port = scenario::read_cluster_link(node, "inside", travels, kInside, context);
  } else if (node.has("inside-latency")) {
    node.refuse("inside-latency", "needs 'inside'", "remove it");
  }
  if (node.boolean("mesh", false)) {
    if (alone) node.refuse("mesh", "needs several GPUs per node", "remove it");
    if (node.has("bridge")) node.refuse("mesh", "cannot be combined with 'bridge'", "remove one of them");
    cluster.inside = spec::InsideNode::mesh;
  }
  read_library(node, cluster);
  if (node.has("bridge")) {
    if (alone) node.refuse("bridge", "needs several GPUs per node", "remove it");
    cluster.inside = spec::InsideNode::shared;
    cluster.bridge = scenario::read_cluster_link(node, "bridge", spec::Transport::rdma, kInside, context);
  } else if (node.has("bridge-latency")) {
    node.refuse("bridge-latency", "needs 'bridge'", "remove it");
  }
  gpu_cluster_table().read(node, context, cluster);
  if (gpus && cluster.rails > *gpus && cluster.rails % *gpus != 0) {
    node.fail_at("rails", fmt::format("are more than the {} GPUs of a node, but not a multiple of the GPUs", *gpus),
                 "use at most one adapter per GPU, or a multiple of the GPUs");
  }
  const spec::Transport own = node.named("transport", spec::Transport::tcp);
  cluster.nic = scenario::read_cluster_link(node, "nic", own, kBetween, context);
  read_slot(node, cluster, context);
  read_more_nodes(node, cluster, context);
  bool any_own = own_between(cluster) != nullptr;

  const Element* fabric = nullptr;
  for (const Element& child : element.children) {
    const auto kind = spec::parse<spec::FabricSpec::Kind>(child.name);
    if (!kind) continue;
    spec::FabricSpec spec = read_fabric(child, *kind, nodes ? all_nodes(cluster) : 0, own, context);
    any_own = any_own || is_own_link(spec.link);
    if (fabric == nullptr) {
      fabric = &child;
      cluster.fabric = std::move(spec);
    } else if (fabric->name != child.name) {
      context.findings.add(child.origin, fmt::format("<{}> beside <{}>", child.name, fabric->name),
                           "keep at most one fabric");
    }
  }
  read_adapters(node, cluster);
  if (node.has("transport") && !any_own) {
    node.refuse("transport", "has no effect: all links between nodes come from the catalogue", "remove it");
  }
  return cluster;
}

void write_cluster(XmlWriter& xml, const spec::GpuClusterSpec& cluster) {
  XmlWriter::Open element(xml, "gpu-cluster");
  gpu_cluster_table().print_attributes(element, cluster, {});
  for (const spec::NodeGroup& group : cluster.more) more_nodes_table().print(xml, group, {});
  write_fabric(xml, cluster.fabric);
}

std::vector<ElementRule> gpu_cluster_rules() { return {gpu_cluster_table().rule(), more_nodes_table().rule()}; }

}  // namespace dadsim::scenario
