#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/names.hpp"

// Description of a cluster, complete and checked. The scenario reader fills it in, and the simulator builds it.
// Bandwidths are byte/s of the wire (10 Gbit/s Ethernet is 1.25e9), latencies seconds one way.

namespace dadsim::spec {

/// Kind of transport over a link, which determines how nominal numbers are corrected.
enum class Transport : std::uint8_t {
  plain,   ///< no correction: the default for SimGrid platform files
  tcp,     ///< one connection per pair, with headers, slow start of idle connections, software cost per message, and
           ///< queues
  rdma,    ///< InfiniBand, RoCE, EFA, PCIe: a given share of the nominal bandwidth
  nvlink,  ///< NVLink and NVSwitch: a given share of the nominal bandwidth
};
constexpr auto names_of(Transport) {
  using enum Transport;
  return std::to_array<Name<Transport>>({{plain, "plain"}, {tcp, "tcp"}, {rdma, "rdma"}, {nvlink, "nvlink"}});
}

/// Library that carries out collectives among devices.
enum class CollectiveLibrary : std::uint8_t {
  nccl,  ///< NVIDIA's NCCL
  rccl,  ///< AMD's RCCL
  mpi,   ///< MPI, for CPUs
  xla,   ///< Google's XLA, between TPUs
};
constexpr auto names_of(CollectiveLibrary) {
  using enum CollectiveLibrary;
  return std::to_array<Name<CollectiveLibrary>>({{nccl, "nccl"}, {rccl, "rccl"}, {mpi, "mpi"}, {xla, "xla"}});
}

/// NVIDIA GPU generation, as distinguished by NCCL's tuner.
enum class GpuGeneration : std::uint8_t { volta, ampere, hopper, blackwell };
constexpr auto names_of(GpuGeneration) {
  using enum GpuGeneration;
  return std::to_array<Name<GpuGeneration>>(
      {{volta, "volta"}, {ampere, "ampere"}, {hopper, "hopper"}, {blackwell, "blackwell"}});
}

/// Library table with the cost of a message over an rdma link, in addition to the link's latency. `any`: the table of
/// the path's other links.
enum class MessageCosts : std::uint8_t { network, pcie, xgmi, efa, ici, any };
constexpr auto names_of(MessageCosts) {
  using enum MessageCosts;
  return std::to_array<Name<MessageCosts>>(
      {{network, "network"}, {pcie, "pcie"}, {xgmi, "xgmi"}, {efa, "efa"}, {ici, "ici"}, {any, "any"}});
}

/// One direction of a link.
struct LinkSpec {
  std::string name;      ///< name in the catalogue ("ib-ndr"), or a user's own
  double bandwidth = 0;  ///< byte/s, nominal
  double latency = 0;    ///< seconds, one way
  Transport transport = Transport::plain;
  double efficiency = 1;     ///< share of the nominal bandwidth available to payload, 0…1
  double queue_bytes = 3e5;  ///< tcp: bytes of the drop-tail buffer in front of the link
  std::string source;        ///< publication of the numbers, with those that are assumptions
  MessageCosts costs = MessageCosts::network;
  /// Library and generation of the GPUs that a link joins inside a node; other links ignore them.
  CollectiveLibrary library = CollectiveLibrary::nccl;
  GpuGeneration generation = GpuGeneration::ampere;
  /// tcp: true if the bandwidth is a measured rate of transfers, including headers, windows and losses. All of it is
  /// payload, and no packets are lost before the link (queue_bytes has no effect).
  bool is_goodput = false;
  double per_connection = 0;  ///< goodput: limit of one connection, byte/s; 0: the window per round trip is the limit
  /// tcp: true inside a cluster, at any rate. A host queues at its own adapter without loss; packets are lost only at a
  /// switch port that receives more than it can send.
  bool in_cluster = false;
  /// True for access lines of the catalogue (fibre, cable, 4G), whose queue drops the excess at any place. Such a link
  /// is not in_cluster, even as an adapter of a GPU cluster.
  bool is_access = false;
  bool operator==(const LinkSpec&) const = default;
};

/// Connection among the GPUs of a node.
enum class InsideNode : std::uint8_t {
  switched,  ///< each GPU has a full-duplex port to a non-blocking switch (NVSwitch)
  shared,    ///< each GPU has a full-duplex port; all share one host bridge per direction (PCIe)
  mesh,      ///< each pair of GPUs has its own full-duplex link (xGMI)
};

/// Connection among nodes.
struct FabricSpec {
  enum class Kind : std::uint8_t { one_switch, fat_tree, dragonfly, torus };
  Kind kind = Kind::one_switch;
  LinkSpec link;                      ///< link between switches (one_switch: unused)
  std::int64_t nodes_per_switch = 0;  ///< fat_tree: nodes per leaf switch
  double oversubscription = 1;        ///< fat_tree: bandwidth down ÷ bandwidth up of a leaf switch, at least 1
  bool adds_up = false;               ///< true: switches can sum (InfiniBand SHARP)
  std::vector<std::int64_t>
      dimensions;  ///< torus: number of nodes along each axis. dragonfly: groups, routers per group, nodes per router
};
constexpr auto names_of(FabricSpec::Kind) {
  using enum FabricSpec::Kind;
  return std::to_array<Name<FabricSpec::Kind>>(
      {{one_switch, "one-switch"}, {fat_tree, "fat-tree"}, {dragonfly, "dragonfly"}, {torus, "torus"}});
}

/// A group of equal nodes in a GPU cluster.
struct NodeGroup {
  std::int64_t nodes = 1;
  std::int64_t gpus = 8;  ///< GPUs of each node
  // Members as in GpuClusterSpec:
  LinkSpec port;
  std::int64_t rails = 1;
  LinkSpec nic;
  // Members as in GpuClusterSpec; none: as in the cluster's other nodes:
  std::optional<InsideNode> inside = {};
  LinkSpec bridge = {};  ///< host bridge, with `inside` = shared
  std::optional<LinkSpec> slot = {};
  std::optional<std::int64_t> slot_gpus = {};
  bool operator==(const NodeGroup&) const = default;
};

/// Nodes of GPUs. Hosts are named `gpu-0` …, numbered node by node; in a composition, `NAME.gpu-0` ….
struct GpuClusterSpec {
  std::string name;        ///< name in a composition; empty otherwise
  std::int64_t nodes = 1;  ///< number of nodes, in addition to those in `more`
  std::int64_t gpus = 8;   ///< GPUs of each node
  InsideNode inside = InsideNode::switched;
  LinkSpec port;    ///< link of each GPU to its node's switch or bridge; with a mesh, the link of each pair
  LinkSpec bridge;  ///< host bridge per direction, if `inside` is shared; bandwidth 0: no limit of its own
  /// Network adapters per node; GPU i uses rail i·rails/gpus. If there are more adapters than GPUs, each GPU has
  /// rails/gpus.
  std::int64_t rails = 1;
  LinkSpec nic;  ///< full-duplex link of each rail
  FabricSpec fabric;
  bool library_is_given = false;  ///< true: the library of `port` was given explicitly, not derived from the devices
  LinkSpec slot;                  ///< link between GPUs and their adapters; bandwidth 0: no limit
  std::int64_t slot_gpus = 1;     ///< GPUs per slot, which share its bandwidth; a divisor of `gpus`
  // For adapters with TCP:
  std::int64_t sockets = 16;         ///< parallel connections between two adapters
  std::int64_t socket_threads = 16;  ///< threads that serve the connections, each on its own core
  double flow_limit = 0;             ///< provider's limit per connection, byte/s; 0: none
  std::int64_t mtu = 1500;           ///< bytes per packet
  std::vector<NodeGroup> more;       ///< nodes of other sizes or links, numbered after the first `nodes`
};

/// Returns all nodes of a cluster by group: its own nodes, then `more`, with all members filled in.
std::vector<NodeGroup> node_groups(const GpuClusterSpec& cluster);
std::int64_t all_nodes(const GpuClusterSpec& cluster);
/// Returns the number of nodes along each axis of a torus of single chips; nothing for other clusters.
std::vector<std::int64_t> torus_of_chips(const GpuClusterSpec& cluster);
std::int64_t all_gpus(const GpuClusterSpec& cluster);

/// Sites around a hub, each with its own line. Hosts are named by class, `CLASS-1` … (`CLASS` for a single one if
/// `numbered` is false), and the hub `hub`; in a composition with the prefix `NAME.`.
struct FederationSpec {
  struct Sites {
    std::string name;  ///< class of the site, the prefix of its host names
    std::int64_t count = 1;
    bool numbered = true;
    LinkSpec up, down;  ///< lines from the site and to the site
    /// Standard deviations of the logarithms of a site's factors, on both bandwidths and on both latencies. The median
    /// factor is 1.
    double bandwidth_spread = 0, latency_spread = 0;
  };
  std::string name;
  std::vector<Sites> sites;
  std::uint64_t seed = 1;     ///< seed of the sites' factors
  LinkSpec hub_up, hub_down;  ///< lines of the hub; bandwidth 0: no limit
};

/// Regions joined pairwise, such as cloud regions. Hosts of a region are attached to a switch by `host`, and named
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
    double queue_bytes = 3e5;   ///< tcp: bytes of the drop-tail buffer in front of the line
    bool is_goodput = false;    ///< true: the bandwidth is a measured rate of transfers (LinkSpec::is_goodput)
    double per_connection = 0;  ///< limit of one connection, byte/s (LinkSpec::per_connection)
  };
  std::string name;
  std::vector<Region> regions;
  LinkSpec host;            ///< link of each host to its region's switch, full duplex
  std::vector<Pair> pairs;  ///< connected pairs; each direction is separate
};

