#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/names.hpp"

// Description of a cluster, complete and checked: filled in by the scenario reader, built by the simulator. Bandwidths
// are byte/s of the wire (10 Gbit/s Ethernet is 1.25e9), latencies seconds one way.

namespace dadsim::spec {

/// Kind of transport over a link, which determines the corrections of its nominal numbers.
enum class Transport : std::uint8_t {
  plain,   ///< uncorrected numbers: the default for SimGrid platform files
  tcp,     ///< one connection per pair: headers, slow start of idle connections, software cost per message, queues
  rdma,    ///< InfiniBand, RoCE, EFA, PCIe: a stated share of the nominal bandwidth
  nvlink,  ///< NVLink and NVSwitch: a stated share of the nominal bandwidth
};
constexpr auto names_of(Transport) {
  using enum Transport;
  return std::to_array<Name<Transport>>({{plain, "plain"}, {tcp, "tcp"}, {rdma, "rdma"}, {nvlink, "nvlink"}});
}

/// The library that carries out collectives among devices.
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

/// NVIDIA GPU generation, as NCCL's tuner distinguishes them.
enum class GpuGeneration : std::uint8_t { volta, ampere, hopper, blackwell };
constexpr auto names_of(GpuGeneration) {
  using enum GpuGeneration;
  return std::to_array<Name<GpuGeneration>>(
      {{volta, "volta"}, {ampere, "ampere"}, {hopper, "hopper"}, {blackwell, "blackwell"}});
}

/// Table of the library with the costs of a message over an rdma link, in addition to the link's latency. `any`: the
/// table of the other links on the path.
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
  double queue_bytes = 3e5;  ///< tcp: drop-tail buffer in front of the link
  std::string source;        ///< publication of the numbers, and which are assumptions
  MessageCosts costs = MessageCosts::network;
  /// Library and generation of the GPUs joined by a link inside a node; no effect on other links.
  CollectiveLibrary library = CollectiveLibrary::nccl;
  GpuGeneration generation = GpuGeneration::ampere;
  /// tcp: the bandwidth is the measured rate of transfers, including headers, windows and losses: it is payload, and
  /// nothing is lost before the link (queue_bytes has no effect).
  bool is_goodput = false;
  double per_connection = 0;  ///< goodput: most byte/s of one connection; 0: its window per round trip
  /// tcp: inside a cluster, at any rate. A host queues at its own adapter without loss; packets are lost only at a
  /// switch port that receives more than it can send.
  bool in_cluster = false;
  /// From the catalogue: an access line (fibre, cable, 4G), whose queue loses the excess wherever the line is. Even as
  /// an adapter of a GPU cluster it is not in_cluster.
  bool is_access = false;
  bool operator==(const LinkSpec&) const = default;
};

/// Connection of the GPUs inside a node.
enum class InsideNode : std::uint8_t {
  switched,  ///< every GPU has a full-duplex port into a switch that never blocks (NVSwitch)
  shared,    ///< every GPU has a full-duplex port, and all share one host bridge each way (PCIe)
  mesh,      ///< every pair of GPUs has a full-duplex link of its own (xGMI)
};

/// Connection between nodes.
struct FabricSpec {
  enum class Kind : std::uint8_t { one_switch, fat_tree, dragonfly, torus };
  Kind kind = Kind::one_switch;
  LinkSpec link;                      ///< link between switches (one_switch: unused)
  std::int64_t nodes_per_switch = 0;  ///< fat_tree: nodes below each leaf switch
  double oversubscription = 1;        ///< fat_tree: bandwidth down ÷ bandwidth up of a leaf switch, at least 1
  bool adds_up = false;               ///< switches can sum (InfiniBand SHARP)
  std::vector<std::int64_t>
      dimensions;  ///< torus: nodes along each axis. dragonfly: groups, routers per group, nodes per router
};
constexpr auto names_of(FabricSpec::Kind) {
  using enum FabricSpec::Kind;
  return std::to_array<Name<FabricSpec::Kind>>(
      {{one_switch, "one-switch"}, {fat_tree, "fat-tree"}, {dragonfly, "dragonfly"}, {torus, "torus"}});
}

/// Equal nodes of a GPU cluster.
struct NodeGroup {
  std::int64_t nodes = 1;
  std::int64_t gpus = 8;  ///< GPUs of each node
  // Like members of GpuClusterSpec:
  LinkSpec port;
  std::int64_t rails = 1;
  LinkSpec nic;
  // Like members of GpuClusterSpec; none: as in the other nodes:
  std::optional<InsideNode> inside = {};
  LinkSpec bridge = {};  ///< host bridge, with `inside` = shared
  std::optional<LinkSpec> slot = {};
  std::optional<std::int64_t> slot_gpus = {};
  bool operator==(const NodeGroup&) const = default;
};

