#include "sim/platform/build/cluster_network.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "sim/platform/build/host_zone.hpp"

namespace dadsim::sim {
namespace {

constexpr double kMostQueue = 1e15;  // largest queue that is stored, bytes

void describe(sg4::NetZone& zone, sg4::Link* link, const spec::LinkSpec& spec) {
  if (spec.queue_bytes > 0 && spec.queue_bytes <= kMostQueue) {
    LinkProperties properties;
    properties.transport = spec.transport;
    properties.efficiency = spec.efficiency;
    properties.queue_bytes = spec.queue_bytes;
    properties.link_class = spec.name;
    properties.costs = spec.costs;
    properties.is_goodput = spec.is_goodput;
    properties.per_connection = spec.per_connection;
    properties.in_cluster = spec.in_cluster;
    note_properties(zone, link, properties);
  }
  link->set_property("transport", to_string(spec.transport));
  link->set_property("efficiency", fmt::format("{}", spec.efficiency));
  link->set_property("queue", fmt::format("{}", spec.queue_bytes));
  link->set_property("class", spec.name);
  if (spec.in_cluster) link->set_property("in-cluster", "true");
  if (spec.is_goodput) link->set_property("measured", "goodput");
  if (spec.per_connection > 0) link->set_property("per-connection", fmt::format("{}", spec.per_connection));
}

void check(const std::string& name, const spec::LinkSpec& spec) {
  if (!(spec.bandwidth > 0) || !std::isfinite(spec.bandwidth)) {
    throw std::runtime_error(
        fmt::format("link '{}' has a bandwidth of {} byte/s; use a bandwidth above 0", name, spec.bandwidth));
  }
  if (!(spec.latency >= 0) || !std::isfinite(spec.latency)) {
    throw std::runtime_error(
        fmt::format("link '{}' has a latency of {} s; use a latency of at least 0", name, spec.latency));
  }
  if (!(spec.efficiency > 0 && spec.efficiency <= 1)) {
    throw std::runtime_error(
        fmt::format("link '{}' has an efficiency of {}; use an efficiency above 0, at most 1", name, spec.efficiency));
  }
}

}  // namespace

DuplexLink make_duplex_link(sg4::NetZone* zone, const std::string& name, const spec::LinkSpec& spec) {
  check(name, spec);
  if (zone == nullptr) return {};
  // Keeps the first pointer, because set_latency returns a plain Link in SimGrid 3.32.
  const sg4::SplitDuplexLink* both = zone->create_split_duplex_link(name, spec.bandwidth);
  const DuplexLink line{both->get_link_up(), both->get_link_down()};
  for (sg4::Link* link : {line.up, line.down}) {
    link->set_latency(spec.latency);
    describe(*zone, link, spec);
  }
  return line;
}

sg4::Link* make_link(sg4::NetZone* zone, const std::string& name, const spec::LinkSpec& spec) {
  check(name, spec);
  if (zone == nullptr) return nullptr;
  sg4::Link* link = zone->create_link(name, spec.bandwidth)->set_latency(spec.latency);
  describe(*zone, link, spec);
  return link;
}

sg4::Link* make_link(sg4::NetZone* zone, const std::string& name, const spec::WanSpec::Pair& pair) {
  spec::LinkSpec spec;
  spec.name = "wan";
  spec.bandwidth = pair.bandwidth;
  spec.latency = pair.round_trip / 2;
  spec.transport = pair.transport;
  spec.queue_bytes = pair.queue_bytes;
  spec.is_goodput = pair.is_goodput;
  spec.per_connection = pair.per_connection;
  spec.efficiency = pair.transport == spec::Transport::tcp && !pair.is_goodput ? kTcpEfficiency : 1;
  return make_link(zone, name, spec);
}

void mark(sg4::NetZone* zone, sg4::Link* link, bool adds_up, bool rccl) {
  if (zone == nullptr) return;
  if (adds_up) link->set_property("adds-up", "true");
  if (rccl) link->set_property("library", "rccl");
  if (const LinkProperties* noted = noted_properties(link); noted != nullptr && (adds_up || rccl)) {
    LinkProperties properties = *noted;
    properties.adds_up = adds_up;
    properties.rccl = rccl;
    note_properties(*zone, link, properties);
  }
}

void make_host(sg4::NetZone* zone, const std::string& name, const std::string& node) {
  constexpr double kNominalSpeed = 1e9;  // nominal speed of every host, flop/s
  if (zone == nullptr) return;
  zone->create_host(name, kNominalSpeed)->set_property("node", node);
}

std::string name_in(const std::string& cluster, const std::string& name) {
  return cluster.empty() ? name : fmt::format("{}.{}", cluster, name);
}

}  // namespace dadsim::sim
