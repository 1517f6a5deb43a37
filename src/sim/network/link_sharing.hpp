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

/// Transfers that share links max-min fairly, as SimGrid would share them, for many around a hub: what begins or ends
/// takes time that grows with the logarithm of their number, where SimGrid looks at all of them.
///
/// Sites have lines of their own and meet at the hub alone. A transfer is then either held by its own line, and goes on
/// at its rate, or by the link that it shares, of which all that are held there have the same rate. What each of these
/// has got since the beginning is one number per link (the virtual time of fair queueing: Demers, Keshav and Shenker,
/// SIGCOMM 1989), and who is through next follows from the order of those numbers. Where a transfer comes to share two
/// links with others, rates are worked out as in Fluid.
class LinkSharing {
 public:
  /// A transfer that may be under way, one at a time: over `links`, at most at `most` byte/s. Returns its number.
  std::int32_t add(std::span<const std::int32_t> links, double most);
  /// Byte/s; links are numbered from 0. A link that is not shared gives everyone all of it.
  void set_link(std::int32_t link, double capacity, bool shared);
  bool knows(std::int32_t link) const {
    return static_cast<std::size_t>(link) < links_.size() && links_[static_cast<std::size_t>(link)].capacity > 0;
  }

  /// `bytes` (above 0) begin to move at `date`; dates do not go back from call to call.
  void begin(std::int32_t transfer, double bytes, double date);
  /// It ends before its time, if it is under way, and will not begin again.
  void stop(std::int32_t transfer, double date);
  /// Those that are over by `date` are taken out, and the others share anew. To be called after what begins or stops.
  std::vector<std::int32_t> settle(double date);
  /// When the next is over, as long as nothing begins before; infinity if nothing is under way.
  double next();

 private:
  static constexpr std::int32_t kNone = -1;
  struct Transfer {
    std::vector<std::int32_t> links;
    double most = std::numeric_limits<double>::infinity();  ///< byte/s that it was given
    double cap = 0;              ///< byte/s: the least of that and of the links that nobody else uses
    std::int32_t hub = kNone;    ///< the link that others use too
    std::int32_t fluid = kNone;  ///< its number there
    bool active = false, held_by_hub = false;
    double left = 0, since = 0;  ///< bytes at a date, of one that is held by its own line
    double end = 0;              ///< its date, or the virtual time of the hub at which it is through
  };
  using Ordered = std::set<std::pair<double, std::int32_t>>;  ///< a number that counts, transfer
  struct Link {
    double capacity = 0;
    bool shared = true;
    bool is_hub = false;              ///< is in hubs_
    std::vector<std::int32_t> users;  ///< transfers that have it on their way
    double v = 0, at = 0;             ///< bytes that each that is held here has got, until that date
    double fair = 0;                  ///< byte/s of these
    double taken = 0;                 ///< byte/s of those that their own lines hold
    Ordered held, others;             ///< under way, by their caps
    Ordered ends;                     ///< of those that are held, by the virtual time
  };

  Transfer& at(std::int32_t number) { return transfers_[static_cast<std::size_t>(number)]; }
  Link& link(std::int32_t index) { return links_[static_cast<std::size_t>(index)]; }
  double left_of(const Transfer& transfer, double date);
  void classify(Transfer& transfer);
  void enter(std::int32_t number, double bytes, double date);
  void take_out(std::int32_t number, double date);
  void advance(Link& hub, double date) const;
  void hold(Link& hub, std::int32_t number, double date);
  void let_go(Link& hub, std::int32_t number, double date);
  void balance(Link& hub, double date);
  void rebuild(double date);

  std::vector<Transfer> transfers_;
  std::vector<Link> links_;
  std::vector<std::int32_t> hubs_;  ///< links that have had several users
  std::set<std::int32_t> dirty_;    ///< hubs whose shares change
  Ordered ends_;                    ///< dates, of those that are held by their own lines
  std::unique_ptr<Fluid> fluid_;    ///< once a transfer shares two links
  std::map<std::int32_t, std::int32_t> of_fluid_;
  bool stale_ = false;  ///< links have come to be shared
};

}  // namespace dadsim::sim