/// Clusters joined by a WAN. The ends of `pairs` are names of these clusters.
struct CompositionSpec {
  std::vector<std::variant<GpuClusterSpec, FederationSpec>> clusters;
  std::vector<WanSpec::Pair> pairs;
};

/// A SimGrid platform file.
struct PlatformFileSpec {
  std::string path;  ///< absolute path of the file
  /// transport of links if neither the link nor its zone has a `transport` property
  Transport transport = Transport::plain;
};

/// Change of link speeds, for what-if questions.
struct LinkChange {
  /// name of a link as in a result, where * matches anything; or class of links ("ib-ndr")
  std::string link;
  double bandwidth_factor = 1;  ///< factor on the bandwidth, above 0
  double latency_factor = 1;    ///< factor on the link's own latency, 0 or above; software and protocols are unchanged
};

struct PlatformSpec {
  std::string description;  ///< description, one line; may be empty
  std::variant<PlatformFileSpec, GpuClusterSpec, FederationSpec, WanSpec, CompositionSpec> what;

  /// Variation of a link over time, repeated after `period` seconds.
  struct Profile {
    enum class Of : std::uint8_t { bandwidth, latency };
    Of of = Of::bandwidth;
    std::string link;  ///< name in the platform (`dadsim platform` lists all); `*` at the end matches any suffix
    std::vector<double> times;    ///< seconds, from 0, ascending
    std::vector<double> factors;  ///< factors on the link's own value, above 0
    double period = 0;            ///< seconds; 0: no repetition
  };
  std::vector<Profile> profiles;

