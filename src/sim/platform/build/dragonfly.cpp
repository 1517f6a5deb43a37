#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "sim/platform/build/fabric.hpp"

namespace dadsim::sim {
namespace {

/// Groups of routers (J. Kim, W. J. Dally, S. Scott, D. Abts, Technology-Driven, Highly-Scalable Dragonfly Topology,
/// 2008). Every two routers of a group share a line, and every two groups share `dragonfly_lines`. Routes are minimal:
/// to the router with the line to the other group, over the line, then to the router of the node. If two groups have
/// several lines, the destination's adapter selects one, as in the fat tree. Routes to other clusters lead through
/// router 0 of group 0.
class Dragonfly : public Fabric {
 public:
  Dragonfly(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) : node_of_(spec) {
    const std::vector<std::int64_t>& sizes = spec.fabric.dimensions;
    if (sizes.size() != 3 || std::ranges::any_of(sizes, [](std::int64_t size) { return size < 1; })) {
      throw std::runtime_error("a dragonfly needs groups, routers per group and nodes per router, each at least 1");
    }
    groups_ = sizes[0];
    routers_ = sizes[1];
    nodes_ = sizes[2];
    if (groups_ * routers_ * nodes_ != all_nodes(spec)) {
      throw std::runtime_error(fmt::format("a dragonfly of {} groups x {} routers x {} nodes has {} nodes, not {}",
                                           groups_, routers_, nodes_, groups_ * routers_ * nodes_, all_nodes(spec)));
    }
    parallel_ = dragonfly_lines(spec.fabric);
    local_.resize(static_cast<std::size_t>(groups_ * routers_ * routers_));
    for (std::int64_t group = 0; group < groups_; ++group) {
      for (std::int64_t a = 0; a < routers_; ++a) {
        for (std::int64_t b = a + 1; b < routers_; ++b) {
          local_[local_index(group, a, b)] = make_duplex_link(
              zone, name_in(spec.name, fmt::format("group-{} router-{} to router-{}", group, a, b)), spec.fabric.link);
        }
      }
    }
    global_.resize(static_cast<std::size_t>(groups_ * groups_ * parallel_));
    for (std::int64_t a = 0; a < groups_; ++a) {
      for (std::int64_t b = a + 1; b < groups_; ++b) {
        for (std::int64_t line = 0; line < parallel_; ++line) {
          global_[global_index(a, b, line)] = make_duplex_link(
              zone, name_in(spec.name, fmt::format("group-{} to group-{} line-{}", a, b, line)), spec.fabric.link);
        }
      }
    }
  }

  void route(std::int64_t from, std::int64_t to, Links& links) const override {
    walk(router_of(from), router_of(to), to, links);
  }
  void leave(std::int64_t from, Links& links) const override { walk(router_of(from), {0, 0}, from, links); }
  void enter(std::int64_t to, Links& links) const override { walk({0, 0}, router_of(to), to, links); }

 private:
  struct Router {
    std::int64_t group = 0;
    std::int64_t index = 0;  ///< index of the router in its group
  };

  std::size_t local_index(std::int64_t group, std::int64_t a, std::int64_t b) const {
    return static_cast<std::size_t>((group * routers_ + a) * routers_ + b);
  }
  std::size_t global_index(std::int64_t a, std::int64_t b, std::int64_t line) const {
    return static_cast<std::size_t>((a * groups_ + b) * parallel_ + line);
  }
  Router router_of(std::int64_t adapter) const {
    const std::int64_t router = node_of_(adapter) / nodes_;
    return {router / routers_, router % routers_};
  }
  /// Returns the router of `group` with the line to the group `other`; lines are assigned to the routers in turn.
  std::int64_t gateway(std::int64_t group, std::int64_t other, std::int64_t line) const {
    const std::int64_t offset = (other - group - 1 + groups_) % groups_;  // index of the other group, from 0 to groups
                                                                          // − 2
    return (offset * parallel_ + line) % routers_;
  }

  void within(std::int64_t group, std::int64_t from, std::int64_t to, Links& links) const {
    if (from == to) return;
    const DuplexLink& line = local_[local_index(group, std::min(from, to), std::max(from, to))];
    links.push_back(from < to ? line.up : line.down);
  }
  void walk(Router from, Router to, std::int64_t adapter, Links& links) const {
    if (from.group != to.group) {
      const std::int64_t parallel = adapter % parallel_;
      within(from.group, from.index, gateway(from.group, to.group, parallel), links);
      const DuplexLink& line =
          global_[global_index(std::min(from.group, to.group), std::max(from.group, to.group), parallel)];
      links.push_back(from.group < to.group ? line.up : line.down);
      from = {to.group, gateway(to.group, from.group, parallel)};
    }
    within(to.group, from.index, to.index, links);
  }

  NodeOfAdapter node_of_;
  std::int64_t groups_ = 1, routers_ = 1, nodes_ = 1;  ///< number of groups, of routers per group, and of nodes per
                                                       ///< router
  std::int64_t parallel_ = 1;                          ///< number of lines between two groups
  std::vector<DuplexLink> local_;                      ///< lines inside groups, [group][a][b], a < b
  std::vector<DuplexLink> global_;                     ///< lines between groups, [a][b][line], a < b
};

}  // namespace

std::int64_t dragonfly_lines(const spec::FabricSpec& fabric) {
  const std::int64_t groups = fabric.dimensions.at(0);
  const std::int64_t routers = fabric.dimensions.at(1);
  const std::int64_t nodes = fabric.dimensions.at(2);
  // Gives each router as many lines to other groups as it has nodes, as in a balanced dragonfly (Kim et al., section
  // 3.1). They are divided evenly among the other groups, at least one each.
  return groups > 1 ? std::max<std::int64_t>(1, routers * nodes / (groups - 1)) : 1;
}

std::unique_ptr<Fabric> make_dragonfly(sg4::NetZone* zone, const spec::GpuClusterSpec& spec) {
  return std::make_unique<Dragonfly>(zone, spec);
}

}  // namespace dadsim::sim
