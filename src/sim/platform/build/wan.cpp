#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "sim/platform/build/cluster_network.hpp"
#include "sim/platform/build/pair_links.hpp"

namespace dadsim::sim {
namespace {

std::vector<std::string> names(const spec::WanSpec& spec) {
  std::vector<std::string> regions;
  for (const spec::WanSpec::Region& region : spec.regions) regions.push_back(region.name);
  return regions;
}

/// Regions joined by a WAN. Every host has a line to the switch of its region, and every two switches have a line.
class Wan : public ClusterNetwork {
 public:
  Wan(sg4::NetZone* zone, const spec::WanSpec& spec) : pairs_(zone, spec.name, names(spec), spec.pairs) {
    for (std::size_t region = 0; region < spec.regions.size(); ++region) {
      const auto& [name, hosts] = spec.regions[region];
      if (hosts < 1) throw std::runtime_error(fmt::format("region '{}' has {} hosts; use at least 1", name, hosts));
      for (std::int64_t i = 1; i <= hosts; ++i) {
        const std::string host = name_in(spec.name, fmt::format("{}-{}", name, i));
        make_host(zone, host, host);
        lines_.push_back(make_duplex_link(zone, host + " line", spec.host));
        region_.push_back(region);
      }
    }
  }

  std::int64_t hosts() const override { return static_cast<std::int64_t>(lines_.size()); }
  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    const std::size_t here = region_[static_cast<std::size_t>(from)];
    const std::size_t there = region_[static_cast<std::size_t>(to)];
    leave(from, links);
    if (here != there) links.push_back(pairs_(here, there));
    enter(to, links);
  }
  void leave(std::int64_t from, Links& links) const override {
    links.push_back(lines_[static_cast<std::size_t>(from)].up);
  }
  void enter(std::int64_t to, Links& links) const override {
    links.push_back(lines_[static_cast<std::size_t>(to)].down);
  }

 private:
  PairLinks pairs_;
  std::vector<DuplexLink> lines_;    ///< line of each host
  std::vector<std::size_t> region_;  ///< region of each host
};

}  // namespace

std::unique_ptr<ClusterNetwork> make_network(sg4::NetZone* zone, const spec::WanSpec& spec) {
  return std::make_unique<Wan>(zone, spec);
}

}  // namespace dadsim::sim
