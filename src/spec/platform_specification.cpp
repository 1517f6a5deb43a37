#include "spec/platform_specification.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <variant>

namespace dadsim::spec {
namespace {

std::string with_prefix(const std::string& cluster, const std::string& host) {
  return cluster.empty() ? host : fmt::format("{}.{}", cluster, host);
}

void add_hosts(const GpuClusterSpec& cluster, std::vector<std::string>& names) {
  for (std::int64_t i = 0; i < cluster.nodes * cluster.gpus; ++i) {
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

}  // namespace

std::vector<std::string> host_names(const PlatformSpec& platform) {
  std::vector<std::string> names;
  std::visit([&](const auto& what) { add_hosts(what, names); }, platform.what);
  return names;
}

void draw_populations_from(std::uint64_t seed, PlatformSpec& platform) {
  if (auto* federation = std::get_if<FederationSpec>(&platform.what)) federation->seed = seed;
  if (auto* composition = std::get_if<CompositionSpec>(&platform.what)) {
    for (auto& cluster : composition->clusters) {
      // Federations of the same form differ.
      if (auto* one = std::get_if<FederationSpec>(&cluster)) one->seed = seed++;
    }
  }
}

}  // namespace dadsim::spec
