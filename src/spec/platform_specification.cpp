#include "spec/platform_specification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace dadsim::spec {
namespace {

std::string with_prefix(const std::string& cluster, const std::string& host) {
  return cluster.empty() ? host : fmt::format("{}.{}", cluster, host);
}

void add_hosts(const GpuClusterSpec& cluster, std::vector<std::string>& names) {
  for (std::int64_t i = 0; i < all_gpus(cluster); ++i) {
    names.push_back(with_prefix(cluster.name, fmt::format("gpu-{}", i)));
  }
}

void add_hosts(const FederationSpec& federation, std::vector<std::string>& names) {
  for (const FederationSpec::Sites& sites : federation.sites) {
    for (std::int64_t i = 1; i <= sites.count; ++i) {
      names.push_back(with_prefix(federation.name, sites.numbered ? fmt::format("{}-{}", sites.name, i) : sites.name));
    }
  }
  names.push_back(with_prefix(federation.name, "hub"));
}

void add_hosts(const WanSpec& wan, std::vector<std::string>& names) {
  for (const WanSpec::Region& region : wan.regions) {
    for (std::int64_t i = 1; i <= region.hosts; ++i) {
      names.push_back(with_prefix(wan.name, fmt::format("{}-{}", region.name, i)));
    }
  }
}

void add_hosts(const CompositionSpec& composition, std::vector<std::string>& names) {
  for (const auto& cluster : composition.clusters) {
    std::visit([&](const auto& one) { add_hosts(one, names); }, cluster);
  }
}

void add_hosts(const PlatformFileSpec& /*file*/, std::vector<std::string>& /*names*/) {}

void add_nodes(const GpuClusterSpec& cluster, std::vector<std::string>& names) {
  std::int64_t node = 0;
  for (const NodeGroup& group : node_groups(cluster)) {
    for (const std::int64_t behind = node + group.nodes; node < behind; ++node) {
      names.insert(names.end(), static_cast<std::size_t>(group.gpus),
                   with_prefix(cluster.name, fmt::format("node-{}", node)));
    }
  }
}

template <class Other>
void add_nodes(const Other& other, std::vector<std::string>& names) {
  add_hosts(other, names);
}

void add_nodes(const CompositionSpec& composition, std::vector<std::string>& names) {
  for (const auto& cluster : composition.clusters) {
    std::visit([&](const auto& one) { add_nodes(one, names); }, cluster);
  }
}

}  // namespace

std::vector<NodeGroup> node_groups(const GpuClusterSpec& cluster) {
  std::vector<NodeGroup> groups{{cluster.nodes, cluster.gpus, cluster.port, cluster.rails, cluster.nic, cluster.inside,
                                 cluster.bridge, cluster.slot, cluster.slot_gpus}};
  for (NodeGroup group : cluster.more) {
    if (!group.inside) {
      group.inside = cluster.inside;
      group.bridge = cluster.bridge;
    }
    if (!group.slot) group.slot = cluster.slot;
    if (!group.slot_gpus) group.slot_gpus = cluster.slot_gpus;
    groups.push_back(std::move(group));
  }
  return groups;
}

std::int64_t all_nodes(const GpuClusterSpec& cluster) {
  std::int64_t nodes = cluster.nodes;
  for (const NodeGroup& group : cluster.more) nodes += group.nodes;
  return nodes;
}

std::vector<std::int64_t> torus_of_chips(const GpuClusterSpec& cluster) {
  const bool of_chips =
      std::ranges::all_of(node_groups(cluster), [](const NodeGroup& group) { return group.gpus == 1; });
  return of_chips && cluster.fabric.kind == FabricSpec::Kind::torus ? cluster.fabric.dimensions
                                                                    : std::vector<std::int64_t>{};
}

std::int64_t all_gpus(const GpuClusterSpec& cluster) {
  std::int64_t gpus = cluster.nodes * cluster.gpus;
  for (const NodeGroup& group : cluster.more) gpus += group.nodes * group.gpus;
  return gpus;
}

std::vector<std::string> host_names(const PlatformSpec& platform) {
  std::vector<std::string> names;
  std::visit([&](const auto& what) { add_hosts(what, names); }, platform.what);
  return names;
}

std::vector<std::string> nodes_of_hosts(const PlatformSpec& platform) {
  std::vector<std::string> names;
  std::visit([&](const auto& what) { add_nodes(what, names); }, platform.what);
  return names;
}

namespace {

bool is_goodput(const FederationSpec& federation) {
  const auto has = [](const LinkSpec& link) { return link.is_goodput; };
  return has(federation.hub_up) || has(federation.hub_down) ||
         std::ranges::any_of(federation.sites, [&](const auto& sites) { return has(sites.up) || has(sites.down); });
}
bool is_goodput(const GpuClusterSpec& /*cluster*/) { return false; }
bool is_goodput(const PlatformFileSpec& /*file*/) { return false; }
bool is_goodput(const WanSpec& wan) {
  return wan.host.is_goodput || std::ranges::any_of(wan.pairs, &WanSpec::Pair::is_goodput);
}
bool is_goodput(const CompositionSpec& composition) {
  return std::ranges::any_of(composition.pairs, &WanSpec::Pair::is_goodput) ||
         std::ranges::any_of(composition.clusters, [](const auto& cluster) {
           return std::visit([](const auto& one) { return is_goodput(one); }, cluster);
         });
}

}  // namespace

bool has_goodput_lines(const PlatformSpec& platform) {
  return std::visit([](const auto& what) { return is_goodput(what); }, platform.what);
}

void draw_populations_from(std::uint64_t seed, PlatformSpec& platform) {
  if (auto* federation = std::get_if<FederationSpec>(&platform.what)) federation->seed = seed;
  if (auto* composition = std::get_if<CompositionSpec>(&platform.what)) {
    for (auto& cluster : composition->clusters) {
      // Each federation gets its own seed, so that equal federations differ.
      if (auto* one = std::get_if<FederationSpec>(&cluster)) one->seed = seed++;
    }
  }
}

}  // namespace dadsim::spec
