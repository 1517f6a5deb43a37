#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sim/process/compat.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::sim {

using Links = std::vector<simgrid::s4u::Link*>;

/// A node of GPUs.
struct GpuNode {
  spec::InsideNode inside = spec::InsideNode::switched;
  spec::CollectiveLibrary library = spec::CollectiveLibrary::nccl;
  spec::GpuGeneration generation = spec::GpuGeneration::ampere;
  std::int64_t gpus = 1, rails = 1;
  bool library_is_given = false;  ///< true: the platform names the library, for any devices
  /// Payload rate of the slots that the node's GPUs share, byte/s, in and out together.
  double slots = std::numeric_limits<double>::infinity();
};

/// Paths through a cluster. Hosts are numbered from 0, in the order of host_names().
///
/// Paths are computed on request: a table would grow with the square of the number of hosts.
class ClusterNetwork {
 public:
  virtual ~ClusterNetwork() = default;
  ClusterNetwork() = default;
  ClusterNetwork(const ClusterNetwork&) = delete;
  ClusterNetwork& operator=(const ClusterNetwork&) = delete;

  virtual std::int64_t hosts() const = 0;
  /// Appends the links from one host to another, in order. The hosts must differ.
  virtual void route(std::int64_t from, std::int64_t to, Links& links) const = 0;
  /// Appends the links from a host to the border of the cluster, where lines to other clusters begin.
  virtual void leave(std::int64_t from, Links& links) const = 0;
  /// Appends the links from the border of the cluster to a host.
  virtual void enter(std::int64_t to, Links& links) const = 0;
  /// Returns the node to which a host belongs as a GPU; nullptr if the host is no GPU.
  virtual const GpuNode* gpu_node(std::int64_t /*host*/) const { return nullptr; }
  /// Returns the number of the adapter in the node that a host uses, from 0.
  virtual std::int64_t rail(std::int64_t /*host*/) const { return 0; }
  /// Returns the number of hosts along each axis of a torus of single chips, with the first axis fastest in the hosts'
  /// numbers. Empty for other clusters.
  virtual std::vector<std::int64_t> torus() const { return {}; }
};

// Builds a network of hosts and links in the zone; each kind has a function and a file. With a null zone it only checks
// the numbers, and the network has no paths. Throws std::runtime_error if the numbers do not fit.

std::unique_ptr<ClusterNetwork> make_network(simgrid::s4u::NetZone* zone, const spec::GpuClusterSpec& spec);
std::unique_ptr<ClusterNetwork> make_network(simgrid::s4u::NetZone* zone, const spec::FederationSpec& spec);
std::unique_ptr<ClusterNetwork> make_network(simgrid::s4u::NetZone* zone, const spec::WanSpec& spec);
std::unique_ptr<ClusterNetwork> make_network(simgrid::s4u::NetZone* zone, const spec::CompositionSpec& spec);

/// A full-duplex line: the links "NAME_UP" and "NAME_DOWN".
struct DuplexLink {
  simgrid::s4u::Link* up = nullptr;
  simgrid::s4u::Link* down = nullptr;
};
DuplexLink make_duplex_link(simgrid::s4u::NetZone* zone, const std::string& name, const spec::LinkSpec& spec);

/// Makes a one-way link.
simgrid::s4u::Link* make_link(simgrid::s4u::NetZone* zone, const std::string& name, const spec::LinkSpec& spec);

/// Makes the line from one place of a pair to the other.
simgrid::s4u::Link* make_link(simgrid::s4u::NetZone* zone, const std::string& name, const spec::WanSpec::Pair& pair);

/// Marks an adapter on a fabric with switches that can sum, or with AMD's library.
void mark(simgrid::s4u::NetZone* zone, simgrid::s4u::Link* link, bool adds_up, bool rccl);

/// Makes a host of nominal speed, because the worker's device determines the time of computations. Hosts of one node
/// have the same `node`.
void make_host(simgrid::s4u::NetZone* zone, const std::string& name, const std::string& node);

/// Returns "CLUSTER.name" in a composition, otherwise "name".
std::string name_in(const std::string& cluster, const std::string& name);

}  // namespace dadsim::sim
