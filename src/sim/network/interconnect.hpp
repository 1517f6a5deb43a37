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

/// A link of the loaded platform in one direction, as used by messages.
struct NetworkLink {
  // Members needed for every message come first, to share a cache line.
  double bandwidth = 0;       ///< nominal bandwidth at present, byte/s
  double bytes = 0;           ///< bytes on the wire since take_loads
  double simulated = 0;       ///< constant latency of the link in SimGrid, seconds
  std::int32_t messages = 0;  ///< number of messages being transferred over it
  bool shared = true;         ///< false: a fat pipe, which gives every message its whole bandwidth
  simgrid::s4u::Link* link = nullptr;
  double latency = 0;  ///< present latency, seconds
  std::string name;
  std::uint64_t kind = 0;        ///< number shared by links that are equal except for their names
  LinkProperties use;            ///< properties that determine the link's use: transport, efficiency, queue, class
  std::int32_t connections = 0;  ///< tcp: connections with a message in flight on it
  double backlog = 0;            ///< tcp: payload sent and not yet transferred, bytes
  double arriving = 0;  ///< tcp in a cluster: sum of the payload rates of the links by which connections arrive, byte/s
  double payload_rate() const { return bandwidth * use.efficiency; }
  /// Returns whether packets that exceed the link's queue are lost. `come`: payload rate of the links that lead to it,
  /// byte/s. A host waits for its own adapter, so that no packet is lost there.
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
  /// Highest payload rate of a transfer, byte/s; limited by lines that are given by their goodput.
  double connection_rate = std::numeric_limits<double>::infinity();
  std::size_t limited_by = 0;  ///< index in `links` of the line that sets `connection_rate`
  /// Returns the seconds from end to end, without software and transfer.
  double way_seconds() const { return latency + use.overhead - use.host_software(); }
  /// Returns the payload rate of a transfer without other transfers on its path, byte/s.
  double transfer_rate() const { return std::min(use.payload_rate, connection_rate); }
  double payload = 0;  ///< payload sent since take_loads, bytes
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

/// Routes and links that messages use, and their load. SimGrid shares the links.
class Interconnect {
 public:
  /// Reads the interconnect of the loaded platform. `varies`: bandwidths and latencies change over time and are read
  /// again for every message. `fallback`: transport of links without a transport property.
  ///
  /// SimGrid weighs transfers by 1 / latency of the route, but here shares are equal and connections add the latencies.
  /// The latencies of links are therefore noted and set to zero, except for kUnitLatency on the first link of a path.
  /// Latencies that change over time stay in SimGrid, and act as weights.
  Interconnect(const simgrid::s4u::Engine& engine, bool varies, spec::Transport fallback);

  /// Copies the network with constant values of links (byte/s and seconds), for flows, which do not use SimGrid.
  struct Fixed {
    const simgrid::s4u::Link* link = nullptr;
    double bandwidth = 0, latency = 0;
  };
  Interconnect(const Interconnect& loaded, const std::vector<Fixed>& numbers);

  /// Forgets paths and links requested since `earlier` was copied from this object; later ones get their numbers.
  void take_back(const Interconnect& earlier);

  /// Limits connections from now on to `window` bytes in flight, and transfers to `streams` connections. Call before
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

  /// Least latency of a link if SimGrid simulates latencies, seconds. SimGrid then shares links by 1 / latency, so that
  /// no latency may be zero. Sums of such latencies must round by less than the solver's precision, 1e-5.
  static constexpr double kTrifle = 1e-9;
  /// Returns whether bandwidths, latencies or speeds change over time.
  bool varies() const { return varies_; }

  /// Returns the path's present latency, seconds.
  double latency_now(std::int32_t path);

  /// Returns the factor on SimGrid's latency of the path that makes a transfer wait for `delay` seconds.
  double delay_factor(std::int32_t path, double delay) const;

  /// Counts a message of `payload` bytes on this path.
  void hand_over(std::int32_t path, double payload) { paths_[static_cast<std::size_t>(path)].payload += payload; }

  /// Counts a connection of the path when it begins to have a message in flight (join), and when it has none any more
  /// (part).
  void join(std::int32_t path);
  void part(std::int32_t path);
  /// Returns a key for two consecutive links of a path.
  static std::uint64_t feed_of(std::int32_t before, std::int32_t link) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(before)) << 32U | static_cast<std::uint32_t>(link);
  }

  /// Lets a message of `bytes` (on the wire) enter every link of the path. `load` receives the number of messages on
  /// each link afterwards.
  void enter(std::int32_t path, double bytes, std::vector<std::int32_t>& load);

  /// Removes the message from its links. Returns the link with the least bandwidth per message, the first of equals; −1
  /// if the path has no links. Messages on a link are counted when this message entered and when it left; the higher
  /// number is used.
  ///
  /// `payload`: bytes of the message, in flight since `begin`, seconds.
  std::int32_t leave(std::int32_t path, const std::vector<std::int32_t>& load, double begin, double payload);

  /// Records loads of links in `trace` from now on; nullptr: stops.
  void trace(LinkTrace* trace) { trace_ = trace; }

  /// Returns the loads per link since the last call, and resets them.
  std::vector<LinkLoad> take_loads();

 private:
  std::int32_t add(simgrid::s4u::Link* link);
  void read_again(Path& path);
  void limit(Path& path) const;

  /// Traffic that arrives at a link from another link.
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
