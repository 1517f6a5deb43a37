#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace dadsim::sim {

/// Transfers that share links max-min fairly. Each begins at its own date and ends when its bytes have been
/// transferred. When transfers begin or end, only rates that can change are computed again. The transfers that share a
/// link with them are the first members of that set. Others join while their rates are no longer max-min fair.
class Fluid {
 public:
  /// Adds a transfer over `links`, shared with others, at most `most` byte/s. It may run repeatedly, but only once at a
  /// time. Returns its number.
  std::int32_t add(std::span<const std::int32_t> links, double most) { return add(links, {}, most); }
  /// Adds a transfer that represents an equivalence class of transfers. Links may represent classes too: each link of a
  /// class carries `flows` transfers of this class. No link may occur twice.
  std::int32_t add(std::span<const std::int32_t> links, std::span<const double> flows, double most);
  /// Sets a link's capacity, byte/s; links are numbered from 0.
  void set_capacity(std::int32_t link, double capacity);

  /// Sets the limit of the transfer's rate, byte/s. Call before the transfer begins.
  void set_most(std::int32_t transfer, double most) { at(transfer).most = most; }

  /// Begins a transfer of `bytes` (above 0) at `date`, which must not decrease from call to call.
  void begin(std::int32_t transfer, double bytes, double date);
  /// Returns when the next transfer ends if none begins before, seconds; infinity if there is none.
  double next();
  /// Stops and returns a transfer that has ended by `date`; −1 if none is left.
  std::int32_t end(double date);
  /// Stops an active transfer.
  void stop(std::int32_t transfer);
  /// Computes the rates after the beginnings and ends at `date`. Returns the number of transfers examined.
  std::size_t share(double date);

  /// Returns the rate of an active transfer, byte/s, after share().
  double rate(std::int32_t transfer) const { return at(transfer).rate; }
  /// Returns the link that limits the transfer; −1 if there is none.
  std::int32_t bottleneck(std::int32_t transfer) const { return at(transfer).bottleneck; }

 private:
  static constexpr double kAlike = 1e-9;  // relative difference of equal rates
  static constexpr double kNone = 1e-6;   // number of flows that may remain by rounding, for classes
  /// A link of a transfer.
  struct Hop {
    std::int32_t link;
    std::int32_t place;  ///< place among the transfers on the link, while active
    double flows;        ///< number of the class's flows on each link of the link's class
  };
  struct FluidTransfer {
    std::size_t first = 0;           ///< first of its hops, which are consecutive
    std::uint32_t hops = 0;          ///< number of its hops
    double most = 0;                 ///< limit of the rate, byte/s
    double left = 0;                 ///< bytes left at `since`
    double since = 0;                ///< date, seconds
    double rate = 0, next_rate = 0;  ///< present rate, and rate being computed, byte/s
    std::int32_t bottleneck = -1;
    std::uint32_t version = 0;  ///< version of the transfer's entry in `ends_`; entries with other versions are
                                ///< obsolete
    std::uint32_t member = 0;   ///< last epoch in which the transfer was a member
    bool active = false;
  };
  struct OnLink {
    std::int32_t transfer;
    std::uint32_t which;  ///< index among the transfer's hops
    double flows;
  };
  struct FluidLink {
    double capacity = 0;
    std::vector<OnLink> active;
    double left = 0;            ///< byte/s left for the members without a rate
    double fair = 0;            ///< rate of each transfer whose bottleneck is this link, byte/s; negative: none
    double open = 0;            ///< number of flows of members without a rate yet
    std::uint32_t touched = 0;  ///< epoch in which the link was last used by a member
    bool dirty = false;
  };
  struct TransferEnd {
    double date;  ///< seconds
    std::int32_t transfer;
    std::uint32_t version;
    bool operator>(const TransferEnd& other) const {
      return date > other.date || (date == other.date && transfer > other.transfer);
    }
  };

  FluidTransfer& at(std::int32_t transfer) { return transfers_[static_cast<std::size_t>(transfer)]; }
  const FluidTransfer& at(std::int32_t transfer) const { return transfers_[static_cast<std::size_t>(transfer)]; }
  FluidLink& link(std::int32_t index) { return links_[static_cast<std::size_t>(index)]; }
  std::span<Hop> hops_of(const FluidTransfer& transfer) {
    return std::span(hops_).subspan(transfer.first, transfer.hops);
  }
  void soil(const FluidTransfer& transfer);
  void join(std::int32_t transfer);
  void fill();
  bool fill_alone(FluidTransfer& transfer);
  void fix(FluidTransfer& transfer, double rate, std::int32_t bottleneck);
  void complete();

  std::vector<FluidTransfer> transfers_;
  std::vector<Hop> hops_;
  std::vector<FluidLink> links_;
  std::priority_queue<TransferEnd, std::vector<TransferEnd>, std::greater<>> ends_;
  std::vector<std::int32_t> dirty_;    ///< links whose rates must be computed again
  std::vector<std::int32_t> members_;  ///< transfers whose rates are computed again
  std::vector<std::int32_t> touched_;  ///< links of the members
  std::vector<std::pair<double, std::int32_t>> shares_, limited_;
  std::uint32_t epoch_ = 0;
};

}  // namespace dadsim::sim
