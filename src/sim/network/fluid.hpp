#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace dadsim::sim {

/// Transfers that share links max-min fairly, each from a date of its own until its bytes are through. When some begin
/// or end, rates are worked out anew for those alone whose rates that can change: the first of them are all that share
/// a link with these, and others join as long as the rates that they have are not max-min fair any more.
class Fluid {
 public:
  /// A transfer that may be under way, once or many times, one at a time: over `links`, which it shares with others, at
  /// most at `most` byte/s. Returns its number.
  std::int32_t add(std::span<const std::int32_t> links, double most) { return add(links, {}, most); }
  /// The same for one that stands for an equivalence class, as links may: `flows` of them are on each link that one of
  /// its links stands for. No link comes twice.
  std::int32_t add(std::span<const std::int32_t> links, std::span<const double> flows, double most);
  /// Byte/s; links are numbered from 0.
  void set_capacity(std::int32_t link, double capacity);

  /// From its next beginning on, byte/s.
  void set_most(std::int32_t transfer, double most) { at(transfer).most = most; }

  /// `bytes` (above 0) of the transfer begin to move at `date`, which does not go back from call to call.
  void begin(std::int32_t transfer, double bytes, double date);
  /// When the next transfer is over, as long as none begins before: seconds, infinity if there is none.
  double next();
  /// A transfer that is over by `date`, or −1 if there is none (any more).
  std::int32_t end(double date);
  /// A transfer that is under way ends before its time.
  void stop(std::int32_t transfer);
  /// Works out the rates, after what begins and ends at `date`.
  /// Returns how many transfers it looked at.
  std::size_t share(double date);

  /// Byte/s of a transfer under way, once they have been shared.
  double rate(std::int32_t transfer) const { return at(transfer).rate; }
  /// The link that kept the transfer from going faster, −1 if none did.
  std::int32_t bottleneck(std::int32_t transfer) const { return at(transfer).bottleneck; }

 private:
  static constexpr double kAlike = 1e-9;  // relative: of rates
  static constexpr double kNone = 1e-6;   // flows: what rounding leaves of those of classes
  /// A link of a transfer.
  struct Hop {
    std::int32_t link;
    std::int32_t place;  ///< among those on the link, while it is under way
    double flows;        ///< of the transfer, on each link that this one stands for
  };
  struct FluidTransfer {
    std::size_t first = 0;           ///< of its hops, which follow one another
    std::uint32_t hops = 0;          ///< how many
    double most = 0;                 ///< byte/s
    double left = 0;                 ///< bytes, at `since`
    double since = 0;                ///< seconds
    double rate = 0, next_rate = 0;  ///< byte/s
    std::int32_t bottleneck = -1;
    std::uint32_t version = 0;  ///< of its date in `ends_`
    std::uint32_t member = 0;   ///< epoch in which its rate is worked out anew
    bool active = false;
  };
  struct OnLink {
    std::int32_t transfer;
    std::uint32_t which;  ///< of its hops this is
    double flows;
  };
  struct FluidLink {
    double capacity = 0;
    std::vector<OnLink> active;
    double left = 0;            ///< byte/s for the members that have no rate yet
    double fair = 0;            ///< byte/s of those whose bottleneck it is; negative: none
    double open = 0;            ///< flows of members that have no rate yet
    std::uint32_t touched = 0;  ///< epoch
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
  std::vector<std::int32_t> dirty_;    ///< links
  std::vector<std::int32_t> members_;  ///< transfers
  std::vector<std::int32_t> touched_;  ///< links of the members
  std::vector<std::pair<double, std::int32_t>> shares_, limited_;
  std::uint32_t epoch_ = 0;
};

}  // namespace dadsim::sim
