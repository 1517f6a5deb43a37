#include "scenario/print_platform.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <utility>

#include "scenario/read_link.hpp"

namespace dadsim::scenario {
namespace {

using Open = XmlWriter::Open;

void set_name(Open& element, const std::string& name) {
  if (!name.empty()) element.set("name", name);
}

/// A link is named, or given by its bandwidth.
void set_link(Open& element, const char* name, const spec::LinkSpec& link) {
  if (is_own_link(link)) {
    element.set_bandwidth(name, link.bandwidth);
  } else {
    element.set(name, link.name);
  }
}

void set_cluster_link(Open& element, const char* name, const spec::LinkSpec& link) {
  set_link(element, name, link);
  element.set_seconds(fmt::format("{}-latency", name).c_str(), link.latency);
}

void write_fabric(XmlWriter& xml, const spec::FabricSpec& fabric) {
  constexpr std::array kNames = {"one-switch", "fat-tree", "dragonfly", "torus"};
  Open element(xml, kNames.at(static_cast<std::size_t>(fabric.kind)));
  if (fabric.adds_up) element.set("sharp", true);
  if (fabric.kind == spec::FabricSpec::Kind::one_switch) return;
  set_cluster_link(element, "link", fabric.link);
  switch (fabric.kind) {
    case spec::FabricSpec::Kind::one_switch:
      return;
    case spec::FabricSpec::Kind::fat_tree:
      element.set("nodes-per-switch", fabric.nodes_per_switch).set("oversubscription", fabric.oversubscription);
      return;
    case spec::FabricSpec::Kind::dragonfly:
      element.set("groups", fabric.dimensions.at(0))
          .set("routers", fabric.dimensions.at(1))
          .set("nodes", fabric.dimensions.at(2));
      return;
    case spec::FabricSpec::Kind::torus:
      element.set("dimensions", fmt::format("{}", fmt::join(fabric.dimensions, "x")));
      return;
  }
}

void write_cluster(XmlWriter& xml, const spec::GpuClusterSpec& cluster) {
  Open element(xml, "gpu-cluster");
  set_name(element, cluster.name);
  element.set("nodes", cluster.nodes).set("gpus", cluster.gpus);
  if (!cluster.port.name.empty()) set_cluster_link(element, "inside", cluster.port);
  if (!cluster.port.name.empty() && is_own_link(cluster.port)) {
    element.set("inside-transport", to_string(cluster.port.transport));
  }
  if (cluster.library_is_given) element.set("library", to_string(cluster.port.library));
  if (cluster.inside == spec::InsideNode::mesh) element.set("mesh", true);
  if (cluster.inside == spec::InsideNode::shared) set_cluster_link(element, "bridge", cluster.bridge);
  element.set("rails", cluster.rails);
  set_cluster_link(element, "nic", cluster.nic);
  for (const spec::LinkSpec* link : {&cluster.nic, &cluster.fabric.link}) {
    if (!is_own_link(*link)) continue;
    element.set("transport", to_string(link->transport));
    break;
  }
  write_fabric(xml, cluster.fabric);
}

/// What both directions share is written once. What differs is what each brings by itself: an attribute would have made
/// it equal.
void set_line(Open& element, const spec::LinkSpec& up, const spec::LinkSpec& down) {
  set_link(element, "up", up);
  set_link(element, "down", down);
  element.set_seconds("up-latency", up.latency).set_seconds("down-latency", down.latency);
  if (up.transport == down.transport) element.set("transport", to_string(up.transport));
  if (up.efficiency == down.efficiency) element.set("efficiency", up.efficiency);
  const bool up_queues = up.transport == spec::Transport::tcp;
  const bool down_queues = down.transport == spec::Transport::tcp;
  const double queue = up_queues ? up.queue_bytes : down.queue_bytes;
  const bool one_queue = up_queues != down_queues || (up_queues && up.queue_bytes == down.queue_bytes);
  if (one_queue) element.set_bytes("queue", queue);
}

void write_cluster(XmlWriter& xml, const spec::FederationSpec& federation) {
  Open element(xml, "federation");
  set_name(element, federation.name);
  for (const spec::FederationSpec::Sites& sites : federation.sites) {
    Open line(xml, "sites");
    line.set("name", sites.name);
    if (sites.numbered) line.set("count", sites.count);
    set_line(line, sites.up, sites.down);
    if (sites.bandwidth_spread > 0) line.set("bandwidth-spread", sites.bandwidth_spread);
    if (sites.latency_spread > 0) line.set("latency-spread", sites.latency_spread);
  }
  if (federation.hub_up.bandwidth > 0) {
    Open hub(xml, "hub");
    set_line(hub, federation.hub_up, federation.hub_down);
  }
}

void write_pair(XmlWriter& xml, const spec::WanSpec::Pair& pair, bool one_way) {
  Open element(xml, "pair");
  element.set("from", pair.from)
      .set("to", pair.to)
      .set_bandwidth("bandwidth", pair.bandwidth)
      .set_seconds("round-trip", pair.round_trip)
      .set("one-way", one_way)
      .set("transport", to_string(pair.transport));
  if (pair.transport == spec::Transport::tcp) element.set_bytes("queue", pair.queue_bytes);
}

/// Two directions with the same numbers are written as one.
void write_pairs(XmlWriter& xml, const std::vector<spec::WanSpec::Pair>& pairs) {
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (std::size_t i = 0; i < pairs.size(); ++i) index.emplace(std::pair(pairs[i].from, pairs[i].to), i);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const spec::WanSpec::Pair& pair = pairs[i];
    const auto back = index.find(std::pair(pair.to, pair.from));
    const bool symmetrical = back != index.end() && pairs[back->second].bandwidth == pair.bandwidth &&
                             pairs[back->second].round_trip == pair.round_trip &&
                             pairs[back->second].transport == pair.transport &&
                             pairs[back->second].queue_bytes == pair.queue_bytes;
    if (!symmetrical || back->second > i) write_pair(xml, pair, !symmetrical);
  }
}

void write_wan(XmlWriter& xml, const spec::WanSpec& wan) {
  Open element(xml, "wan");
  set_name(element, wan.name);
  set_link(element, is_own_link(wan.host) ? "host-bandwidth" : "host", wan.host);
  element.set_seconds("host-latency", wan.host.latency);
  if (wan.host.transport == spec::Transport::tcp) element.set_bytes("queue", wan.host.queue_bytes);
  for (const spec::WanSpec::Region& region : wan.regions)
    Open(xml, "region").set("name", region.name).set("hosts", region.hosts);
  write_pairs(xml, wan.pairs);
}

void write_variation(XmlWriter& xml, const spec::PlatformSpec& platform) {
  for (const spec::LinkChange& change : platform.changes) {
    Open(xml, "change")
        .set("link", change.link)
        .set("bandwidth-factor", change.bandwidth_factor)
        .set("latency-factor", change.latency_factor);
  }
  for (const spec::PlatformSpec::Profile& profile : platform.profiles) {
    Open element(xml, "profile");
    std::string times;
    for (const double time : profile.times) times += fmt::format("{}{}s", times.empty() ? "" : " ", time);
    element.set("link", profile.link)
        .set("of", profile.of == spec::PlatformSpec::Profile::Of::latency ? "latency" : "bandwidth")
        .set("times", times)
        .set("factors", fmt::format("{}", fmt::join(profile.factors, " ")));
    if (profile.period > 0) element.set_seconds("period", profile.period);
  }
  for (const spec::PlatformSpec::Background& background : platform.background) {
    Open element(xml, "background");
    element.set("from", background.from).set("to", background.to).set_bytes("bytes", background.bytes);
    if (background.every > 0) element.set_seconds("every", background.every);
  }
}

}  // namespace

void write_platform(XmlWriter& xml, const spec::PlatformSpec& platform,
                    const std::function<std::string(const std::string&)>& file) {
  Open element(xml, "platform");
  if (!platform.description.empty()) element.set("description", platform.description);
  if (const auto* given = std::get_if<spec::PlatformFileSpec>(&platform.what)) {
    element.set("file", file(given->path)).set("transport", to_string(given->transport));
  } else if (const auto* cluster = std::get_if<spec::GpuClusterSpec>(&platform.what)) {
    write_cluster(xml, *cluster);
  } else if (const auto* federation = std::get_if<spec::FederationSpec>(&platform.what)) {
    write_cluster(xml, *federation);
  } else if (const auto* wan = std::get_if<spec::WanSpec>(&platform.what)) {
    write_wan(xml, *wan);
  } else {
    const auto& composition = std::get<spec::CompositionSpec>(platform.what);
    for (const auto& part : composition.clusters) {
      std::visit([&](const auto& one) { write_cluster(xml, one); }, part);
    }
    write_pairs(xml, composition.pairs);
  }
  write_variation(xml, platform);
}

}  // namespace dadsim::scenario
