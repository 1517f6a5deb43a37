#include "scenario/elements/read_link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "scenario/language/quantity.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::scenario {
namespace {

constexpr const char* kOwnLink = "defined in the platform";
/// Bytes of a queue that never fills. It stands for BBR, which keeps queues short, so that nothing is lost and no
/// window has to recover (docs/validation.md, rows of BBR).
constexpr double kNeverFull = 1e9;

/// Share of a wire's bandwidth that TCP payload reaches. A full Ethernet frame has 1514 bytes (MTU 1500 and the
/// Ethernet header), of which 1448 are payload after the headers of IPv4 and of TCP with time stamps (RFC 791, 9293,
/// 7323).
constexpr double kTcpShare = 1448.0 / 1514.0;

double usual_efficiency(spec::Transport transport) { return transport == spec::Transport::tcp ? kTcpShare : 1; }

spec::LinkSpec own_link(std::string name, double bandwidth, double latency, spec::Transport transport) {
  spec::LinkSpec link;
  link.name = std::move(name);
  link.bandwidth = bandwidth;
  link.latency = latency;
  link.transport = transport;
  link.efficiency = usual_efficiency(transport);
  link.source = kOwnLink;
  return link;
}

void take_as_measured(spec::LinkSpec& link, double per_connection) {
  link.is_goodput = true;
  link.per_connection = per_connection;
  link.efficiency = 1;
  link.queue_bytes = spec::LinkSpec{}.queue_bytes;
}

const spec::LinkSpec* find_link(const std::string& name, const Catalog& catalog) {
  const auto found = std::ranges::find(catalog.links, name, &spec::LinkSpec::name);
  return found == catalog.links.end() ? nullptr : &*found;
}

std::vector<std::string> link_names(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const spec::LinkSpec& link : catalog.links) names.push_back(link.name);
  return names;
}

/// Marks the latency of a custom link, which the scenario must give.
constexpr double kUnknown = -1;

/// Reads a name of the catalogue, or the bandwidth of a custom link, which is named after the owner and the attribute.
spec::LinkSpec read_one_way(const Node& node, const char* attribute, const std::string& owner,
                            const ReadContext& context) {
  constexpr const char* kForm = "a bandwidth above 0 with its unit, e.g. 100Mbps, or a link of the catalogue";
  spec::LinkSpec link = own_link(fmt::format("{} {}", owner, attribute), 0, kUnknown, spec::Transport::tcp);
  const std::optional<std::string> text = node.required_text(attribute, kForm);
  if (!text) return link;
  if (const spec::LinkSpec* known = find_link(*text, context.catalog)) return *known;
  const std::optional<double> bandwidth = parse_quantity(kBandwidthForm.unit, *text);
  if (bandwidth && std::isfinite(*bandwidth) && kBandwidthForm.range.contains(*bandwidth)) {
    link.bandwidth = *bandwidth;
    return link;
  }
  std::string near = meant_quantity(kBandwidthForm.unit, *text);
  if (near.empty() && !context.findings.full()) {
    const std::vector<std::string> names = link_names(context.catalog);
    near = spec::name_meant(spec::NameKind::link, *text, names).name;
    if (near.empty()) near = closest(*text, names);
  }
  node.fail_at(attribute, "is neither a bandwidth nor a link of the catalogue",
               near.empty() ? kForm : fmt::format("did you mean '{}'?", near));
  return link;
}

}  // namespace

bool is_own_link(const spec::LinkSpec& link) { return link.source == kOwnLink; }

spec::LinkSpec read_catalog_link(const Node& node, const char* attribute, const ReadContext& context) {
  const std::optional<std::string> name = node.required_text(attribute, "a link of the catalogue, e.g. ib-ndr");
  if (!name) return {};
  if (const spec::LinkSpec* known = find_link(*name, context.catalog)) return *known;
  node.fail_at(attribute, "is no link of the catalogue",
               context.findings.suggest(spec::NameKind::link, *name, link_names(context.catalog)));
  return {};
}

spec::LinkSpec read_cluster_link(const Node& node, const char* attribute, spec::Transport transport, double latency,
                                 const ReadContext& context) {
  spec::LinkSpec link = read_one_way(node, attribute, node.element().name, context);
  if (is_own_link(link)) {
    link.latency = latency;
    link.transport = transport;
    link.efficiency = usual_efficiency(transport);
  }
  const std::string beside = fmt::format("{}-latency", attribute);
  link.latency = quantity(node, beside.c_str(), kLatencyForm, link.latency);
  return link;
}

std::optional<double> read_queue(const Node& node, bool any_tcp, spec::Transport transport) {
  std::optional<double> queue;
  if (node.has("queue")) queue = quantity(node, "queue", kBytesForm, 0);
  const bool bbr = node.chosen("congestion") == 1;
  if (bbr) {
    if (queue)
      node.refuse("queue", "cannot be combined with congestion=\"bbr\", which keeps queues short", "remove it");
    queue = kNeverFull;
  }
  for (const char* attribute : {"queue", "congestion"}) {
    if (!node.has(attribute) || any_tcp) continue;
    node.refuse(attribute, fmt::format("needs transport=\"tcp\", not {}", to_string(transport)),
                fmt::format("remove it: only transport=\"tcp\" has {}",
                            attribute == std::string_view("queue") ? "a queue" : "congestion control"));
  }
  return queue;
}

