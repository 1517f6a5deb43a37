#include "sim/network/rank_layout.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "collectives/rounds.hpp"
#include "sim/platform.hpp"
#include "sim/platform/build/host_zone.hpp"

namespace dadsim::sim {
namespace {

constexpr std::size_t kMostInOrder = 64;

using Tour = std::vector<std::size_t>;

/// Seconds per byte from each host to each other host.
using Prices = std::vector<std::vector<double>>;

Prices prices_between(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network) {
  Prices prices(hosts.size(), std::vector<double>(hosts.size(), 0));
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < hosts.size(); ++to) {
      if (from == to) continue;
      const Path& path = network[network.path(hosts[from], hosts[to])];
      prices[from][to] = 1 / std::min(path.use.payload_rate, path.connection_rate);
    }
  }
  return prices;
}

/// Returns the cost of the slowest pair and the sum of all costs, which are compared in this order.
std::pair<double, double> cost_of(const Tour& tour, const Prices& prices) {
  std::pair<double, double> cost{0, 0};
  for (std::size_t i = 0; i < tour.size(); ++i) {
    const double price = prices[tour[i]][tour[(i + 1) % tour.size()]];
    cost.first = std::max(cost.first, price);
    cost.second += price;
  }
  return cost;
}

Tour by_nearest(const Prices& prices) {
  Tour tour{0};
  std::vector<bool> taken(prices.size());
  taken[0] = true;
  while (tour.size() < prices.size()) {
    std::size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t to = 0; to < prices.size(); ++to) {
      if (taken[to] || prices[tour.back()][to] >= least) continue;
      nearest = to;
      least = prices[tour.back()][to];
    }
    taken[nearest] = true;
    tour.push_back(nearest);
  }
  return tour;
}

/// Returns a ring order that makes the slowest pair of neighbours as quick as possible and, among equals, the total
/// least. Starts with the nearest-neighbour tour and exchanges two edges while that improves the tour (2-opt), like
/// PCCL with measured bandwidths (M. Keiblinger et al., arXiv:2505.14065). The order begins with 0; it is empty for
/// more hosts than kMostInOrder.
std::vector<collectives::Rank> ring_order(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network) {
  if (hosts.size() > kMostInOrder) return {};
  const Prices prices = prices_between(hosts, network);
  Tour tour = by_nearest(prices);
  auto cost = cost_of(tour, prices);
  for (bool better = true; better;) {
    better = false;
    for (std::size_t i = 1; i + 1 < tour.size(); ++i) {
      for (std::size_t j = i + 1; j < tour.size(); ++j) {
        Tour other = tour;
        std::reverse(other.begin() + static_cast<std::ptrdiff_t>(i),
                     other.begin() + static_cast<std::ptrdiff_t>(j) + 1);
        const auto its_cost = cost_of(other, prices);
        if (!(its_cost < cost)) continue;
        tour = std::move(other);
        cost = its_cost;
        better = true;
      }
    }
  }
  return {tour.begin(), tour.end()};
}

// Seconds before an operation's first message, for the start of a kernel and the library's own work. From the tuners'
// tables (baseLat), rings with LL: NVIDIA/nccl 2.28, src/graph/tuning.cc; ROCm/rccl, the same file.
constexpr double kNcclStart = 6.6e-6;
constexpr double kRcclStart = 20.5e-6;
/// Cost of a hop of a tree between nodes in RCCL ÷ cost of a hop of a ring, with LL (hwLat, 9.8 and 2.0 µs).
constexpr double kRcclTree = 9.8 / 2.0;

collectives::RankLayout::Channel channel(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to,
                                         Interconnect& network) {
  const Path& path = network[network.path(from, to)];
  const double small = path.use.cost(1).overhead;  // seconds of the protocol for small messages
  collectives::RankLayout::Channel result{path.latency + small, std::min(path.use.payload_rate, path.connection_rate)};
  for (const Protocol& protocol : path.use.protocols) {
    const double latency = path.latency + path.use.overhead + protocol.latency;
    if (protocol.name == collectives::Protocol::simple) result.bulk_latency = latency;
    if (protocol.name == collectives::Protocol::ll128) result.ll128_latency = latency;
  }
  return result;
}

/// Returns the number of adapters through which the ranks of a node reach `far`. The node's first rank is `begin`.
collectives::Rank rails_of(const std::vector<simgrid::s4u::Host*>& hosts, const collectives::RankLayout& layout,
                           std::size_t begin, const simgrid::s4u::Host* far, Interconnect& network) {
  std::set<std::int32_t> first;
  for (std::size_t i = begin; i < hosts.size() && layout.node_of[i] == layout.node_of[begin]; ++i) {
    const Path& path = network[network.path(hosts[i], far)];
    if (!path.links.empty()) first.insert(path.links.front());
  }
  return static_cast<collectives::Rank>(first.size());
}

