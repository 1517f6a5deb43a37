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

// Platforms, as whoever is outside of sim/ sees them: the catalogues of links and regions, SimGrid's units, whether a
// platform can carry a run, what is in it, and what it looks like. Nothing here needs SimGrid's headers; what builds a
// platform does so in a process of its own, since SimGrid may end the process.

namespace dadsim::sim {

// ---- catalogues ----

/// Links one can buy, by name: NVLink 1 to 5, PCIe 3 to 5, InfiniBand EDR to XDR, Ethernet 1 to 400 Gbit/s, access
/// lines. Where they come from is in each entry; what is not published (most efficiencies) says so.
const std::vector<spec::LinkSpec>& link_catalog();

/// nullptr if there is no such link.
const spec::LinkSpec* find_link(const std::string& name);

/// Share of the nominal bandwidth that the payload of large messages reaches over TCP: 1448 bytes of payload in an
/// Ethernet frame of 1514 (MTU 1500; IP and TCP headers with timestamps).
inline constexpr double kTcpEfficiency = 1448.0 / 1514.0;

/// In words, for every result: what a transport does to the nominal numbers.
std::string describe(spec::Transport transport);

/// Cloud regions with measured throughput and round-trip time between them ("aws:eu-west-1"), sorted.
const std::vector<std::string>& region_names();

/// What was measured from one region to another (direction matters); nullopt where nothing was.
std::optional<spec::WanSpec::Pair> region_pair(const std::string& from, const std::string& to);

/// "50 Mbit/s"; "450 GB/s" from 1 Tbit/s on.
std::string rate_in_words(double bytes_per_second);

/// "20 ms"
std::string seconds_in_words(double seconds);

// ---- what is in a platform ----

/// A host of a platform that has been built.
struct PlatformHost {
  std::string name;
  /// Hosts of one node have the same; numbered from 0 up without gaps, in the order of the hosts.
  std::int32_t node = 0;
};

/// The hosts of a platform: of a declared one in the order in which they are built, of a SimGrid file by name, where
/// numbers count as numbers (gpu-2 before gpu-10). Throws std::runtime_error where a
/// file cannot be loaded; a declared platform says what its hosts are, and is not built for it.
std::vector<PlatformHost> platform_hosts(const spec::PlatformSpec& platform);

/// A link of a platform that has been built; each direction of a split link is one.
struct PlatformLink {
  std::string name;
  std::string link_class;   ///< of the catalogue; may be empty
  double bandwidth = 0;     ///< byte/s, nominal
  bool is_goodput = false;  ///< it is what transfers were measured to get
};

/// Its links, named as profiles name them, in the order of their numbers. Throws as platform_hosts.
std::vector<PlatformLink> platform_links(const spec::PlatformSpec& platform);

/// A link of the route between two hosts.
struct RouteLink {
  std::string from, to;   ///< hosts
  std::string link;       ///< name
  double bandwidth = 0;   ///< byte/s, nominal
  double latency = 0;     ///< seconds
  double queue = 0;       ///< bytes in front of it (tcp)
  std::string transport;  ///< "plain", "tcp", "rdma" or "nvlink"
};

/// Of every ordered pair of different `hosts`, in their order, the links of the route in order. Throws as
/// platform_hosts, and where a host or a route is missing.
std::vector<RouteLink> platform_routes(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts);

/// Whether bandwidths, latencies or speeds change, so that a step takes a different time at another date.
bool varies_over_time(const spec::PlatformSpec& platform);

/// The paths of the files that a platform file names: profiles over time of bandwidths, latencies, speeds and states.
/// They are part of what is asked, as the platform file itself is.
std::vector<std::string> files_of_platform(const spec::PlatformSpec& platform);

/// The state profiles of a platform file: what turns its hosts and links off and on. Steps are timed as if there were
/// none; whoever simulates on the platform applies them. Throws InputError where they cannot be read.
std::vector<spec::StateProfileSpec> state_profiles(const spec::PlatformSpec& platform);

// ---- whether it can carry a run ----

struct PlatformFindings {
  std::vector<Diagnostic> file_errors;    ///< of the platform file itself
  std::vector<std::string> host_errors;   ///< per host asked for: empty, or "what; remedy"
  std::vector<std::string> route_errors;  ///< "what; remedy"
};

/// Loads or builds a platform and finds out whether it can carry the workers: hosts exist (did-you-mean), no host has
/// more workers than cores, every pair (indices into `hosts`) has a route both ways. SimGrid's own errors are passed on
/// with file and line; nothing SimGrid does can end this process.
PlatformFindings check_platform(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                                const std::vector<std::pair<std::size_t, std::size_t>>& pairs);

/// What of a platform file is passed over, each "file:line: what; why". Of a file that check_platform finds right.
std::vector<std::string> passed_over_of(const spec::PlatformSpec& platform);

/// What is to be said to whoever names a host that a platform does not have, of those that it has: which is meant, or
/// which there are, and how names with blanks are written in a list.
std::string which_host(const std::string& name, std::vector<std::string> known);

// ---- what it looks like ----

/// A platform small enough to be drawn: what there is a lot of is folded into one box.
struct Picture {
  enum class Kind { host, node, network };
  struct Box {
    std::string id;     ///< unique
    std::string label;  ///< may have several lines
    Kind kind = Kind::host;
    std::string frame;  ///< title of the frame around it; empty: none
  };
  struct Edge {
    std::string from, to;  ///< ids
    std::string label;
    std::vector<std::string> links{};  ///< of the platform, that it stands for, both directions
  };
  std::vector<Box> boxes;
  std::vector<Edge> edges;
};

/// The picture of a declared platform; empty for a file, whose hosts are not known here.
Picture draw(const spec::PlatformSpec& platform);

/// What a platform is like, as SimGrid has it once it is built. Bandwidths are nominal, byte/s; latencies seconds one
/// way.
struct PlatformReport {
  /// Links with the same numbers.
  struct LinkClass {
    std::string name;        ///< of the catalogue; empty where the platform says nothing
    std::int64_t count = 0;  ///< each direction is one
    double bandwidth = 0;
    double latency = 0;
    std::string transport;
    double efficiency = 1;
    bool operator==(const LinkClass&) const = default;
  };
  struct Route {
    std::string from, to;            ///< hosts
    std::vector<std::string> links;  ///< in order
    double bandwidth = 0;            ///< of the narrowest link
    double payload_rate = 0;         ///< byte/s: the least bandwidth × efficiency
    double latency = 0;
  };

