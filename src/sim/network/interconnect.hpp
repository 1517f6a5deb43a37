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
  // What every message asks for comes first, beside each other.
  double bandwidth = 0;       ///< byte/s, nominal, now
  double bytes = 0;           ///< of the wire, carried since take_loads
  double simulated = 0;       ///< seconds: the latency that SimGrid has for it, where that does not change over time
  std::int32_t messages = 0;  ///< being transferred over it now
  bool shared = true;         ///< a fat pipe gives every message its whole bandwidth
  simgrid::s4u::Link* link = nullptr;
  double latency = 0;  ///< seconds, now
  std::string name;
  std::uint64_t kind = 0;        ///< the same for links that are the same but for their names
  LinkProperties use;            ///< transport, efficiency, queue, class
  std::int32_t connections = 0;  ///< tcp: that have something under way on it
  double backlog = 0;            ///< tcp: bytes of payload sent and not yet through
  double arriving = 0;  ///< tcp in a cluster: byte/s of payload of the links that connections on it come by, each once
  double payload_rate() const { return bandwidth * use.efficiency; }
  /// Whether what the queue in front of it does not hold is lost, where so many bytes of payload a second come by other
  /// links: a host's own adapter lets the host wait.
  bool drops(double come) const {
    constexpr double kMore = 1.001;  // rates within this factor count as equal
    if (use.transport != spec::Transport::tcp || use.is_goodput) return false;
    return !use.in_cluster || come > kMore * payload_rate();
  }
};

/// The way from one host to another, looked up in the platform once.
struct Path {
  std::vector<std::int32_t> links;  ///< in order
  double latency = 0;               ///< seconds, of the links, now
  PathUse use;                      ///< what the transports make of it
  /// Byte/s of payload that a transfer gets at most, since its connections get no more of a line given by its goodput.
  double connection_rate = std::numeric_limits<double>::infinity();
  std::size_t limited_by = 0;  ///< of `links`, the one that says so
  /// Seconds from one end to the other, without what software takes.
  double way_seconds() const { return latency + use.overhead - use.host_software(); }
  /// Byte/s of payload of a transfer that is alone.
  double transfer_rate() const { return std::min(use.payload_rate, connection_rate); }
  double payload = 0;  ///< bytes handed over since take_loads
  const simgrid::s4u::Host* from = nullptr;
  const simgrid::s4u::Host* to = nullptr;
  std::string name() const;  ///< "a → b": put together for those that ask, as there may be millions of paths
};

class LinkTrace;

/// What a link has carried.
struct LinkLoad {
  double payload = 0;  ///< bytes
  double wire = 0;     ///< bytes
};

/// The routes and links that messages use, and what is on them. The sharing itself is SimGrid's.
class Interconnect {
 public:
  /// The interconnect of the loaded platform. `varies`: bandwidths and latencies change while time passes, and are read
  /// again for every message. `fallback`: how links without a transport property are used.
  ///
  /// SimGrid weighs transfers by 1 / latency of the route; here shares are to be equal, and latencies are a matter of
  /// the connections. So the links' latencies are noted and set to zero, but for unit_latency on the first link of a
  /// path. Where latencies change over time they stay with SimGrid, and weigh.
  Interconnect(const simgrid::s4u::Engine& engine, bool varies, spec::Transport fallback);

  /// The same network where links have these numbers, for good: byte/s and seconds. For flows, which ask SimGrid
  /// nothing.
  struct Fixed {
    const simgrid::s4u::Link* link = nullptr;
    double bandwidth = 0, latency = 0;
  };
  Interconnect(const Interconnect& loaded, const std::vector<Fixed>& numbers);

  /// Forgets what was asked for since `earlier` was copied from this: paths and links are numbered again from there.
  void take_back(const Interconnect& earlier);

  /// From now on a connection has `window` bytes under way at most, and a transfer `streams` of them; to be said before
  /// the first path is asked for.
  void limit_connections(double window, std::int64_t streams) {
    window_ = window;
    streams_ = static_cast<double>(streams);
  }

