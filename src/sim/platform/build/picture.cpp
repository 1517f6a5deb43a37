#include "sim/platform/build/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/platform/build/fabric.hpp"
#include "sim/platform/build/gpu_adapters.hpp"
#include "support/human.hpp"

namespace dadsim::sim {
namespace {

const char* inside_in_words(spec::InsideNode inside) {
  using enum spec::InsideNode;
  return inside == switched ? "switch" : inside == shared ? "host bridge" : "mesh";
}

/// GPUs above which nodes are drawn instead; 64 GPUs are drawn as 8 nodes, which fit on a page.
constexpr std::int64_t kGpusOneByOne = 16;

bool few(std::int64_t count) { return count <= static_cast<std::int64_t>(kDrawnOneByOne); }

std::string in_words(const spec::LinkSpec& link) {
  return link.name.empty() ? rate_in_words(link.bandwidth)
                           : fmt::format("{} {}", link.name, rate_in_words(link.bandwidth));
}

std::string times(std::int64_t count, const std::string& what) {
  return count == 1 ? what : fmt::format("{} x {}", count, what);
}

std::string nodes_in_words(std::int64_t nodes, const std::string& each) {
  return nodes == 1 ? fmt::format("1 node of {}", each) : fmt::format("{} nodes of {}", nodes, each);
}

std::string nodes_in_words(std::int64_t nodes, std::int64_t gpus) {
  return nodes_in_words(nodes, gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", gpus));
}

/// Returns "8 GPUs" or "4 to 8 GPUs", per node, for all groups.
std::string gpus_in_words(const spec::GpuClusterSpec& spec) {
  const std::vector<spec::NodeGroup> groups = node_groups(spec);
  const auto [least, most] = std::ranges::minmax(groups, {}, &spec::NodeGroup::gpus);
  if (least.gpus < most.gpus) return fmt::format("{} to {} GPUs", least.gpus, most.gpus);
  return most.gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", most.gpus);
}

std::string pair_in_words(const spec::WanSpec::Pair& pair) {
  return fmt::format("{}, {}", rate_in_words(pair.bandwidth), seconds_in_words(pair.round_trip / 2));
}

/// Adds the names of both directions of a line (make_duplex_link in cluster_network.hpp).
void add_line(std::vector<std::string>& links, const std::string& name) {
  for (const char* direction : {"_UP", "_DOWN"}) links.push_back(name + direction);
}

/// Draws one cluster after the other; `draw` returns the box that is connected to other clusters.
class Pen {
 public:
  std::string draw(const spec::GpuClusterSpec& spec) {
    switch (spec.fabric.kind) {
      case spec::FabricSpec::Kind::one_switch: {
        std::string middle = add(spec.name, "switch", "switch", Picture::Kind::network);
        draw_nodes(spec, 0, all_nodes(spec), middle);
        return middle;
      }
      case spec::FabricSpec::Kind::fat_tree:
        return draw_fat_tree(spec);
      case spec::FabricSpec::Kind::dragonfly:
        return draw_dragonfly(spec);
      case spec::FabricSpec::Kind::torus:
        return draw_torus(spec);
    }
    return {};
  }

  std::string draw(const spec::FederationSpec& spec) {
    const bool limit = spec.hub_up.bandwidth > 0 || spec.hub_down.bandwidth > 0;
    std::string hub =
        add(spec.name, "hub", limit ? fmt::format("hub\n{}", both_ways(spec.hub_up, spec.hub_down)) : "hub",
            Picture::Kind::host);
    std::int64_t all = 0;
    for (const spec::FederationSpec::Sites& sites : spec.sites) all += sites.count;
    for (const spec::FederationSpec::Sites& sites : spec.sites) {
      const std::string line = both_ways(sites.up, sites.down);
      if (!few(all) && sites.count > 1) {
        join(add(spec.name, sites.name, fmt::format("{} x {}", sites.count, sites.name), Picture::Kind::host), hub,
             line, site_links(spec, sites, 1, sites.count));
        continue;
      }
      for (std::int64_t i = 1; i <= sites.count; ++i) {
        const std::string host = host_of(sites, i);
        join(add(spec.name, host, host, Picture::Kind::host), hub, line, site_links(spec, sites, i, i));
      }
    }
    return hub;
  }

  std::string draw(const spec::WanSpec& spec) {
    std::vector<std::string> names;
    for (const spec::WanSpec::Region& region : spec.regions) {
      names.push_back(region.name);
      add(spec.name, region.name,
          fmt::format("{}\n{}", region.name, times(region.hosts, "host at " + in_words(spec.host))),
          Picture::Kind::node);
    }
    draw_pairs(spec.name, spec.pairs);
    return {};
  }

  std::string draw(const spec::CompositionSpec& spec) {
    std::vector<std::pair<std::string, std::string>> borders;
    for (const auto& cluster : spec.clusters) {
      std::visit([&](const auto& one) { borders.emplace_back(one.name, draw(one)); }, cluster);
    }
    const auto border = [&](const std::string& name) {
      const auto found = std::ranges::find(borders, name, &std::pair<std::string, std::string>::first);
      return found == borders.end() ? name : found->second;
    };
    for (const spec::WanSpec::Pair& pair : spec.pairs)
      join_once(border(pair.from), border(pair.to), pair_in_words(pair), link_of("", pair));
    return {};
  }

  std::string draw(const spec::PlatformFileSpec& /*file*/) { return {}; }

  Picture picture() && { return std::move(picture_); }

 private:
  std::string add(const std::string& cluster, const std::string& name, const std::string& label, Picture::Kind kind,
                  const std::string& frame = "") {
    std::string id = name_in(cluster, name);
    picture_.boxes.push_back({id, label, kind, frame.empty() ? cluster : frame});
    return id;
  }
  void join(const std::string& from, const std::string& to, const std::string& label,
            std::vector<std::string> links = {}) {
    picture_.edges.push_back({from, to, label, std::move(links)});
  }
  /// Draws one edge for both directions.
  void join_once(const std::string& from, const std::string& to, const std::string& label, const std::string& link) {
    const auto there = std::ranges::find_if(picture_.edges, [&](const Picture::Edge& edge) {
      return edge.from == to && edge.to == from && edge.label == label;
    });
    if (there == picture_.edges.end()) {
      join(from, to, label, {link});
    } else {
      there->links.push_back(link);
    }
  }

  // ---- names of links, as the platforms of this folder give them ----

  static std::string host_of(const spec::FederationSpec::Sites& sites, std::int64_t i) {
    return sites.numbered ? fmt::format("{}-{}", sites.name, i) : sites.name;
  }
  static std::vector<std::string> site_links(const spec::FederationSpec& spec, const spec::FederationSpec::Sites& sites,
                                             std::int64_t first, std::int64_t last) {
    std::vector<std::string> links;
    for (std::int64_t i = first; i <= last; ++i) {
      const std::string host = name_in(spec.name, host_of(sites, i));
      links.push_back(host + " up");
      links.push_back(host + " down");
    }
    return links;
  }
  static std::string link_of(const std::string& cluster, const spec::WanSpec::Pair& pair) {
    return name_in(cluster, fmt::format("{} -> {}", pair.from, pair.to));
  }
  static std::vector<std::string> rail_links(const spec::GpuClusterSpec& spec, const spec::NodeGroup& group,
                                             std::int64_t first, std::int64_t last) {
    std::vector<std::string> links;
    for (std::int64_t node = first; node < last; ++node) {
      for (std::int64_t rail = 0; rail < std::min(group.rails, group.gpus); ++rail)
        add_line(links, fmt::format("{} rail-{}", name_in(spec.name, fmt::format("node-{}", node)), rail));
      for (std::int64_t slot = 0; shared_slot(group) && slot < group.gpus / *group.slot_gpus; ++slot)
        add_line(links, fmt::format("{} slot-{}", name_in(spec.name, fmt::format("node-{}", node)), slot));
    }
    return links;
  }
  static std::vector<std::string> spine_links(const spec::GpuClusterSpec& spec, std::int64_t spines, std::int64_t first,
                                              std::int64_t last) {
    std::vector<std::string> links;
    for (std::int64_t leaf = first; leaf < last; ++leaf) {
      for (std::int64_t spine = 0; spine < spines; ++spine)
        add_line(links, name_in(spec.name, fmt::format("leaf-{} spine-{}", leaf, spine)));
    }
    return links;
  }

  static std::string both_ways(const spec::LinkSpec& up, const spec::LinkSpec& down) {
    return fmt::format("up {}, down {}", up.bandwidth > 0 ? in_words(up) : "no limit",
                       down.bandwidth > 0 ? in_words(down) : "no limit");
  }

  void draw_pairs(const std::string& cluster, const std::vector<spec::WanSpec::Pair>& pairs) {
    for (const spec::WanSpec::Pair& pair : pairs) {
      join_once(name_in(cluster, pair.from), name_in(cluster, pair.to), pair_in_words(pair), link_of(cluster, pair));
    }
  }

  /// Draws nodes `first` … `last` − 1 below the switch `above`, group by group.
  void draw_nodes(const spec::GpuClusterSpec& spec, std::int64_t first, std::int64_t last, const std::string& above) {
    std::int64_t node = 0;
    std::int64_t gpu = 0;
    for (const spec::NodeGroup& group : node_groups(spec)) {
      const std::int64_t from = std::max(first, node);
      const std::int64_t to = std::min(last, node + group.nodes);
      if (from < to) draw_nodes(spec, group, from, to, gpu + (from - node) * group.gpus, above);
      node += group.nodes;
      gpu += group.nodes * group.gpus;
    }
  }

  /// Draws nodes of a group, whose first GPU is `gpu`. There is one box per GPU, per node, or for all, depending on the
  /// number of nodes and GPUs in the cluster.
  void draw_nodes(const spec::GpuClusterSpec& spec, const spec::NodeGroup& group, std::int64_t first, std::int64_t last,
                  std::int64_t gpu, const std::string& above) {
    const std::string rails = times(group.rails, in_words(group.nic));
    if (!few(all_nodes(spec))) {
      join(add(spec.name, fmt::format("node-{}...", first), nodes_in_words(last - first, group.gpus),
               Picture::Kind::node),
           above, fmt::format("{} each", rails), rail_links(spec, group, first, last));
      return;
    }
    for (std::int64_t node = first; node < last; ++node, gpu += group.gpus) {
      const std::string name = fmt::format("node-{}", node);
      if (all_gpus(spec) > kGpusOneByOne) {
        const std::string ports = group.gpus == 1 ? "" : fmt::format("\n{}", in_words(group.port));
        join(add(spec.name, name, fmt::format("{}\n{}{}", name, nodes_in_words(1, group.gpus), ports),
                 Picture::Kind::node),
             above, rails, rail_links(spec, group, node, node + 1));
        continue;
      }
      const std::string frame = name_in(spec.name, name);
      const std::string adapters = add(spec.name, name, "adapters", Picture::Kind::network, frame);
      join(adapters, above, rails, rail_links(spec, group, node, node + 1));
      const std::string inside = group.gpus == 1 ? std::string{}
                                                 : add(spec.name, name + " inside", inside_in_words(*group.inside),
                                                       Picture::Kind::network, frame);
      for (std::int64_t own = gpu; own < gpu + group.gpus; ++own) {
        const std::string host = fmt::format("gpu-{}", own);
        const std::string id = add(spec.name, host, host, Picture::Kind::host, frame);
        join(id, adapters, "");
        if (inside.empty()) continue;
        std::vector<std::string> links;
        if (group.inside == spec::InsideNode::mesh) {
          for (std::int64_t other = gpu; other < gpu + group.gpus; ++other) {
            if (other == own) continue;
            const auto [a, b] = std::minmax(own, other);
            add_line(links, name_in(spec.name, fmt::format("gpu-{} gpu-{}", a, b)));
          }
        } else {
          add_line(links, id + " port");
        }
        join(id, inside, own == gpu ? in_words(group.port) : "", std::move(links));
      }
    }
  }

  std::string draw_fat_tree(const spec::GpuClusterSpec& spec) {
    const FatTreeSize size = fat_tree_size(spec);
    std::string spines = size.spines == 0
                             ? std::string{}
                             : add(spec.name, "spines", times(size.spines, "spine switch"), Picture::Kind::network);
    const std::string up = times(size.spines, in_words(spec.fabric.link));
    std::string leaf;
    if (!few(size.leaves)) {
      leaf = add(spec.name, "leaves", fmt::format("{} x leaf switch", size.leaves), Picture::Kind::network);
      join(leaf, spines, fmt::format("{} each", up), spine_links(spec, size.spines, 0, size.leaves));
      draw_nodes(spec, 0, all_nodes(spec), leaf);
      return spines;
    }
    for (std::int64_t i = 0; i < size.leaves; ++i) {
      leaf = add(spec.name, fmt::format("leaf-{}", i), fmt::format("leaf-{}", i), Picture::Kind::network);
      if (!spines.empty()) join(leaf, spines, up, spine_links(spec, size.spines, i, i + 1));
      draw_nodes(spec, i * spec.fabric.nodes_per_switch,
                 std::min((i + 1) * spec.fabric.nodes_per_switch, all_nodes(spec)), leaf);
    }
    return spines.empty() ? leaf : spines;
  }

  std::string draw_dragonfly(const spec::GpuClusterSpec& spec) {
    const std::vector<std::int64_t>& sizes = spec.fabric.dimensions;
    constexpr std::int64_t kGroupsDrawn = 16;
    const std::string inside =
        fmt::format("{} routers, each with {}", sizes.at(1), nodes_in_words(sizes.at(2), gpus_in_words(spec)));
    const std::int64_t parallel = dragonfly_lines(spec.fabric);
    const std::string lines = times(parallel, in_words(spec.fabric.link));
    if (sizes[0] > kGroupsDrawn) {
      return add(spec.name, "groups", fmt::format("{} groups of {}\n{} between any two", sizes[0], inside, lines),
                 Picture::Kind::node);
    }
    std::vector<std::string> groups;
    for (std::int64_t i = 0; i < sizes[0]; ++i) {
      groups.push_back(
          add(spec.name, fmt::format("group-{}", i), fmt::format("group-{}\n{}", i, inside), Picture::Kind::node));
      for (std::int64_t j = 0; j < i; ++j) {
        std::vector<std::string> links;
        for (std::int64_t line = 0; line < parallel; ++line)
          add_line(links, name_in(spec.name, fmt::format("group-{} to group-{} line-{}", j, i, line)));
        join(groups[static_cast<std::size_t>(j)], groups.back(), lines, std::move(links));
      }
    }
    return groups.front();
  }

  std::string draw_torus(const spec::GpuClusterSpec& spec) {
    const std::vector<std::int64_t>& sizes = spec.fabric.dimensions;
    const std::string link = in_words(spec.fabric.link);
    if (!few(all_nodes(spec))) {
      return add(spec.name, "torus",
                 fmt::format("torus of {}\n{}\n{} between neighbours", fmt::join(sizes, " x "),
                             nodes_in_words(all_nodes(spec), gpus_in_words(spec)), link),
                 Picture::Kind::node);
    }
    std::int64_t number = 0;
    for (const spec::NodeGroup& group : node_groups(spec)) {
      for (std::int64_t i = 0; i < group.nodes; ++i) {
        const std::string name = fmt::format("node-{}", number++);
        add(spec.name, name, fmt::format("{}\n{}", name, nodes_in_words(1, group.gpus)), Picture::Kind::node);
      }
    }
    for (std::int64_t node = 0; node < all_nodes(spec); ++node) {
      std::int64_t stride = 1;
      for (const std::int64_t size : sizes) {
        const std::int64_t here = node / stride % size;
        const std::int64_t next = node + ((here + 1) % size - here) * stride;
        stride *= size;
        if (size == 1 || (size == 2 && next < node)) continue;
        std::vector<std::string> links;
        add_line(links, name_in(spec.name, fmt::format("node-{} to node-{}", node, next)));
        join(name_in(spec.name, fmt::format("node-{}", node)), name_in(spec.name, fmt::format("node-{}", next)),
             node == 0 ? link : "", std::move(links));
      }
    }
    return name_in(spec.name, "node-0");
  }

  Picture picture_;
};

}  // namespace

Picture draw(const spec::PlatformSpec& platform) {
  Pen pen;
  std::visit([&](const auto& what) { pen.draw(what); }, platform.what);
  return std::move(pen).picture();
}

std::string rate_in_words(double bytes_per_second) { return human_link_rate(bytes_per_second); }

std::string seconds_in_words(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} µs", seconds * 1e6);
}

}  // namespace dadsim::sim