/// Nodes of GPUs. Hosts are named `gpu-0` …, numbered node by node; in a composition `NAME.gpu-0` ….
struct GpuClusterSpec {
  std::string name;        ///< name in a composition; otherwise empty
  std::int64_t nodes = 1;  ///< number of nodes, in addition to those in `more`
  std::int64_t gpus = 8;   ///< GPUs of each node
  InsideNode inside = InsideNode::switched;
  LinkSpec port;    ///< link of each GPU to its node's switch or bridge; mesh: of each pair
  LinkSpec bridge;  ///< host bridge, each way, if `inside` is shared; bandwidth 0: no limit of its own
  /// Network adapters per node; GPU i uses rail i·rails/gpus. With more adapters than GPUs, each GPU has rails/gpus.
  std::int64_t rails = 1;
  LinkSpec nic;  ///< link of each rail, full duplex
  FabricSpec fabric;
  bool library_is_given = false;  ///< the library of `port` was given explicitly, independent of the devices
  LinkSpec slot;                  ///< link between GPUs and their adapters; bandwidth 0: no limit
  std::int64_t slot_gpus = 1;     ///< GPUs that share one slot; a divisor of `gpus`
  // Adapters over TCP:
  std::int64_t sockets = 16;         ///< parallel connections between two adapters
  std::int64_t socket_threads = 16;  ///< threads that serve them, each on a core of its own
  double flow_limit = 0;             ///< most byte/s that the provider allows one connection; 0: no limit
  std::int64_t mtu = 1500;           ///< bytes per packet
  std::vector<NodeGroup> more;       ///< nodes of other sizes and links, numbered after the first `nodes`
};

/// Returns the nodes of a cluster, group by group: its own, then `more`, with all members filled in.
std::vector<NodeGroup> node_groups(const GpuClusterSpec& cluster);
std::int64_t all_nodes(const GpuClusterSpec& cluster);
/// Returns the nodes along each axis if all are single chips of a torus; otherwise nothing.
std::vector<std::int64_t> torus_of_chips(const GpuClusterSpec& cluster);
std::int64_t all_gpus(const GpuClusterSpec& cluster);

/// Sites around a hub, each with its own line. Hosts are named after their class: `CLASS-1` … (`CLASS` for a single one
/// if `numbered` is false), the hub `hub`; in a composition with the prefix `NAME.`.
struct FederationSpec {
  struct Sites {
    std::string name;  ///< prefix of the host names
    std::int64_t count = 1;
    bool numbered = true;
    LinkSpec up, down;  ///< lines from and to the site
    /// Standard deviations of the logarithms of a site's factors on both bandwidths and on both latencies; their
    /// medians are 1.
    double bandwidth_spread = 0, latency_spread = 0;
  };
  std::string name;
  std::vector<Sites> sites;
  std::uint64_t seed = 1;     ///< seed of the factors
  LinkSpec hub_up, hub_down;  ///< lines of the hub; bandwidth 0: never a bottleneck
};

/// Regions joined pairwise, like cloud regions. Hosts of a region are attached to a switch by `host`, and named
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
    bool is_goodput = false;    ///< true: measured rate of transfers (LinkSpec::is_goodput)
    double per_connection = 0;  ///< most byte/s of one connection (LinkSpec::per_connection)
  };
  std::string name;
  std::vector<Region> regions;
  LinkSpec host;            ///< link of each host to its region's switch, full duplex
  std::vector<Pair> pairs;  ///< pairs, each direction separately
};

/// Clusters joined by a WAN: the pairs name the clusters.
struct CompositionSpec {
  std::vector<std::variant<GpuClusterSpec, FederationSpec>> clusters;
  std::vector<WanSpec::Pair> pairs;
};

/// A platform file of SimGrid.
struct PlatformFileSpec {
  std::string path;  ///< absolute path of the file
  /// Transport of links without a `transport` property of the link or zone.
  Transport transport = Transport::plain;
};

/// Change of link speeds in a what-if question.
struct LinkChange {
  /// Name of a link as in a result, with * matching anything, or class of links ("ib-ndr").
  std::string link;
  double bandwidth_factor = 1;  ///< factor on the bandwidth, above 0
  double latency_factor = 1;    ///< 0 or above; on the link's own latency, not on software and protocols
};

struct PlatformSpec {
  std::string description;  ///< one line; may be empty
  std::variant<PlatformFileSpec, GpuClusterSpec, FederationSpec, WanSpec, CompositionSpec> what;

  /// Variation of a link over time, repeated after `period` seconds.
  struct Profile {
    enum class Of : std::uint8_t { bandwidth, latency };
    Of of = Of::bandwidth;
    std::string link;  ///< name in the platform (`dadsim platform` lists them); `*` at the end matches any rest
    std::vector<double> times;    ///< seconds, from 0, ascending
    std::vector<double> factors;  ///< factors on the link's own value, above 0
    double period = 0;            ///< seconds; 0: not repeated
  };
  std::vector<Profile> profiles;

  /// Background traffic: from time 0 on, messages of `bytes` from one host to another, every `every` seconds or back to
  /// back.
  struct Background {
    std::string from, to;  ///< names of the hosts
    double bytes = 0;
    double every = 0;  ///< seconds between starts; 0: the next starts when the last has arrived
  };
  std::vector<Background> background;

  /// Changes of the finished platform in order: a link that several match gets the product.
  std::vector<LinkChange> changes = {};
};
constexpr auto names_of(PlatformSpec::Profile::Of) {
  using enum PlatformSpec::Profile::Of;
  return std::to_array<Name<PlatformSpec::Profile::Of>>({{bandwidth, "bandwidth"}, {latency, "latency"}});
}

/// Returns whether it has lines with measured bandwidths (goodput); platform files are not examined.
bool has_goodput_lines(const PlatformSpec& platform);

/// Sets the seed from which site differences are drawn.
void draw_populations_from(std::uint64_t seed, PlatformSpec& platform);

/// Returns the host names of a declared platform in the order of construction (empty for a file).
std::vector<std::string> host_names(const PlatformSpec& platform);

/// Returns the node of each host in that order: `node-0` … in a GPU cluster, `NAME.node-0` … in a composition; any
/// other host is a node with its own name.
std::vector<std::string> nodes_of_hosts(const PlatformSpec& platform);

}  // namespace dadsim::spec