/// Returns the GPU node of a declared platform's host; null if the host is no GPU.
const GpuNode* gpu_node_of(const simgrid::s4u::Host& host) {
  const ClusterNetwork* network = declared_network();
  return network == nullptr ? nullptr : network->gpu_node(number_in_network(host));
}

/// Infers the GPU node from links, because SimGrid's platform files do not describe hosts. Hosts connected by NVLink,
/// PCIe, xGMI or RDMA count as GPUs, with the properties that the catalogue gives for the link.
GpuNode gpu_node_of(const Path& inside, const Interconnect& network) {
  GpuNode node;
  if (inside.links.empty()) return node;
  const LinkProperties& use = network.link(inside.links.front()).use;
  if (inside.links.size() == 1 && use.costs == spec::MessageCosts::xgmi) node.inside = spec::InsideNode::mesh;
  if (inside.links.size() > 2) node.inside = spec::InsideNode::shared;
  if (const spec::LinkSpec* known = find_link(use.link_class); known != nullptr) {
    node.library = known->library;
    node.generation = known->generation;
  }
  return node;
}

/// Library and generation shared by all devices, if known. With different libraries the layout uses MPI; of different
/// generations NCCL uses the oldest.
struct LayoutOfDevices {
  spec::CollectiveLibrary library;
  spec::GpuGeneration generation;
};
std::optional<LayoutOfDevices> library_of(std::span<const spec::DeviceSpec* const> devices) {
  std::optional<LayoutOfDevices> all;
  for (const spec::DeviceSpec* device : devices) {
    if (!device->library) return std::nullopt;
    if (!all) all = {*device->library, device->generation};
    if (all->library != *device->library) all->library = spec::CollectiveLibrary::mpi;
    all->generation = std::min(all->generation, device->generation);
  }
  return all;
}

bool may_join_gpus(const Path& path) {
  return path.use.transport == spec::Transport::nvlink || path.use.transport == spec::Transport::rdma;
}

/// Describes the connection of the GPUs inside `node`.
void describe_inside(const Path& path, const GpuNode& node, collectives::RankLayout& layout) {
  layout.meshed_nodes = node.inside == spec::InsideNode::mesh;
  layout.nvlink_inside = path.use.transport == spec::Transport::nvlink;
  // Allows NVLink SHARP from Hopper on.
  layout.switch_adds_up = layout.nvlink_inside && node.inside == spec::InsideNode::switched && path.links.size() == 2 &&
                          node.generation >= spec::GpuGeneration::hopper;
}

/// Limits an adapter's bandwidth for the case that all GPUs of a node send, because a library's search includes slots
/// that GPUs share.
void share_slots(const GpuNode& node, collectives::RankLayout& layout) {
  layout.between.bandwidth = std::min(layout.between.bandwidth,
                                      node.slots / static_cast<double>(std::max<collectives::Rank>(1, layout.rails)));
}

/// Describes nodes of several kinds by the slowest bandwidth and the capabilities common to all. The first node of each
/// kind represents it; `layout` already describes the kind of the first rank, or of the first node with several ranks.
void describe_other_nodes(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network,
                          collectives::RankLayout& layout) {
  std::set<const GpuNode*> seen{gpu_node_of(*hosts.front())};
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    const GpuNode* node = gpu_node_of(*hosts[i]);
    if (node == nullptr || layout.node_of[i] == layout.node_of[i - 1] || !seen.insert(node).second) continue;
    if (i + 1 < hosts.size() && layout.node_of[i + 1] == layout.node_of[i]) {
      const collectives::RankLayout::Channel own = channel(hosts[i], hosts[i + 1], network);
      if (own.bandwidth < layout.inside.bandwidth) layout.inside = own;
      collectives::RankLayout can = layout;
      describe_inside(network[network.path(hosts[i], hosts[i + 1])], *node, can);
      layout.nvlink_inside = layout.nvlink_inside && can.nvlink_inside;
      layout.switch_adds_up = layout.switch_adds_up && can.switch_adds_up;
    }
    const collectives::RankLayout::Channel between = channel(hosts[i], hosts.front(), network);
    if (between.bandwidth < layout.between.bandwidth) layout.between = between;
    layout.rails = std::min(layout.rails, rails_of(hosts, layout, i, hosts.front(), network));
    share_slots(*node, layout);
    const Path& path = network[network.path(hosts[i], hosts.front())];
    if (!path.links.empty()) {
      layout.adapter_bandwidth = std::min(layout.adapter_bandwidth, network.link(path.links.front()).bandwidth);
    }
  }
}

/// Sets the library of the ranks' collectives, and what it assumes about the cluster.
void describe_library(const GpuNode& node, bool between, bool plain, collectives::RankLayout& layout) {
  const bool rccl = node.library == spec::CollectiveLibrary::rccl;
  layout.library = node.library;
  layout.generation = node.generation;
  // Adds no corrections over plain links, whose numbers apply as given. XLA launches a program as a whole.
  if (!plain && layout.of_gpus()) layout.start_seconds = rccl ? kRcclStart : kNcclStart;
  if (rccl && between) layout.tree_latency = (kRcclTree - 1) * layout.between.latency;
}

}  // namespace

