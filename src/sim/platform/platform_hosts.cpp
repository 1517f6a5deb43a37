#include <algorithm>
#include <map>
#include <string_view>
#include <variant>

#include "sim/platform.hpp"
#include "sim/platform/by_number.hpp"
#include "sim/platform/link_changes.hpp"
#include "sim/platform/platform_child.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {
namespace {

using Names = std::vector<std::string>;

/// Assigns hosts to nodes in the same way as the builders. `number`: number of the next node. `names`: names of the
/// whole platform's hosts.
void put_on_nodes(const spec::GpuClusterSpec& cluster, const Names& names, std::int32_t& number,
                  std::vector<PlatformHost>& hosts) {
  for (const spec::NodeGroup& group : node_groups(cluster)) {
    for (std::int64_t node = 0; node < group.nodes; ++node, ++number) {
      for (std::int64_t gpu = 0; gpu < group.gpus; ++gpu) hosts.push_back({names[hosts.size()], number});
    }
  }
}

void put_apart(std::int64_t count, const Names& names, std::int32_t& number, std::vector<PlatformHost>& hosts) {
  for (std::int64_t i = 0; i < count; ++i) hosts.push_back({names[hosts.size()], number++});
}

void put_on_nodes(const spec::FederationSpec& federation, const Names& names, std::int32_t& number,
                  std::vector<PlatformHost>& hosts) {
  for (const spec::FederationSpec::Sites& sites : federation.sites) put_apart(sites.count, names, number, hosts);
  put_apart(1, names, number, hosts);  // the hub is a separate node
}

void put_on_nodes(const spec::WanSpec& wan, const Names& names, std::int32_t& number,
                  std::vector<PlatformHost>& hosts) {
  for (const spec::WanSpec::Region& region : wan.regions) put_apart(region.hosts, names, number, hosts);
}

void put_on_nodes(const spec::CompositionSpec& composition, const Names& names, std::int32_t& number,
                  std::vector<PlatformHost>& hosts) {
  for (const auto& cluster : composition.clusters) {
    std::visit([&](const auto& one) { put_on_nodes(one, names, number, hosts); }, cluster);
  }
}

void put_on_nodes(const spec::PlatformFileSpec&, const Names&, std::int32_t&, std::vector<PlatformHost>&) {}

}  // namespace

std::vector<PlatformHost> platform_hosts(const spec::PlatformSpec& platform) {
  std::vector<PlatformHost> hosts;
  if (const std::vector<std::string> declared = host_names(platform); !declared.empty()) {
    std::int32_t number = 0;
    std::visit([&](const auto& what) { put_on_nodes(what, declared, number, hosts); }, platform.what);
    return hosts;
  }
  const auto look = [&](const MessageSink& sink) {
    const sg4::Engine& engine = load_to_look(platform);
    std::vector<std::string> names;
    for (const sg4::Host* host : engine.get_all_hosts()) names.push_back(host->get_name());
    std::ranges::sort(names, before_by_number);
    for (const std::string& name : names) {
      const char* node = engine.host_by_name(name)->get_property("node");
      WireWriter message;
      message << std::string_view(name)
              << std::string_view(node == nullptr ? "host " + name : std::string("node ") + node);
      sink.send(message.bytes());
    }
  };
  std::map<std::string, std::int32_t> number_of;
  const auto listen = [&](std::string_view bytes) {
    WireReader message(bytes);
    PlatformHost& host = hosts.emplace_back();
    std::string node;
    message >> host.name >> node;
    host.node = number_of.try_emplace(node, static_cast<std::int32_t>(number_of.size())).first->second;
  };
  look_in_child(look, listen);
  return hosts;
}

std::vector<PlatformLink> platform_links(const spec::PlatformSpec& platform) {
  const auto look = [&](const MessageSink& sink) {
    const simgrid::s4u::Engine& engine = load_to_look(platform);
    for (const simgrid::s4u::Link* link : engine.get_all_links()) {
      const char* found = property_of(link, "class");
      const std::string_view link_class = found == nullptr ? "" : found;
      // Skips a host's loopback, which is not a link of the platform.
      if (link->get_name() == "__loopback__" || link_class == "loopback") continue;
      WireWriter message;
      const char* measured = property_of(link, "measured");
      const bool is_goodput = measured != nullptr && std::string_view(measured) == "goodput";
      message << std::string_view(link->get_name()) << link_class << link->get_bandwidth() << is_goodput;
      sink.send(message.bytes());
    }
  };
  std::vector<PlatformLink> links;
  look_in_child(look, [&](std::string_view bytes) {
    WireReader message(bytes);
    PlatformLink& link = links.emplace_back();
    message >> link.name >> link.link_class >> link.bandwidth >> link.is_goodput;
  });
  std::ranges::sort(links, before_by_number, &PlatformLink::name);
  return links;
}

}  // namespace dadsim::sim
