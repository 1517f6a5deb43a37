#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spec/failure_specification.hpp"
#include "spec/platform_specification.hpp"
#include "support/diagnostics.hpp"

// Interface to platforms for code outside of sim/: the catalogues of links and regions, SimGrid's units, checks of a
// platform, its parts, and pictures. SimGrid's headers are not needed. Functions that build a platform use a separate
// process, since SimGrid may end the process.

namespace dadsim::sim {

// ---- catalogues ----

/// Returns links that can be bought, by name: NVLink 1 to 5, PCIe 3 to 5, InfiniBand EDR to XDR, Ethernet 1 to 400
/// Gbit/s, access lines. Each entry has a source; unpublished values (most efficiencies) are marked.
const std::vector<spec::LinkSpec>& link_catalog();

/// Returns the link of the catalogue with that name; nullptr if there is none.
const spec::LinkSpec* find_link(const std::string& name);

/// Share of the nominal bandwidth that the payload of large messages reaches over TCP: 1448 bytes of payload in an
/// Ethernet frame of 1514 (MTU 1500; IP and TCP headers with timestamps).
inline constexpr double kTcpEfficiency = 1448.0 / 1514.0;

/// Describes, for every result, the effect of a transport on the nominal numbers.
std::string describe(spec::Transport transport);

/// Returns the cloud regions with measured throughput and round-trip time between them ("aws:eu-west-1"), sorted.
const std::vector<std::string>& region_names();

/// Returns the measurement from one region to another (direction matters); nullopt if there is none.
std::optional<spec::WanSpec::Pair> region_pair(const std::string& from, const std::string& to);

/// Returns a bandwidth as text, for example "50 Mbit/s"; in byte/s from 1 Tbit/s on, for example "450 GB/s".
std::string rate_in_words(double bytes_per_second);

/// Returns a latency as text, for example "20 ms".
std::string seconds_in_words(double seconds);

// ---- parts of a platform ----

/// A host of a platform that has been built.
struct PlatformHost {
  std::string name;
  /// Number of the host's node. Nodes are numbered from 0 without gaps, in the order of the hosts.
  std::int32_t node = 0;
};

/// Returns the hosts of a platform. Hosts of a declared platform come in the order of building; nothing is built.
/// Hosts of a SimGrid file are ordered by name, with numbers as numbers (gpu-2 before gpu-10). Throws
/// std::runtime_error if a file cannot be loaded.
std::vector<PlatformHost> platform_hosts(const spec::PlatformSpec& platform);

/// A link of a platform that has been built; each direction of a split link is a separate link.
struct PlatformLink {
  std::string name;
  std::string link_class;   ///< name in the catalogue; may be empty
  double bandwidth = 0;     ///< nominal bandwidth, byte/s
  bool is_goodput = false;  ///< true: `bandwidth` is a measured throughput of transfers
};

/// Returns the platform's links in the order of their numbers, with the names used in profiles. Throws like
/// platform_hosts.
std::vector<PlatformLink> platform_links(const spec::PlatformSpec& platform);

/// A link of the route between two hosts.
struct RouteLink {
  std::string from, to;   ///< names of the hosts
  std::string link;       ///< name of the link
  double bandwidth = 0;   ///< byte/s, nominal
  double latency = 0;     ///< latency, seconds
  double queue = 0;       ///< bytes of the link's queue (tcp)
  std::string transport;  ///< "plain", "tcp", "rdma" or "nvlink"
};

/// Returns the links of the route of every ordered pair of different `hosts`, in their order. Throws like
/// platform_hosts, and if a host or a route is missing.
std::vector<RouteLink> platform_routes(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts);
/// Returns the links of the routes inside each group of hosts. The platform is loaded once for all groups.
std::vector<std::vector<RouteLink>> routes_inside(const spec::PlatformSpec& platform,
                                                  const std::vector<std::vector<std::string>>& groups);

/// Returns whether bandwidths, latencies or speeds change, so that a step's time depends on its date.
bool varies_over_time(const spec::PlatformSpec& platform);

/// Returns the paths of the files that a platform file names: profiles over time of bandwidths, latencies, speeds and
/// states. They are part of the input, like the platform file itself.
std::vector<std::string> files_of_platform(const spec::PlatformSpec& platform);

/// Returns the state profiles of a platform file, which turn its hosts and links off and on. Steps are timed without
/// these profiles; event-driven simulations apply them. Throws InputError if they cannot be read.
std::vector<spec::StateProfileSpec> state_profiles(const spec::PlatformSpec& platform);

// ---- checks ----

struct PlatformFindings {
  std::vector<Diagnostic> file_errors;    ///< errors of the platform file itself
  std::vector<std::string> host_errors;   ///< error of each requested host: empty, or "what; remedy"
  std::vector<std::string> route_errors;  ///< errors of routes, each "what; remedy"
};

/// Loads or builds a platform and checks that it can carry the workers. Hosts must exist (errors suggest names), no
/// host may have more workers than cores, and every pair (indices into `hosts`) needs a route both ways. SimGrid's own
/// errors are passed on with file and line; none can end this process.
PlatformFindings check_platform(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                                const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

/// Returns the ignored parts of a platform file, each "file:line: what; why". The file must pass check_platform.
std::vector<std::string> passed_over_of(const spec::PlatformSpec& platform);

/// Returns a hint for a host name that the platform lacks: the most similar name, or the known hosts, and the list
/// syntax for names with blanks.
std::string which_host(const std::string& name, std::vector<std::string> known);

// ---- pictures ----

/// A picture of a platform that is small enough to be drawn: many equal parts are drawn as one box.
struct Picture {
  enum class Kind { host, node, network };
  struct Box {
    std::string id;     ///< unique name
    std::string label;  ///< text of the box; may have several lines
    Kind kind = Kind::host;
    std::string frame;  ///< title of the frame around the box; empty: none
  };
  struct Edge {
    std::string from, to;  ///< ids of the boxes
    std::string label;
    std::vector<std::string> links{};  ///< links of the platform that the edge represents, in both directions
  };
  std::vector<Box> boxes;
  std::vector<Edge> edges;
};

/// Returns the picture of a declared platform; empty for a platform file, whose hosts are unknown here.
Picture draw(const spec::PlatformSpec& platform);

/// Description of a platform built in SimGrid. Bandwidths are nominal, byte/s; latencies are one-way, seconds.
struct PlatformReport {
  /// Links with equal properties.
  struct LinkClass {
    std::string name;        ///< name in the catalogue; empty if the platform names none
    std::int64_t count = 0;  ///< number of links; each direction counts as one
    double bandwidth = 0;
    double latency = 0;
    std::string transport;
    double efficiency = 1;
    bool operator==(const LinkClass&) const = default;
  };
  struct Route {
    std::string from, to;            ///< names of the hosts
    std::vector<std::string> links;  ///< links of the route, in order
    double bandwidth = 0;            ///< byte/s of the narrowest link
    double payload_rate = 0;         ///< byte/s: the least bandwidth × efficiency
    double latency = 0;
  };

  std::string kind;  ///< "gpu-cluster", "federation", "wan", "composition" or "file"
  std::string description;
  std::int64_t hosts = 0;
  std::int64_t nodes = 0;
  std::vector<LinkClass> links;  ///< classes of links, by name, then by bandwidth, descending; without loopbacks
  /// Best and worst of the examined routes: by most bandwidth, then by least latency. Nothing if no hosts are
  /// connected.
  std::optional<Route> best, worst;
  std::int64_t routes = 0;          ///< number of routes examined
  bool all_routes = true;           ///< true: all pairs of hosts; false: a sample, see `inspect_platform`
  std::int64_t routes_missing = 0;  ///< missing routes among those examined
  /// Sum of rates in one direction, byte/s, if host i of the first half sends to host i of the second half, all at
  /// once. Links are shared max-min fairly. The sum is at most the bandwidth across the halves, which the routes need
  /// not reach. Nothing if unknown.
  std::optional<double> bisection;
  std::int64_t bisection_pairs = 0;
  Picture picture;
};

/// Builds and examines the platform. Up to 256 hosts, all pairs are examined. With more hosts, routes from 256 evenly
/// spread hosts are examined, each to the hosts 1, 2, 4, 8 … places later. Throws std::runtime_error if the platform
/// cannot be built.
PlatformReport inspect_platform(const spec::PlatformSpec& platform);

/// Returns the report's picture in the language of Graphviz (`dot`). With `busy_shares`, by names of links, an edge is
/// darker and thicker the busier its busiest link is, and has the share as label. Edges without such a link stay thin
/// and grey.
std::string to_dot(const PlatformReport& report, const std::map<std::string, double>& busy_shares = {});

}  // namespace dadsim::sim
