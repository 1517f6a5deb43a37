#include "scenario/elements/more_nodes.hpp"

#include <fmt/format.h>

#include "scenario/elements/fabrics.hpp"
#include "scenario/elements/gpu_adapters.hpp"
#include "scenario/elements/link_rows.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMostGroups = 100;

/// A link that is given replaces that of the cluster's other nodes; one of its own travels as that does.
void read_link(const Node& node, const char* attribute, double latency, spec::LinkSpec& link,
               const ReadContext& context) {
  if (!node.has(attribute)) {
    const std::string beside = fmt::format("{}-latency", attribute);
    node.refuse(beside, fmt::format("means nothing without '{}'", attribute), "remove it");
    return;
  }
  const spec::LinkSpec usual = link;
  link = read_cluster_link(node, attribute, usual.transport, latency, context);
  if (!is_own_link(link)) return;
  link.name = fmt::format("gpu-cluster {}", attribute);  // the class of those of the other nodes
  link.costs = usual.costs;
  link.library = usual.library;
  link.generation = usual.generation;
}

/// How the GPUs of a node reach each other, and their slots.
void read_buses(const Node& node, const spec::GpuClusterSpec& cluster, spec::NodeGroup& group,
                const ReadContext& context) {
  if (group.gpus == 1) {
    for (const char* attribute : {"mesh", "bridge", "bridge-latency"}) {
      node.refuse(attribute, "means nothing to one GPU per node", "remove it");
    }
  } else if (node.has("bridge")) {
    if (node.boolean("mesh", false)) node.refuse("mesh", "stands beside 'bridge'", "one of them");
    group.inside = spec::InsideNode::shared;
    group.bridge = read_cluster_link(node, "bridge", spec::Transport::rdma, kInside, context);
    if (is_own_link(group.bridge)) group.bridge.name = "gpu-cluster bridge";
  } else {
    node.refuse("bridge-latency", "means nothing without 'bridge'", "remove it");
    if (node.has("mesh"))
      group.inside = node.boolean("mesh", false) ? spec::InsideNode::mesh : spec::InsideNode::switched;
  }
  if (node.has("slot")) {
    group.slot = read_cluster_link(node, "slot", spec::Transport::rdma, 0, context);
    if (is_own_link(*group.slot)) group.slot->name = "gpu-cluster slot";
  }
  check_slots(node, group.slot.value_or(cluster.slot), group.slot_gpus.value_or(cluster.slot_gpus), group.gpus);
}

}  // namespace

const Table<spec::NodeGroup>& more_nodes_table() {
  using Spec = spec::NodeGroup;
  static const Table<Spec> kTable =
      Table<Spec>(
          "more-nodes",
          "Nodes of another size or with other links, numbered on behind the `nodes` of the cluster. What is left out "
          "is as there.",
          std::vector<Row<Spec>>{
              attribute("nodes", &Spec::nodes, integer(1, kMaxHosts), "How many.").must(),
              attribute("gpus", &Spec::gpus, integer(1, kMaxHosts), "Per node. Left out, as many as the others have.")
                  .without_default()} +
              cluster_link<Spec>("inside", &Spec::port, name_in("links"),
                                 "The link of each GPU inside its node: a link of the catalogue, or a bandwidth with "
                                 "its unit, which travels as the others' does.",
                                 "One way, with its unit.", false,
                                 [](const Spec& group) { return group.gpus > 1 && !group.port.name.empty(); }) +
              std::vector<Row<Spec>>{
                  printed_as<Spec>(attribute("mesh", truth(),
                                             "Whether every two GPUs of a node have a link of their own; `false`: a "
                                             "switch joins them."),
                                   [](const Spec& group) {
                                     return std::string(group.inside == spec::InsideNode::mesh ? "true" : "false");
                                   })
                      .printed_if(
                          [](const Spec& group) { return group.inside && group.inside != spec::InsideNode::shared; })} +
              cluster_link<Spec>("bridge", &Spec::bridge, text(),
                                 "The host bridge that all GPUs of a node share: a link of the catalogue, or a "
                                 "bandwidth with its unit.",
                                 "One way, with its unit.", false,
                                 [](const Spec& group) { return group.inside == spec::InsideNode::shared; }) +
              std::vector<Row<Spec>>{attribute("rails", &Spec::rails, integer(1, kMaxHosts),
                                               "Network adapters per node. Left out, as many as the others have.")
                                         .without_default()} +
              cluster_link<Spec>("nic", &Spec::nic, name_in("links"),
                                 "The link of each adapter: of the catalogue, or a bandwidth with its unit; by the "
                                 "same transport as the others.",
                                 "One way, with its unit.", false) +
              std::vector<Row<Spec>>{
                  printed_as<Spec>(attribute("slot", name_in("links"),
                                             "What GPUs reach their adapters through: a link of the catalogue, or a "
                                             "bandwidth with its unit, of payload."),
                                   [](const Spec& group) { return link_text(*group.slot); })
                      .printed_if([](const Spec& group) { return group.slot.has_value(); }),
                  attribute("slot-gpus", &Spec::slot_gpus, integer(1, kMaxHosts),
                            "GPUs behind one slot, which share it.")})
          .repeats();
  return kTable;
}

void read_more_nodes(const Node& node, spec::GpuClusterSpec& cluster, const ReadContext& context) {
  for (const Element* element : node.children("more-nodes", kMostGroups)) {
    const Node own(*element, context.findings);
    spec::NodeGroup group{1, cluster.gpus, cluster.port, cluster.rails, cluster.nic};
    more_nodes_table().read(own, context, group);
    if (group.gpus == 1) {
      for (const char* attribute : {"inside", "inside-latency"}) {
        own.refuse(attribute, "means nothing to one GPU per node", "remove it");
      }
    } else if (!own.has("inside") && cluster.port.name.empty()) {
      own.fail("<more-nodes> lacks 'inside'",
               "the link between the GPUs of a node, which the other nodes have none of");
    } else {
      read_link(own, "inside", kInside, group.port, context);
    }
    read_link(own, "nic", kBetween, group.nic, context);
    read_buses(own, cluster, group, context);
    if (cluster.library_is_given) group.port.library = cluster.port.library;
    if (group.nic.transport != cluster.nic.transport) {
      own.fail_at("nic",
                  fmt::format("travels by {}, the adapters of the other nodes by {}", to_string(group.nic.transport),
                              to_string(cluster.nic.transport)),
                  "adapters of one transport, as one fabric joins them");
    }
    if (group.rails > group.gpus && group.rails % group.gpus != 0) {
      own.fail_at("rails", fmt::format("are more than the {} GPUs of a node, and no multiple of them", group.gpus),
                  "at most one for each GPU, or the same number for each");
    }
    cluster.more.push_back(std::move(group));
  }
}

}  // namespace dadsim::scenario