  std::string kind;  ///< "gpu-cluster", "federation", "wan", "composition" or "file"
  std::string description;
  std::int64_t hosts = 0;
  std::int64_t nodes = 0;
  std::vector<LinkClass> links;  ///< by name, then the widest first; without the way of a host to itself
  /// The routes, of those looked at, with the most bandwidth, then the least latency; and the other way round. None if
  /// no hosts are joined.
  std::optional<Route> best, worst;
  std::int64_t routes = 0;          ///< looked at
  bool all_routes = true;           ///< between all pairs of hosts; else a sample, see `inspect_platform`
  std::int64_t routes_missing = 0;  ///< of those looked at
  /// Host i of the first half sends to host i of the second half, all at once: the sum of their rates when they share
  /// all links max-min fairly, byte/s, one direction. An upper bound of it is the bandwidth across the halves, which
  /// the routes need not reach. Nothing if it could not be found out.
  std::optional<double> bisection;
  std::int64_t bisection_pairs = 0;
  Picture picture;
};

/// Builds the platform and looks at it. Up to 256 hosts all pairs are looked at; beyond, from each of 256 hosts evenly
/// spread to those 1, 2, 4, 8 … further on, which has near ones and far ones in it. Throws std::runtime_error if the
/// platform cannot be built.
PlatformReport inspect_platform(const spec::PlatformSpec& platform);

/// A picture of it in the language of Graphviz (`dot`). With `busy_shares`, by the names of links, edges are the darker
/// and thicker the busier their busiest link is, and say so; those with no link in it stay thin and grey.
std::string to_dot(const PlatformReport& report, const std::map<std::string, double>& busy_shares = {});

}  // namespace dadsim::sim
