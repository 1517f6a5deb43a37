#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/network/fluid.hpp"

namespace dadsim::sim {

/// Transfers that share links max-min fairly, as in SimGrid, for many sites around a hub. A beginning or end takes time
/// logarithmic in the number of transfers, while SimGrid examines all of them.
///
/// Sites have their own lines and share only the hub's line. A transfer is limited either by its own line, at a
/// constant rate, or held by the shared link. All transfers held by a link have the same rate. One number per link
/// counts the bytes that each of these has received: the virtual time of fair queueing (Demers, Keshav and Shenker,
/// SIGCOMM 1989). The order of virtual times determines which transfer ends next. Once a transfer shares two links with
/// others, rates are computed as in Fluid.
class LinkSharing {
 public:
  /// Adds a transfer over `links`, at most `most` byte/s. It can be used again, but only one transfer runs at a time.
  /// Returns its number.
  std::int32_t add(std::span<const std::int32_t> links, double most);
  /// Sets a link's capacity, byte/s; links are numbered from 0. A link that is not shared gives every transfer its
  /// whole capacity.
  void set_link(std::int32_t link, double capacity, bool shared);
  bool knows(std::int32_t link) const {
    return static_cast<std::size_t>(link) < links_.size() && links_[static_cast<std::size_t>(link)].capacity > 0;
  }

  /// Begins the transfer of `bytes` (above 0) at `date`; dates must not decrease from call to call.
  void begin(std::int32_t transfer, double bytes, double date);
  /// Stops the transfer for good, even if it is active.
  void stop(std::int32_t transfer, double date);
  /// Removes and returns the transfers that have ended by `date`, and shares the links again. Call after begin() or
  /// stop().
  std::vector<std::int32_t> settle(double date);
  /// Returns the date of the next end if nothing begins before; infinity if no transfer is active.
  double next();

 private:
  static constexpr std::int32_t kNone = -1;
  struct SharedTransfer {
    std::vector<std::int32_t> links;
    double most = std::numeric_limits<double>::infinity();  ///< limit given to add(), byte/s
    double cap = 0;              ///< least of `most` and the bandwidths of links without other users, byte/s
    std::int32_t hub = kNone;    ///< link shared with other users
    std::int32_t fluid = kNone;  ///< number of the transfer in `fluid_`
    bool active = false, held_by_hub = false;
    double left = 0, since = 0;  ///< bytes left at date `since`, if limited by its own line
    double end = 0;              ///< date of the end; if held by a hub, the hub's virtual time at the end
  };
  using Ordered = std::set<std::pair<double, std::int32_t>>;  ///< transfers ordered by a key
  struct Link {
    double capacity = 0;
    bool shared = true;
    bool is_hub = false;              ///< true: the link is in `hubs_`
    std::vector<std::int32_t> users;  ///< transfers with the link on their path
    double v = 0, at = 0;             ///< bytes received by each transfer held by this link, until date `at`
    double fair = 0;                  ///< rate of each transfer held by this link, byte/s
    double taken = 0;                 ///< rates of transfers limited by their own lines, in sum, byte/s
    Ordered held, others;             ///< active transfers, by their caps: held ones, and others
    Ordered ends;                     ///< held transfers, by virtual time of their end
  };

  SharedTransfer& at(std::int32_t number) { return transfers_[static_cast<std::size_t>(number)]; }
  Link& link(std::int32_t index) { return links_[static_cast<std::size_t>(index)]; }
  double left_of(const SharedTransfer& transfer, double date);
  void classify(SharedTransfer& transfer);
  void enter(std::int32_t number, double bytes, double date);
  void take_out(std::int32_t number, double date);
  void advance(Link& hub, double date) const;
  void hold(Link& hub, std::int32_t number, double date);
  void let_go(Link& hub, std::int32_t number, double date);
  void balance(Link& hub, double date);
  void rebuild(double date);

  std::vector<SharedTransfer> transfers_;
  std::vector<Link> links_;
  std::vector<std::int32_t> hubs_;  ///< links that have had more than one user
  std::set<std::int32_t> dirty_;    ///< hubs whose shares must be computed again
  Ordered ends_;                    ///< ends of transfers limited by their own lines, by date
  std::unique_ptr<Fluid> fluid_;    ///< set once a transfer shares two links
  std::map<std::int32_t, std::int32_t> of_fluid_;
  bool stale_ = false;  ///< true: new links are shared, so that transfers must be assigned again
};

}  // namespace dadsim::sim
