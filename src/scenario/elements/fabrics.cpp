#include "scenario/elements/fabrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenario/elements/link_rows.hpp"
#include "scenario/elements/read_platform.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxDimensions = 10;

const Table<spec::FabricSpec>& one_switch_table() {
  using Spec = spec::FabricSpec;
  static const Table<Spec> kTable(
      "one-switch", "Fabric: one switch that never blocks.",
      std::vector<Row<Spec>>{
          attribute("sharp", &Spec::adds_up, "Whether the switch can add up what passes (InfiniBand SHARP).")
              .if_given()});
  return kTable;
}

const Table<spec::FabricSpec>& fat_tree_table() {
  using Spec = spec::FabricSpec;
  static const Table<Spec> kTable(
      "fat-tree", "Fabric: two levels of switches, each leaf joined to every spine.",
      std::vector<Row<Spec>>{
          attribute("sharp", &Spec::adds_up, "Whether the switches can add up what passes (InfiniBand SHARP).")
              .if_given()} +
          cluster_link("link", &Spec::link, name_in("links"),
                       "Between switches: a link of the catalogue, or a bandwidth with its unit.",
                       "One way, with its unit. Default: what the catalogue says, 1us for a bandwidth.", true) +
          std::vector<Row<Spec>>{
              attribute("nodes-per-switch", &Spec::nodes_per_switch, integer(1, kMaxHosts),
                        "Nodes below each leaf switch.")
                  .must(),
              attribute("oversubscription", &Spec::oversubscription, real({.minimum = 1, .maximum = 1e6}),
                        "Bandwidth down divided by bandwidth up of a leaf switch, from 1 to 1000000.")});
  return kTable;
}

const Table<spec::FabricSpec>& dragonfly_table() {
  using Spec = spec::FabricSpec;
  static const Table<Spec> kTable(
      "dragonfly",
      "Fabric: groups of routers, all groups joined. Groups times routers times nodes are the nodes of the cluster.",
      cluster_link("link", &Spec::link, name_in("links"),
                   "Between routers: a link of the catalogue, or a bandwidth with its unit.",
                   "One way, with its unit. Default: what the catalogue says, 1us for a bandwidth.", true) +
          std::vector<Row<Spec>>{
              printed_as<Spec>(attribute("groups", integer(1, kMaxHosts), "How many.").must(),
                               [](const Spec& fabric) { return fmt::format("{}", fabric.dimensions.at(0)); }),
              printed_as<Spec>(attribute("routers", integer(1, kMaxHosts), "Per group.").must(),
                               [](const Spec& fabric) { return fmt::format("{}", fabric.dimensions.at(1)); }),
              printed_as<Spec>(attribute("nodes", integer(1, kMaxHosts), "Per router.").must(),
                               [](const Spec& fabric) { return fmt::format("{}", fabric.dimensions.at(2)); })});
  return kTable;
}

const Table<spec::FabricSpec>& torus_table() {
  using Spec = spec::FabricSpec;
  static const Table<Spec> kTable(
      "torus", "Fabric: a grid of nodes that closes on itself along each axis.",
      cluster_link("link", &Spec::link, name_in("links"),
                   "Between neighbours: a link of the catalogue, or a bandwidth with its unit.",
                   "One way, with its unit. Default: what the catalogue says, 1us for a bandwidth.", true) +
          std::vector<Row<Spec>>{printed_as<Spec>(
              attribute("dimensions", text("", "[0-9]+(x[0-9]+)*"),
                        "Nodes along each axis (`4x4x4`, at most ten axes); their product is the cluster's `nodes`.")
                  .must(),
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

/// "4x4x4"; empty with a finding.
std::vector<std::int64_t> read_dimensions(const Node& node) {
  constexpr const char* kForm = "whole numbers of nodes along each axis with x between them, e.g. 4x4x4";
  const std::optional<std::string> text = node.required_text("dimensions", kForm);
  if (!text) return {};
  std::vector<std::int64_t> dimensions;
  for (std::size_t i = 0; i <= text->size();) {
    const std::size_t end = std::min(text->find('x', i), text->size());
    const std::optional<std::int64_t> value = parse_whole<std::int64_t>(std::string_view(*text).substr(i, end - i));
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

}  // namespace

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

std::vector<ElementRule> fabrics_rules() {
  return {one_switch_table().rule(), fat_tree_table().rule(), dragonfly_table().rule(), torus_table().rule()};
}

}  // namespace dadsim::scenario
