#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "sim/network/transport.hpp"
#include "sim/process/compat.hpp"
#include "spec/platform_specification.hpp"
#include "spec/specification.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {

/// A link of the loaded platform in one direction, as messages see it.
struct NetworkLink {
  // Members that every message needs come first, next to each other.
  double bandwidth = 0;       ///< nominal bandwidth at present, byte/s
  double bytes = 0;           ///< bytes on the wire since take_loads
  double simulated = 0;       ///< SimGrid's latency of the link, seconds, if constant
  std::int32_t messages = 0;  ///< number of messages in transfer over it now
  bool shared = true;         ///< false: a fat pipe, which gives every message its whole bandwidth
  simgrid::s4u::Link* link = nullptr;
  double latency = 0;  ///< seconds, present value
  std::string name;
  std::uint64_t kind = 0;        ///< number shared by links that differ only in their names
  LinkProperties use;            ///< properties that determine the link's use: transport, efficiency, queue, class
  std::int32_t connections = 0;  ///< tcp: connections with something under way on it
  double backlog = 0;            ///< tcp: bytes of payload sent and not through yet
  double arriving = 0;  ///< tcp in a cluster: byte/s of payload of the connections, each link by which they arrive
                        ///< counted once
  double payload_rate() const { return bandwidth * use.efficiency; }
  /// Returns whether packets that exceed the link's queue are lost. `come`: byte/s of payload from other links. A host
  /// waits for its own adapter, so no packet is lost there.
  bool drops(double come) const {
    constexpr double kMore = 1.001;  // factor within which rates count as equal
    if (use.transport != spec::Transport::tcp || use.is_goodput) return false;
    return !use.in_cluster || come > kMore * payload_rate();
  }
};

/// The path from one host to another, looked up in the platform once.
struct Path {
  std::vector<std::int32_t> links;  ///< links of the path, in order
  double latency = 0;               ///< sum of the links' latencies at present, seconds
  PathUse use;                      ///< effect of the transports on the path
  /// Highest payload rate of a transfer, byte/s. A line given by its goodput limits connections.
  double connection_rate = std::numeric_limits<double>::infinity();
  std::size_t limited_by = 0;  ///< index in `links` of the line that sets `connection_rate`
  /// Returns the seconds from end to end, without software.
  double way_seconds() const { return latency + use.overhead - use.host_software(); }
  /// Returns the payload rate of a transfer that shares its path with no other, byte/s.
  double transfer_rate() const { return std::min(use.payload_rate, connection_rate); }
  double payload = 0;  ///< bytes of payload handed over since take_loads
  const simgrid::s4u::Host* from = nullptr;
  const simgrid::s4u::Host* to = nullptr;
  std::string name() const;  ///< "a → b"; composed on request, as there may be millions of paths
};

class LinkTrace;

/// The load of a link.
struct LinkLoad {
  double payload = 0;  ///< bytes of payload
  double wire = 0;     ///< bytes on the wire
};

/// The routes and links that messages use, and their load. SimGrid shares the links.
class Interconnect {
 public:
  /// Reads the interconnect of the loaded platform. `varies`: bandwidths and latencies change over time and are read
  /// again for every message. `fallback`: transport of links without a transport property.
  ///
  /// SimGrid weighs transfers by 1 / latency of the route. Here shares are equal, and latencies belong to connections.
  /// The latencies of links are therefore noted and set to zero, except for unit_latency on the first link of a path.
  /// Latencies that change over time stay in SimGrid, and act as weights.
  Interconnect(const simgrid::s4u::Engine& engine, bool varies, spec::Transport fallback);

  /// Copies the network with these constant values of links: byte/s and seconds. For flows, which do not use SimGrid.
  struct Fixed {
    const simgrid::s4u::Link* link = nullptr;
    double bandwidth = 0, latency = 0;
  };
  Interconnect(const Interconnect& loaded, const std::vector<Fixed>& numbers);

  /// Forgets paths and links requested since `earlier` was copied from this object; their numbers are used again.
  void take_back(const Interconnect& earlier);

  /// Limits connections from now on to `window` bytes under way, and transfers to `streams` connections. Call before
  /// the first path is requested.
  void limit_connections(double window, std::int64_t streams) {
    window_ = window;
    streams_ = static_cast<double>(streams);
  }