  /// Background traffic from time 0: messages of `bytes` from one host to another, every `every` seconds or back to
  /// back.
  struct Background {
    std::string from, to;  ///< names of the hosts
    double bytes = 0;
    double every = 0;  ///< seconds between starts; 0: each starts when the previous one has arrived
  };
  std::vector<Background> background;

  /// Changes of the finished platform, in order; the factors of several changes of one link are multiplied.
  std::vector<LinkChange> changes = {};
};
constexpr auto names_of(PlatformSpec::Profile::Of) {
  using enum PlatformSpec::Profile::Of;
  return std::to_array<Name<PlatformSpec::Profile::Of>>({{bandwidth, "bandwidth"}, {latency, "latency"}});
}

/// Returns whether any line has a measured bandwidth (goodput). False for a GPU cluster or a platform file.
bool has_goodput_lines(const PlatformSpec& platform);

/// Sets the seed for the differences between sites.
void draw_populations_from(std::uint64_t seed, PlatformSpec& platform);

/// Returns the host names of a declared platform in the order of construction; empty for a platform file.
std::vector<std::string> host_names(const PlatformSpec& platform);

/// Returns the node of each host, in the order of host_names(): `node-0` … in a GPU cluster, `NAME.node-0` … in a
/// composition. Any other host is a node with the host's name.
std::vector<std::string> nodes_of_hosts(const PlatformSpec& platform);

}  // namespace dadsim::spec