  /// Index of the path from `from` to `to`. Throws std::runtime_error if there is none.
  std::int32_t path(const simgrid::s4u::Host* from, const simgrid::s4u::Host* to);
  /// Index of a link of the platform.
  std::int32_t index_of(simgrid::s4u::Link* link) {
    const std::int32_t* known = link_index_.find(std::bit_cast<std::uintptr_t>(link));
    return known != nullptr ? *known : add(link);
  }
  const Path& operator[](std::int32_t path) const { return paths_[static_cast<std::size_t>(path)]; }
  NetworkLink& link(std::int32_t index) { return links_[static_cast<std::size_t>(index)]; }
  const NetworkLink& link(std::int32_t index) const { return links_[static_cast<std::size_t>(index)]; }
  const std::vector<NetworkLink>& links() const { return links_; }
  const std::vector<Path>& paths() const { return paths_; }

  /// Seconds: where latencies stay with SimGrid none may be zero. Transfers share links by 1 / latency there, and what
  /// rounding leaves of sums of these has to stay below the precision of its solver, 1e-5.
  static constexpr double kTrifle = 1e-9;
  /// Whether bandwidths, latencies or speeds change while time passes.
  bool varies() const { return varies_; }

  /// Latency of the path as it is now, seconds.
  double latency_now(std::int32_t path);

  /// What SimGrid has to multiply the latency of the path with, so that a transfer waits for `delay` seconds.
  double delay_factor(std::int32_t path, double delay) const;

  /// A message of `payload` bytes takes this path.
  void hand_over(std::int32_t path, double payload) { paths_[static_cast<std::size_t>(path)].payload += payload; }

  /// A connection of the path comes to have something under way; it has nothing more.
  void join(std::int32_t path);
  void part(std::int32_t path);
  /// Names the way from one link to the next.
  static std::uint64_t feed_of(std::int32_t before, std::int32_t link) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(before)) << 32U | static_cast<std::uint32_t>(link);
  }

  /// A message of `bytes` (of the wire) enters every link of the path. `load` gets how many messages each of them then
  /// carries.
  void enter(std::int32_t path, double bytes, std::vector<std::int32_t>& load);

  /// It leaves again. The index of the link with the least bandwidth per message, counting the messages on it when this
  /// one came or went, whichever are more; the first of equals; -1 if the path has no links.
  ///
  /// `payload` bytes of it were under way since `begin`, seconds.
  std::int32_t leave(std::int32_t path, const std::vector<std::int32_t>& load, double begin, double payload);

  /// From now on what links carry is taken down; nullptr: no longer.
  void trace(LinkTrace* trace) { trace_ = trace; }

  /// What messages have carried since this was last asked, per link.
  std::vector<LinkLoad> take_loads();

 private:
  std::int32_t add(simgrid::s4u::Link* link);
  void read_again(Path& path);
  void limit(Path& path) const;

  /// What comes to a link by another.
  struct Feed {
    std::int32_t connections = 0;
    double rate = 0;  ///< byte/s of payload
  };

  bool varies_;
  spec::Transport fallback_;
  std::unordered_map<std::uint64_t, Feed> feeds_;  ///< by feed_of
  double window_ = spec::NetworkSpec{}.window;     ///< bytes
  double streams_ = 1;
  std::unordered_map<const simgrid::s4u::Host*, std::unordered_map<const simgrid::s4u::Host*, std::int32_t>>
      path_index_;
  FlatMap<std::int32_t> link_index_;                                                 ///< by address
  std::map<std::tuple<double, double, bool, LinkProperties>, std::uint64_t> kinds_;  ///< of links
  FlatMap<double> latency_of_;    ///< of links, by address: seconds, as loaded
  FlatMap<double> bandwidth_of_;  ///< likewise, where it is not SimGrid's: byte/s
  std::vector<Path> paths_;
  std::vector<NetworkLink> links_;
  std::vector<PathLink> on_path_;              // memory of read_again
  std::vector<simgrid::s4u::Link*> on_route_;  // and of path
  LinkTrace* trace_ = nullptr;
};

}  // namespace dadsim::sim