  /// Returns the index of the path from `from` to `to`. Throws std::runtime_error if there is none.
  std::int32_t path(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to);
  /// Returns the index of a link of the platform.
  std::int32_t index_of(simgrid::s4u::Link* link) {
    const std::int32_t* known = link_index_.find(std::bit_cast<std::uintptr_t>(link));
    return known != nullptr ? *known : add(link);
  }
  const Path& operator[](std::int32_t path) const { return paths_[static_cast<std::size_t>(path)]; }
  NetworkLink& link(std::int32_t index) { return links_[static_cast<std::size_t>(index)]; }
  const NetworkLink& link(std::int32_t index) const { return links_[static_cast<std::size_t>(index)]; }
  const std::vector<NetworkLink>& links() const { return links_; }
  const std::vector<Path>& paths() const { return paths_; }

  /// Least latency of a link if SimGrid simulates latencies, seconds. SimGrid then shares links by 1 / latency, so no
  /// latency may be zero. The rounding of such sums must stay below the solver's precision, 1e-5.
  static constexpr double kTrifle = 1e-9;
  /// Returns whether bandwidths, latencies or speeds change over time.
  bool varies() const { return varies_; }

  /// Returns the path's present latency, seconds.
  double latency_now(std::int32_t path);

  /// Returns the factor for SimGrid's latency of the path, so that a transfer waits for `delay` seconds.
  double delay_factor(std::int32_t path, double delay) const;

  /// Counts a message of `payload` bytes on this path.
  void hand_over(std::int32_t path, double payload) { paths_[static_cast<std::size_t>(path)].payload += payload; }

  /// Counts a connection of the path that begins to have a message under way (join), or that has none any more (part).
  void join(std::int32_t path);
  void part(std::int32_t path);
  /// Returns a key for two consecutive links of a path.
  static std::uint64_t feed_of(std::int32_t before, std::int32_t link) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(before)) << 32U | static_cast<std::uint32_t>(link);
  }

  /// Lets a message of `bytes` (on the wire) enter every link of the path. `load` receives the number of messages on
  /// each link afterwards.
  void enter(std::int32_t path, double bytes, std::vector<std::int32_t>& load);

  /// Lets the message leave its links. Returns the link with the least bandwidth per message, the first of equals; −1
  /// if the path has no links. Messages on a link are counted when this message came and when it left; the higher
  /// number counts.
  ///
  /// `payload`: bytes of the message, which were under way since `begin`, seconds.
  std::int32_t leave(std::int32_t path, const std::vector<std::int32_t>& load, double begin, double payload);

  /// Records loads of links in `trace` from now on; nullptr: stops.
  void trace(LinkTrace* trace) { trace_ = trace; }

  /// Returns the loads per link since the last call.
  std::vector<LinkLoad> take_loads();

 private:
  std::int32_t add(simgrid::s4u::Link* link);
  void read_again(Path& path);
  void limit(Path& path) const;

  /// Traffic that reaches a link over another link.
  struct Feed {
    std::int32_t connections = 0;
    double rate = 0;  ///< byte/s of payload
  };

  bool varies_;
  spec::Transport fallback_;
  std::unordered_map<std::uint64_t, Feed> feeds_;  ///< traffic by feed_of
  double window_ = spec::NetworkSpec{}.window;     ///< window of a connection, bytes
  double streams_ = 1;
  std::unordered_map<const simgrid::s4u::Host*, std::unordered_map<const simgrid::s4u::Host*, std::int32_t>>
      path_index_;
  FlatMap<std::int32_t> link_index_;                                                 ///< index of a link, by its
                                                                                     ///< address
  std::map<std::tuple<double, double, bool, LinkProperties>, std::uint64_t> kinds_;  ///< numbers of kinds of links
  FlatMap<double> latency_of_;    ///< latency as loaded, seconds, by address of the link
  FlatMap<double> bandwidth_of_;  ///< bandwidth, byte/s, where it differs from SimGrid's, by address of the link
  std::vector<Path> paths_;
  std::vector<NetworkLink> links_;
  std::vector<PathLink> on_path_;              // reused by read_again
  std::vector<simgrid::s4u::Link*> on_route_;  // reused by path
  LinkTrace* trace_ = nullptr;
};

}  // namespace dadsim::sim
