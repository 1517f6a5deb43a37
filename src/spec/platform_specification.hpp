#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/names.hpp"

// What a cluster is made of, complete and checked: what the scenario reader fills in and the simulator builds.
// Bandwidths are byte/s of the wire (10 Gbit/s Ethernet is 1.25e9), latencies seconds one way.

namespace dadsim::spec {

/// How bytes travel over a link, and so which corrections apply to its nominal numbers.
enum class Transport : std::uint8_t {
  plain,   ///< the numbers as they are written: no corrections. What a SimGrid platform file gets unless it says
           ///< otherwise
  tcp,     ///< a connection per pair: headers, slow start while cold, software per message, queues that fill up
  rdma,    ///< InfiniBand, RoCE, EFA, PCIe: a stated share of the nominal bandwidth
  nvlink,  ///< NVLink and NVSwitch: a stated share of the nominal bandwidth
};
constexpr auto names_of(Transport) {
  using enum Transport;
  return std::to_array<Name<Transport>>({{plain, "plain"}, {tcp, "tcp"}, {rdma, "rdma"}, {nvlink, "nvlink"}});
}

/// The library that carries out collectives among devices.
enum class CollectiveLibrary : std::uint8_t {
  nccl,  ///< NVIDIA's
  rccl,  ///< AMD's
  mpi,   ///< of CPUs
};
constexpr auto names_of(CollectiveLibrary) {
  using enum CollectiveLibrary;
  return std::to_array<Name<CollectiveLibrary>>({{nccl, "nccl"}, {rccl, "rccl"}, {mpi, "mpi"}});
}

/// Generation of NVIDIA's GPUs, as far as NCCL's tuner tells them apart.
enum class GpuGeneration : std::uint8_t { volta, ampere, hopper, blackwell };
constexpr auto names_of(GpuGeneration) {
  using enum GpuGeneration;
  return std::to_array<Name<GpuGeneration>>(
      {{volta, "volta"}, {ampere, "ampere"}, {hopper, "hopper"}, {blackwell, "blackwell"}});
}

/// Which of the library's tables says what a message costs over a link of transport rdma, beside the link's own
/// latency. any: that of the other links on its way.
enum class MessageCosts : std::uint8_t { network, pcie, xgmi, efa, any };
constexpr auto names_of(MessageCosts) {
  using enum MessageCosts;
  return std::to_array<Name<MessageCosts>>(
      {{network, "network"}, {pcie, "pcie"}, {xgmi, "xgmi"}, {efa, "efa"}, {any, "any"}});
}

/// One direction of a link.
struct LinkSpec {
  std::string name;      ///< of the catalogue ("ib-ndr"), or of one's own
  double bandwidth = 0;  ///< byte/s, nominal
  double latency = 0;    ///< seconds, one way
  Transport transport = Transport::plain;
  double efficiency = 1;     ///< share of the nominal bandwidth that payload reaches, 0…1
  double queue_bytes = 3e5;  ///< tcp: drop-tail buffer in front of the link
  std::string source;        ///< where the numbers are published, and which are assumptions
  MessageCosts costs = MessageCosts::network;
  /// Of the GPUs that a link inside a node joins; of other links they mean nothing.
  CollectiveLibrary library = CollectiveLibrary::nccl;
  GpuGeneration generation = GpuGeneration::ampere;
  /// tcp: the bandwidth is what transfers were measured to get. Headers, windows and losses are in it: it is payload,
  /// and nothing is lost in front of it (queue_bytes means nothing).
  bool is_goodput = false;
  double per_connection = 0;  ///< goodput: byte/s that one connection gets at most; 0: its window per round trip
  /// tcp: between hosts and switches of one cluster, whatever its rate. What does not fit in front of a host's own
  /// adapter waits in the host, and a switch loses only what more lines bring than one takes away.
  bool in_cluster = false;
  /// Of the catalogue: an access line (fibre, cable, 4G), whose queue loses what it does not hold wherever it stands;
  /// as an adapter of a cluster of GPUs, too, it is not in_cluster.
  bool is_access = false;
  bool operator==(const LinkSpec&) const = default;
};

/// How the GPUs of a node reach one another.
enum class InsideNode : std::uint8_t {
  switched,  ///< every GPU has a full-duplex port into a switch that never blocks (NVSwitch)
  shared,    ///< every GPU has a full-duplex port, and all share one host bridge each way (PCIe)
  mesh,      ///< every pair of GPUs has a full-duplex link of its own (xGMI)
};

/// How nodes reach one another.
struct FabricSpec {
  enum class Kind : std::uint8_t { one_switch, fat_tree, dragonfly, torus };
  Kind kind = Kind::one_switch;
  LinkSpec link;                      ///< between switches (one_switch: unused)
  std::int64_t nodes_per_switch = 0;  ///< fat_tree: nodes below each leaf switch
  double oversubscription = 1;        ///< fat_tree: bandwidth down ÷ bandwidth up of a leaf switch, at least 1
  bool adds_up = false;               ///< its switches can sum (InfiniBand SHARP)
  std::vector<std::int64_t>
      dimensions;  ///< torus: nodes along each axis. dragonfly: groups, routers per group, nodes per router
};
constexpr auto names_of(FabricSpec::Kind) {
  using enum FabricSpec::Kind;
  return std::to_array<Name<FabricSpec::Kind>>(
      {{one_switch, "one-switch"}, {fat_tree, "fat-tree"}, {dragonfly, "dragonfly"}, {torus, "torus"}});
}

/// Nodes of a cluster of GPUs that are alike.
struct NodeGroup {
  std::int64_t nodes = 1;
  std::int64_t gpus = 8;  ///< per node
  // As those of GpuClusterSpec:
  LinkSpec port;
  std::int64_t rails = 1;
  LinkSpec nic;
  // As those of GpuClusterSpec; left out, those of the other nodes:
  std::optional<InsideNode> inside = {};
  LinkSpec bridge = {};  ///< where `inside` says shared
  std::optional<LinkSpec> slot = {};
  std::optional<std::int64_t> slot_gpus = {};
  bool operator==(const NodeGroup&) const = default;
};

/// Nodes of GPUs. Hosts are called `gpu-0` …, numbered node by node; in a composition `NAME.gpu-0` ….
struct GpuClusterSpec {
  std::string name;        ///< empty unless part of a composition
  std::int64_t nodes = 1;  ///< beside those of `more`
  std::int64_t gpus = 8;   ///< per node
  InsideNode inside = InsideNode::switched;
  LinkSpec port;    ///< of each GPU into the switch or bridge of its node; mesh: of each pair
  LinkSpec bridge;  ///< shared: of the host bridge, each way; bandwidth 0: no limit of its own
  /// Network adapters per node; GPU i uses rail i·rails/gpus. Where they are more than the GPUs, each GPU has
  /// rails/gpus.
  std::int64_t rails = 1;
  LinkSpec nic;  ///< of each rail, full duplex
  FabricSpec fabric;
  bool library_is_given = false;  ///< that of `port` was asked for, whatever the devices are
  LinkSpec slot;                  ///< between GPUs and their adapters; bandwidth 0: no limit
  std::int64_t slot_gpus = 1;     ///< GPUs behind one slot, which share it; a divisor of `gpus`
  // Of adapters over TCP:
  std::int64_t sockets = 16;         ///< connections beside each other between two adapters
  std::int64_t socket_threads = 16;  ///< that serve them, each on a core of its own
  double flow_limit = 0;             ///< byte/s that the provider gives one connection; 0: no limit
  std::int64_t mtu = 1500;           ///< bytes of a packet
  std::vector<NodeGroup> more;       ///< nodes of other sizes and links, numbered on behind the `nodes`
};

/// The nodes of a cluster, group by group: its own, then `more`. Nothing is left out in any of them.
std::vector<NodeGroup> node_groups(const GpuClusterSpec& cluster);
std::int64_t all_nodes(const GpuClusterSpec& cluster);
std::int64_t all_gpus(const GpuClusterSpec& cluster);

/// Sites around a hub, each with a line of its own. Hosts are called after their class: `CLASS-1` … (just `CLASS` if
/// there is one and `numbered` is false), the hub `hub`; in a composition with `NAME.` before.
struct FederationSpec {
  struct Sites {
    std::string name;  ///< prefix of the hosts' names
    std::int64_t count = 1;
    bool numbered = true;
    LinkSpec up, down;  ///< from and to the site
    /// Standard deviations of the logarithms of a site's factors, whose medians are 1: of both bandwidths, and of both
    /// latencies.
    double bandwidth_spread = 0, latency_spread = 0;
  };
  std::string name;
  std::vector<Sites> sites;
  std::uint64_t seed = 1;     ///< of the factors
  LinkSpec hub_up, hub_down;  ///< bandwidth 0: the hub's line is never the limit
};

/// Regions joined pairwise, as cloud regions are. Within a region hosts hang on a switch by `host`. Hosts are called
/// `REGION-1` …
struct WanSpec {
  struct Region {
    std::string name;
    std::int64_t hosts = 1;
  };
  struct Pair {
    std::string from, to;   ///< names of regions, or of the clusters of a composition
    double bandwidth = 0;   ///< byte/s from → to
    double round_trip = 0;  ///< seconds
    Transport transport = Transport::tcp;
    double queue_bytes = 3e5;   ///< tcp: drop-tail buffer in front of the line
    bool is_goodput = false;    ///< as LinkSpec::is_goodput
    double per_connection = 0;  ///< as LinkSpec::per_connection
  };
  std::string name;
  std::vector<Region> regions;
  LinkSpec host;            ///< of each host into its region's switch, full duplex
  std::vector<Pair> pairs;  ///< both directions of each pair
};

/// Clusters joined by a WAN: the pairs name the clusters.
struct CompositionSpec {
  std::vector<std::variant<GpuClusterSpec, FederationSpec>> clusters;
  std::vector<WanSpec::Pair> pairs;
};

/// A platform file of SimGrid.
struct PlatformFileSpec {
  std::string path;  ///< absolute
  /// How its links are used, unless a link or zone has a `transport` property; and their share of the bandwidth.
  Transport transport = Transport::plain;
};

/// What if links were faster or slower.
struct LinkChange {
  /// Name of a link of the platform as it stands in a result, in which * stands for anything, or class of links
  /// ("ib-ndr").
  std::string link;
  double bandwidth_factor = 1;  ///< above 0
  double latency_factor = 1;    ///< from 0 on; of the link's own latency, not of software and protocols
};

struct PlatformSpec {
  std::string description;  ///< one line; may be empty
  std::variant<PlatformFileSpec, GpuClusterSpec, FederationSpec, WanSpec, CompositionSpec> what;

