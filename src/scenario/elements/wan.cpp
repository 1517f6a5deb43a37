#include <fmt/format.h>

#include <algorithm>

#include "scenario/elements/link_rows.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read_platform.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxRegions = 100;  // largest number of regions; 100 regions have 9,900 pairs

const Table<spec::WanSpec::Region>& region_table() {
  using Spec = spec::WanSpec::Region;
  static const Table<Spec> kTable = Table<Spec>("region", "Hosts in one place.",
                                                {attribute("name", &Spec::name, text("", kPrefix)).must().by_reader(),
                                                 attribute("hosts", &Spec::hosts, integer(1, kMaxHosts)).must()})
                                        .repeats();
  return kTable;
}

const Table<spec::WanSpec>& wan_table() {
  using Spec = spec::WanSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "wan",
          "Regions with a connection between each two. Hosts are called region-1, region-2 and so on. Pairs of "
          "regions of the public table may be omitted.",
          {attribute("name", &Spec::name, text("", kPrefix)).if_given().by_reader(),
           printed_as<Spec>(attribute("host", text()), [](const Spec& wan) { return link_text(wan.host); })
               .printed_if([](const Spec& wan) { return !is_own_link(wan.host); }),
           printed_as<Spec>(attribute("host-bandwidth", quantity(kBandwidthForm)),
                            [](const Spec& wan) { return link_text(wan.host); })
               .printed_if([](const Spec& wan) { return is_own_link(wan.host); }),
           printed_as<Spec>(attribute("host-latency", quantity(kLatencyForm)),
                            [](const Spec& wan) { return fmt::format("{}s", wan.host.latency); }),
           printed_as<Spec>(queue_rule(), [](const Spec& wan) { return fmt::format("{}B", wan.host.queue_bytes); })
               .printed_if(
                   [](const Spec& wan) { return wan.host.transport == spec::Transport::tcp && !wan.host.is_goodput; })
               .if_left_out("`300kB`, or bandwidth × the longest round trip"),
           by_code<Spec>(congestion_rule()),
           printed_as<Spec>(measured_rule().if_left_out("`goodput` with `host-bandwidth` and no `queue`, else `wire`"),
                            [](const Spec&) { return std::string("goodput"); })
               .printed_if([](const Spec& wan) { return wan.host.is_goodput && !is_own_link(wan.host); })})
          .holds({"region", "pair"});
  return kTable;
}

/// Sets the default queue to the bytes in flight over the longest path, as for routers: bandwidth × round-trip time (C.
/// Villamizar, C. Song, High performance TCP in ANSNET, 1994).
void let_queue_grow(spec::WanSpec& wan) {
  const spec::LinkSpec& host = wan.host;
  if (host.transport != spec::Transport::tcp || host.is_goodput) return;
  double round_trip = 0;
  for (const spec::WanSpec::Pair& pair : wan.pairs) round_trip = std::max(round_trip, pair.round_trip);
  wan.host.queue_bytes = std::max(host.queue_bytes, host.bandwidth * (round_trip + 4 * host.latency));
}

/// Fills in missing numbers from the table of regions, and reports pairs without numbers.
void complete_pairs(GivenPairs& pairs, const Node& wan, const std::vector<const Element*>& regions,
                    const ReadContext& context) {
  const Catalog& catalog = context.catalog;
  const std::vector<std::string>& names = pairs.ends();
  std::vector<bool> in_table;
  for (const std::string& name : names)
    in_table.push_back(std::ranges::find(catalog.regions, name) != catalog.regions.end());
  for (std::size_t a = 0; a < names.size(); ++a) {
    for (std::size_t b = 0; b < names.size(); ++b) {
      if (a == b || !in_table[a] || !in_table[b] || pairs.at(a, b)) continue;
      pairs.at(a, b) = catalog.region_pair(names[a], names[b]);
      if (!pairs.at(a, b)) continue;
      pairs.at(a, b)->from = names[a];
      pairs.at(a, b)->to = names[b];
    }
  }
  if (pairs.unclear()) return;

  // Reports a name similar to one in the table once, as a misspelling, and not for each of its pairs.
  std::vector<bool> misspelt(names.size());
  for (std::size_t a = 0; a < names.size(); ++a) {
    const bool lacks = std::ranges::any_of(names, [&](const std::string& name) {
      const auto b = static_cast<std::size_t>(&name - names.data());
      return a != b && !missing_between(pairs, a, b).what.empty();
    });
    if (!lacks || in_table[a] || context.findings.full()) continue;
    const std::string near = closest(names[a], catalog.regions);
    if (near.empty()) continue;
    misspelt[a] = true;
    context.findings.add(
        regions[a]->find("name")->origin,
        fmt::format("region '{}' is not in the table of regions and lacks a <pair>", printable(names[a])),
        fmt::format("did you mean '{}'?", near));
  }
  for (std::size_t a = 0; a < names.size(); ++a) {
    for (std::size_t b = a + 1; b < names.size(); ++b) {
      if (misspelt[a] || misspelt[b]) continue;
      MissingPair missing = missing_between(pairs, a, b);
      if (!missing.what.empty()) wan.fail(std::move(missing.what), std::move(missing.remedy));
    }
  }
}

}  // namespace

spec::WanSpec read_wan(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::WanSpec wan;
  wan.name = read_cluster_name(node);
  wan.host = scenario::read_host_link(node, context);
  const std::vector<const Element*> regions = node.children("region");
  if (regions.empty()) {
    node.fail("<wan> lacks <region>", "add at least one, e.g. <region name=\"aws:us-east-1\" hosts=\"4\"/>");
  }
  if (regions.size() > kMaxRegions) {
    node.fail(fmt::format("{} <region>", regions.size()), fmt::format("at most {}", kMaxRegions));
    return wan;
  }
  std::vector<std::string> names;
  std::vector<const Element*> named;
  for (const Element* one : regions) {
    const Node region(*one, context.findings);
    const std::string name = read_host_prefix(region, "name", "a region of the table, or a name of your own");
    const std::int64_t hosts = region_table().read(region, context).hosts;
    if (name.empty()) continue;
    if (std::ranges::find(names, name) != names.end()) {
      region.fail_at("name", "is the name of another <region>", "use each region once");
      continue;
    }
    names.push_back(name);
    named.push_back(one);
    wan.regions.push_back({name, hosts});
  }
  GivenPairs pairs(node, std::move(names), "region", context);
  if (named.size() == regions.size()) complete_pairs(pairs, node, named, context);
  wan.pairs = pairs.take();
  if (!node.has("queue")) let_queue_grow(wan);
  return wan;
}

void write_wan(XmlWriter& xml, const spec::WanSpec& wan) {
  XmlWriter::Open element(xml, "wan");
  wan_table().print_attributes(element, wan, {});
  for (const spec::WanSpec::Region& region : wan.regions) region_table().print(xml, region, {});
  write_pairs(xml, wan.pairs);
}

std::vector<ElementRule> wan_rules() { return {wan_table().rule(), region_table().rule()}; }

}  // namespace dadsim::scenario