MeasuredRow read_measured(const Node& node, bool any_tcp, bool usual, spec::Transport transport) {
  MeasuredRow measured;
  if (!any_tcp) {
    for (const char* attribute : {"measured", "per-connection"}) {
      if (node.has(attribute)) {
        node.refuse(attribute, fmt::format("needs transport=\"tcp\", not {}", to_string(transport)),
                    "remove it: other transports reach the bandwidth of the line");
      }
    }
    return measured;
  }
  measured.is_goodput = node.has("measured") ? node.chosen("measured") == 1 : usual;
  if (!measured.is_goodput) {
    if (node.has("per-connection")) {
      node.refuse("per-connection", "needs measured=\"goodput\", which has no losses and no queue",
                  "set measured=\"goodput\" without 'queue' and 'congestion', or remove it");
    }
    return measured;
  }
  for (const char* attribute : {"queue", "congestion", "efficiency"}) {
    if (!node.has(attribute)) continue;
    node.refuse(attribute, "cannot be combined with measured=\"goodput\", which already includes its effect",
                "remove one of them");
  }
  measured.per_connection = quantity(node, "per-connection", kBandwidthForm, 0);
  return measured;
}

AccessLine read_access_line(const Node& node, const std::string& owner, const ReadContext& context) {
  AccessLine line{read_one_way(node, "up", owner, context), read_one_way(node, "down", owner, context)};
  const std::array<spec::LinkSpec*, 2> both = {&line.up, &line.down};

  if (node.has("transport")) {
    const spec::Transport transport = node.named("transport", spec::Transport::plain);
    for (spec::LinkSpec* link : both) {
      if (link->transport == transport) continue;
      link->transport = transport;
      link->efficiency = usual_efficiency(transport);  // resets the efficiency, which was that of the former transport
    }
  }
  if (node.has("efficiency")) {
    const double share = node.real("efficiency").value_or(1);
    for (spec::LinkSpec* link : both) link->efficiency = share;
  }

  const double shared = quantity(node, "latency", kLatencyForm, -1);
  if (shared >= 0) {
    for (spec::LinkSpec* link : both) link->latency = shared;
  }
  line.up.latency = quantity(node, "up-latency", kLatencyForm, line.up.latency);
  line.down.latency = quantity(node, "down-latency", kLatencyForm, line.down.latency);
  if (node.has("up-latency") && node.has("down-latency")) {
    node.refuse("latency", "cannot be combined with 'up-latency' and 'down-latency'", "remove it");
  }
  const bool up_lacks = line.up.latency < 0 && !node.has("up-latency");
  const bool down_lacks = line.down.latency < 0 && !node.has("down-latency");
  if ((up_lacks || down_lacks) && !node.has("latency")) {
    node.fail(fmt::format("<{}> lacks '{}'", node.element().name,
                          up_lacks && down_lacks ? "latency"
                          : up_lacks             ? "up-latency"
                                                 : "down-latency"),
              "seconds one way with their unit, e.g. 5ms; only links of the catalogue have a default");
  }

  const bool any_tcp = std::ranges::any_of(both, [](const auto* l) { return l->transport == spec::Transport::tcp; });
  if (const std::optional<double> bytes = read_queue(node, any_tcp, line.up.transport)) {
    for (spec::LinkSpec* link : both) {
      if (link->transport == spec::Transport::tcp) link->queue_bytes = *bytes;
    }
  }
  const MeasuredRow measured = read_measured(node, any_tcp, false, line.up.transport);
  if (measured.is_goodput) {
    for (spec::LinkSpec* link : both) {
      if (link->transport == spec::Transport::tcp) take_as_measured(*link, measured.per_connection);
    }
  }
  return line;
}

spec::LinkSpec read_host_link(const Node& node, const ReadContext& context) {
  spec::LinkSpec link = own_link("host", 0, 0, spec::Transport::tcp);
  if (node.has("host")) {
    node.refuse("host-bandwidth", "cannot be combined with 'host'", "remove one of them");
    link = read_catalog_link(node, "host", context);
    link.latency = quantity(node, "host-latency", kLatencyForm, link.latency);
  } else if (node.has("host-bandwidth")) {
    link.bandwidth = quantity(node, "host-bandwidth", kBandwidthForm, 0);
    link.latency = required_quantity(node, "host-latency", kLatencyForm).value_or(0);
  } else {
    node.fail(
        fmt::format("<{}> lacks 'host'", node.element().name),
        "add a link of the catalogue, e.g. host=\"ethernet-10g\", or host-bandwidth=\"…\" and host-latency=\"…\"");
  }
  const bool tcp = link.transport == spec::Transport::tcp || !(link.bandwidth > 0);
  link.queue_bytes = read_queue(node, tcp, link.transport).value_or(link.queue_bytes);
  const bool usual = is_own_link(link) && !node.has("queue") && !node.has("congestion");
  if (read_measured(node, tcp, usual, link.transport).is_goodput) take_as_measured(link, 0);
  return link;
}

}  // namespace dadsim::scenario
