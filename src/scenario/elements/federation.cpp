
#include "scenario/elements/link_rows.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read_platform.hpp"
#include "scenario/language/schema.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxClasses = kMaxHosts;

const Table<spec::FederationSpec::Sites>& sites_table() {
  using Spec = spec::FederationSpec::Sites;
  static const Table<Spec> kTable =
      Table<Spec>("sites", "Sites with equal lines.",
                  std::vector<Row<Spec>>{attribute("name", &Spec::name, text("", kPrefix)).must().by_reader(),
                                         attribute("count", &Spec::count, integer(1, kMaxHosts))
                                             .by_reader()
                                             .without_default()
                                             .printed_if([](const Spec& sites) { return sites.numbered; })} +
                      access_line(&Spec::up, &Spec::down) +
                      std::vector<Row<Spec>>{
                          attribute("bandwidth-spread", &Spec::bandwidth_spread, real(kDeviation)).if_given(),
                          attribute("latency-spread", &Spec::latency_spread, real(kDeviation)).if_given()})
          .repeats();
  return kTable;
}

/// Returns the rows of the hub's line, with the same meanings as for sites.
std::vector<Row<spec::FederationSpec>> hub_rows() {
  auto rows = access_line(&spec::FederationSpec::hub_up, &spec::FederationSpec::hub_down);
  for (auto& row : rows) row.rule.words = attribute_words("sites", row.rule.name);
  return rows;
}

const Table<spec::FederationSpec>& hub_table() {
  static const Table<spec::FederationSpec> kTable(
      "hub", "The line of the hub. Without it the hub never limits a transfer.", hub_rows());
  return kTable;
}

const Table<spec::FederationSpec>& federation_table() {
  using Spec = spec::FederationSpec;
  static const Table<Spec> kTable =
      Table<Spec>("federation", "Sites around a hub, each with its own line. The hub is a host, too.",
                  {attribute("name", &Spec::name, text("", kPrefix)).if_given().by_reader()})
          .holds({"sites", "hub"})
          .repeats();
  return kTable;
}

}  // namespace

spec::FederationSpec read_federation(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::FederationSpec federation;
  federation.name = read_cluster_name(node);
  const std::vector<const Element*> classes = node.children("sites");
  if (classes.empty()) {
    node.fail(
        "<federation> lacks <sites>",
        "add at least one, e.g. <sites name=\"hospital\" count=\"5\" up=\"10Mbps\" down=\"50Mbps\" latency=\"8ms\"/>");
  }
  if (classes.size() > kMaxClasses) node.children("sites", kMaxClasses);
  for (const Element* one : classes) {
    const Node sites(*one, context.findings);
    spec::FederationSpec::Sites spec;
    spec.name = read_host_prefix(sites, "name", "the prefix of the host names");
    spec.numbered = sites.has("count");
    if (spec.numbered) spec.count = sites.integer("count").value_or(1);
    const AccessLine line = read_access_line(sites, spec.name, context);
    spec.up = line.up;
    spec.down = line.down;
    sites_table().read(sites, context, spec);
    federation.sites.push_back(std::move(spec));
  }
  if (const Element* hub = node.child("hub")) {
    const AccessLine line = read_access_line(Node(*hub, context.findings), "hub", context);
    federation.hub_up = line.up;
    federation.hub_down = line.down;
  }
  return federation;
}

void write_cluster(XmlWriter& xml, const spec::FederationSpec& federation) {
  XmlWriter::Open element(xml, "federation");
  federation_table().print_attributes(element, federation, {});
  for (const spec::FederationSpec::Sites& sites : federation.sites) sites_table().print(xml, sites, {});
  if (federation.hub_up.bandwidth > 0) hub_table().print(xml, federation, {});
}

std::vector<ElementRule> federation_rules() {
  return {federation_table().rule(), sites_table().rule(), hub_table().rule()};
}

}  // namespace dadsim::scenario
