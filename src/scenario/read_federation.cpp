#include <fmt/format.h>

#include "scenario/read_link.hpp"
#include "scenario/read_platform.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxClasses = 1000;

}  // namespace

spec::FederationSpec read_federation(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::FederationSpec federation;
  federation.name = read_cluster_name(node);
  const std::vector<const Element*> classes = node.children("sites");
  if (classes.empty()) {
    node.fail(
        "<federation> lacks <sites>",
        "at least one, e.g. <sites name=\"hospital\" count=\"5\" up=\"10Mbps\" down=\"50Mbps\" latency=\"8ms\"/>");
  }
  if (classes.size() > kMaxClasses) {
    node.fail(fmt::format("{} <sites>", classes.size()), fmt::format("at most {}", kMaxClasses));
  }
  for (const Element* one : classes) {
    const Node sites(*one, context.findings);
    spec::FederationSpec::Sites spec;
    spec.name = read_host_prefix(sites, "name", "what the hosts are called");
    spec.numbered = sites.has("count");
    spec.count = sites.integer("count", 1, kMaxHosts, 1);
    const AccessLine line = read_access_line(sites, spec.name, context);
    spec.up = line.up;
    spec.down = line.down;
    spec.bandwidth_spread = sites.real("bandwidth-spread", kDeviation, 0);
    spec.latency_spread = sites.real("latency-spread", kDeviation, 0);
    federation.sites.push_back(std::move(spec));
  }
  if (const Element* hub = node.child("hub")) {
    const AccessLine line = read_access_line(Node(*hub, context.findings), "hub", context);
    federation.hub_up = line.up;
    federation.hub_down = line.down;
  }
  return federation;
}

}  // namespace dadsim::scenario