collectives::RankLayout rank_layout(const std::vector<simgrid::s4u::Host*>& hosts, Interconnect& network,
                                    std::span<const spec::DeviceSpec* const> devices) {
  collectives::RankLayout layout;
  std::map<std::string, std::int32_t> number_of;
  const auto next = [&number_of] { return static_cast<std::int32_t>(number_of.size()); };
  for (const simgrid::s4u::Host* host : hosts) {
    const char* node = host->get_property("node");
    const std::string name = node == nullptr ? "host " + host->get_name() : std::string("node ") + node;
    layout.node_of.push_back(number_of.try_emplace(name, next()).first->second);
  }
  bool inside = false;
  bool between = false;
  const GpuNode* declared = gpu_node_of(*hosts.front());
  GpuNode node = declared == nullptr ? GpuNode{} : *declared;
  const std::optional<LayoutOfDevices> own = node.library_is_given ? std::nullopt : library_of(devices);
  const auto go_by_devices = [&] {
    if (!own) return;
    node.library = own->library;
    node.generation = own->generation;
  };
  go_by_devices();
  bool gpus = true;  // the links suggest that the ranks are GPUs
  bool plain = false;
  for (std::size_t i = 1; i < hosts.size() && !(inside && between); ++i) {
    if (!inside && layout.node_of[i] == layout.node_of[i - 1] && hosts[i] != hosts[i - 1]) {
      layout.inside = channel(hosts[i - 1], hosts[i], network);
      const Path& path = network[network.path(hosts[i - 1], hosts[i])];
      if (declared == nullptr) {
        node = gpu_node_of(path, network);
        go_by_devices();
      }
      describe_inside(path, node, layout);
      gpus = gpus && may_join_gpus(path);
      plain = plain || path.use.transport == spec::Transport::plain;
      inside = true;
    }
    if (!between && layout.node_of[i] != layout.node_of[0]) {
      layout.between = channel(hosts[0], hosts[i], network);
      layout.rails = rails_of(hosts, layout, 0, hosts[i], network);
      if (declared != nullptr) share_slots(*declared, layout);
      const Path& path = network[network.path(hosts[0], hosts[i])];
      if (!path.links.empty()) {
        const NetworkLink& adapter = network.link(path.links.front());
        layout.fabric_adds_up = adapter.use.adds_up;
        layout.adapter_bandwidth = adapter.bandwidth;
      }
      layout.over_sockets = path.use.transport == spec::Transport::tcp;
      gpus = gpus && may_join_gpus(path);
      plain = plain || path.use.transport == spec::Transport::plain;
      between = true;
    }
  }
  const bool wan = joined_by_wan(hosts);
  if (between && declared != nullptr && !wan && hosts.size() > 2) describe_other_nodes(hosts, network, layout);
  if (!inside) layout.inside = layout.between;
  if (!between) layout.between = layout.inside;
  if (declared != nullptr) {
    const ClusterNetwork& all = *declared_network();
    gpus = std::ranges::all_of(hosts, [](const auto* host) { return gpu_node_of(*host) != nullptr; });
    for (const simgrid::s4u::Host* host : hosts) {
      layout.rail_of.push_back(static_cast<std::int32_t>(all.rail(number_in_network(*host))));
    }
    std::vector<std::int64_t> numbers;
    for (const simgrid::s4u::Host* host : hosts) numbers.push_back(number_in_network(*host));
    layout.torus = collectives::grid_within(all.torus(), numbers);
  }
  if (own) gpus = own->library != spec::CollectiveLibrary::mpi;
  // Detects clusters connected by a WAN, for which no library has a rule; switches within one fabric are nearer.
  constexpr double kMuchFarther = 4;
  const bool far = between && layout.ranks() > layout.nodes() &&
                   channel(hosts.front(), hosts.back(), network).latency > kMuchFarther * layout.between.latency;
  if (gpus && (inside || between) && !far) describe_library(node, between, plain, layout);
  if (wan) layout.ring_order = ring_order(hosts, network);
  return layout;
}

bool joined_by_wan(const std::vector<simgrid::s4u::Host*>& hosts) {
  // Excludes platform files, which do not mark their WAN links, and in which some hosts may have no path to others.
  if (hosts.size() < 3 || declared_network() == nullptr) return false;
  const auto is_far = [&](const simgrid::s4u::Host* host) {
    std::vector<simgrid::s4u::Link*> links;
    hosts.front()->route_to(host, links, static_cast<double*>(nullptr));
    return std::ranges::any_of(links, [](const simgrid::s4u::Link* link) {
      const char* name = link->get_property("class");
      return name != nullptr && std::string_view(name) == "wan";
    });
  };
  // Examines the last host, which is as far as any among many hosts, because regions are consecutive.
  return is_far(hosts.back()) ||
         std::ranges::any_of(hosts | std::views::take(kMostInOrder) | std::views::drop(1), is_far);
}

}  // namespace dadsim::sim