  /// What changes while time passes: repeated from the start after `period` seconds.
  struct Profile {
    enum class Of : std::uint8_t { bandwidth, latency };
    Of of = Of::bandwidth;
    std::string link;  ///< name in the platform (`dadsim platform` lists them); `*` at the end stands for any rest
    std::vector<double> times;    ///< seconds, from 0, rising
    std::vector<double> factors;  ///< of the link's own value, above 0
    double period = 0;            ///< 0: not repeated
  };
  std::vector<Profile> profiles;

  /// Traffic of others: from time 0 on, messages of `bytes` from one host to another, `every` seconds or back to back.
  struct Background {
    std::string from, to;  ///< hosts
    double bytes = 0;
    double every = 0;  ///< seconds between starts; 0: the next starts when the last is through
  };
  std::vector<Background> background;

  /// To what the platform is built with, one after the other: a link that several fit gets the product.
  std::vector<LinkChange> changes = {};
};
constexpr auto names_of(PlatformSpec::Profile::Of) {
  using enum PlatformSpec::Profile::Of;
  return std::to_array<Name<PlatformSpec::Profile::Of>>({{bandwidth, "bandwidth"}, {latency, "latency"}});
}

/// Whether it has lines whose bandwidth is given as it was measured; a file is not looked into.
bool has_goodput_lines(const PlatformSpec& platform);

/// From now on what differs from site to site is drawn from this seed.
void draw_populations_from(std::uint64_t seed, PlatformSpec& platform);

/// Names of the hosts of a declared platform in the order in which they are built (empty for a file).
std::vector<std::string> host_names(const PlatformSpec& platform);

/// Host by host in that order, the name of the node that it is on: `node-0` … of a cluster of GPUs, in a composition
/// `NAME.node-0` …; any other host is a node by itself, of its own name.
std::vector<std::string> nodes_of_hosts(const PlatformSpec& platform);

}  // namespace dadsim::spec
