#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "spec/platform_specification.hpp"
#include "step/step.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::collectives {

/// Node of each rank, and costs of the networks inside and between nodes, read from the platform.
struct RankLayout {
  std::vector<std::int32_t> node_of;  ///< node of each rank; numbers from 0 without gaps
  struct Channel {
    double latency = 0;    ///< seconds of an empty message
    double bandwidth = 1;  ///< byte/s of a pair without competition
    /// Seconds of an empty message with the full-bandwidth protocol (NCCL's Simple); 0: equals `latency`. Messages with
    /// `latency` reach half of the bandwidth (LL).
    double bulk_latency = 0;
    double ll128_latency = 0;  ///< seconds of an empty message with LL128; 0: the path has no LL128
    /// Returns the seconds of a message of `bytes` without competing traffic.
    double seconds(double bytes, Protocol protocol = Protocol::by_message) const;
    /// Returns the part of `seconds` that grows with the bytes.
    double transfer(double bytes, Protocol protocol = Protocol::by_message) const;
    bool operator==(const Channel&) const = default;
  };
  Channel inside, between;      ///< networks within a node and between nodes; equal if every node has one rank
  bool switch_adds_up = false;  ///< true: a node's switch can sum and multicast (NVLink SHARP)
  bool meshed_nodes = false;    ///< true: every pair in a node has its own link, described by `inside`
  bool fabric_adds_up = false;  ///< true: switches between the nodes can sum (InfiniBand SHARP)
  Rank rails = 0;               ///< adapters through which the ranks of a node send; 0: unknown
  double tree_latency = 0;      ///< additional seconds per hop between nodes in a tree, compared with a ring
  double start_seconds = 0;     ///< seconds from the call to the first message: kernel start and the library's own work
  spec::CollectiveLibrary library = spec::CollectiveLibrary::mpi;
  spec::GpuGeneration generation = spec::GpuGeneration::ampere;  ///< generation of the ranks' NVIDIA GPUs
  bool nvlink_inside = false;                                    ///< true: NVLink connects the GPUs of a node
  double adapter_bandwidth = 0;            ///< byte/s of one adapter according to its name, which libraries read
  bool over_sockets = false;               ///< true: TCP between nodes
  std::vector<std::int32_t> rail_of = {};  ///< per rank, its adapter in the node; empty: unknown
  std::vector<Rank> ring_order = {};       ///< order of peers for a ring of fast pairs over a WAN; empty: unknown
  /// Lengths of the axes of a torus of single chips, in ranks; consecutive ranks lie along the first axis. Empty: none.
  std::vector<Rank> torus = {};
  bool operator==(const RankLayout&) const = default;

  /// Returns whether ranks are GPUs under NCCL or RCCL.
  bool of_gpus() const { return library == spec::CollectiveLibrary::nccl || library == spec::CollectiveLibrary::rccl; }
  Rank ranks() const { return static_cast<Rank>(node_of.size()); }
  Rank nodes() const;
  /// Returns true for several nodes with the same number of ranks, above one, numbered node by node.
  bool is_hierarchical() const;
  /// Returns true if every rank has its own node.
  bool is_one_rank_per_node() const { return nodes() == ranks(); }
  Rank ranks_per_node() const;  ///< ranks of the first node
};

/// Returns the ranks along each axis of a torus of `sizes` (the first axis varies fastest) if `places` form a grid in
/// the torus's order: all places, a slice, or a regular stride along an axis. Otherwise returns none.
std::vector<Rank> grid_within(const std::vector<std::int64_t>& sizes, const std::vector<std::int64_t>& places);

/// Request for a collective.
struct CollectiveRequest {
  step::CollectiveKind kind = step::CollectiveKind::all_reduce;
  /// Bytes per rank; one value if all are equal. all_reduce, reduce_scatter, broadcast: the whole vector (one value).
  /// all_gather, gather: the rank's own block. scatter: the block that each rank gets. all_to_all: bytes to each other
  /// rank. neighbour_exchange: bytes to each neighbour.
  std::vector<double> bytes;
  Rank root = 0;                              ///< root of gather, scatter, broadcast, and of algorithms through a
                                              ///< server
  double segment_bytes = 0;                   ///< pipelined algorithms: bytes of a segment; 0: the algorithm chooses
  std::vector<std::vector<Rank>> neighbours;  ///< neighbour_exchange: neighbours of each rank, symmetric
  /// Protocol of the messages; by_message: as the ranks' library chooses.
  Protocol protocol = Protocol::by_message;
  bool beside_kernels = false;  ///< true: the ranks compute at the same time
};

/// Registered algorithm, as listings show it.
struct CollectiveAlgorithm {
  step::CollectiveKind kind = step::CollectiveKind::all_reduce;
  std::string name;         ///< name, for example "ring"
  std::string description;  ///< description in one line
  std::string source;       ///< paper or library of the algorithm
};

/// Returns all algorithms, by kind. Each has one file in this folder and one line in the registry.
const std::vector<CollectiveAlgorithm>& collective_registry();

/// Returns the registered algorithms that the ranks' network supports, in order. Some need switches that can sum.
std::vector<std::string> fitting_algorithms(const CollectiveRequest& request, const RankLayout& layout);

/// Error: an algorithm cannot carry out a collective among these ranks. what(): "all-reduce: …; …".
class RefusedCollective : public std::invalid_argument {
 public:
  RefusedCollective(step::CollectiveKind kind, Fault fault)
      : std::invalid_argument(std::string(to_string(kind)) + ": " + fault.what + "; " + fault.remedy),
        fault_(std::move(fault)) {}
  const Fault& fault() const { return fault_; }

 private:
  Fault fault_;
};

/// Returns the reason why an algorithm of the registry cannot serve the request among these ranks; nothing if it can.
std::optional<Fault> fault_of(const CollectiveRequest& request, std::string_view algorithm, const RankLayout& layout);

/// Lays out an algorithm of the registry by name. "auto": see choose_collective(); "best" needs a simulation, and is
/// treated as "auto". Throws RefusedCollective if the kind has no such algorithm, or if the algorithm cannot serve
/// these ranks.
std::unique_ptr<Rounds> lay_out(const CollectiveRequest& request, std::string_view algorithm, const RankLayout& layout);

/// An algorithm of a library, with one of its protocols.
struct CollectiveChoice {
  std::string algorithm;
  Protocol protocol = Protocol::by_message;
  double seconds = 0;  ///< library's own estimate; libraries with thresholds: 0 for the chosen algorithm, 1 for others
  std::string setting = {};  ///< environment variable that forces this choice
};

/// Returns the choices of the ranks' library for the request, in order of preference. `auto` takes the fastest; on a
/// tie, the first. A library with thresholds has one choice.
std::vector<CollectiveChoice> library_choices(const CollectiveRequest& request, const RankLayout& layout);

/// Returns the algorithm for `auto`: the choice of the ranks' library.
std::string choose_collective(const CollectiveRequest& request, const RankLayout& layout);

/// Returns the protocol that the ranks' library uses with an algorithm; by_message if the library lacks the algorithm.
Protocol choose_protocol(const CollectiveRequest& request, std::string_view algorithm, const RankLayout& layout);

}  // namespace dadsim::collectives
