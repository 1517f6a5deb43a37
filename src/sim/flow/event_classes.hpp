#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/flow/flow_routes.hpp"
#include "sim/network/interconnect.hpp"
#include "support/flat_map.hpp"

namespace dadsim::sim {

/// Equivalence classes of the ranks, pairs (of each channel) and links of a collective. Members of a class have equal
/// dates and rates throughout, so that the first member represents all.
struct EventClasses {
  struct ClassCrossing {
    std::int32_t link = 0;  ///< first link of its class
    double flows = 1;       ///< flows of the class of pairs on each link of the link's class
  };
  struct PairClass {
    collectives::Rank from = 0, to = 0;  ///< ranks of the first pair
    std::int32_t arrivals = 1;           ///< pairs of the class that lead to each receiver
    std::vector<ClassCrossing> crossings;
  };

  std::vector<std::int32_t> class_of;    ///< class of each rank
  std::vector<collectives::Rank> first;  ///< first rank of each class
  std::vector<PairClass> pairs;
  FlatMap<std::int32_t> pair_of;  ///< class of each pair whose sender is the first rank of its class (or of every
                                  ///< pair), by key_of
  std::vector<std::pair<std::int32_t, std::int32_t>> first_link;  ///< link, first link of its class

  static std::uint64_t key_of(collectives::Rank from, collectives::Rank to, std::int32_t channel) {
    constexpr auto kChannels = collectives::Transfer::kChannelBits;
    return (static_cast<std::uint64_t>(from) << 26U | static_cast<std::uint64_t>(to)) << kChannels |
           static_cast<std::uint64_t>(channel);
  }
  /// Returns whether all ranks of each class have the same date (seconds), so that the classes are valid for these
  /// dates too.
  bool hold_for(const std::vector<double>& dates) const;
};

/// The messages of a collective: senders, receivers, sizes and links, of all rounds together.
///
/// Finds classes by colour refinement, as in FlowPattern, but for ranks as well. Ranks of a class begin at the same
/// date and have equally many pairs of each class. Pairs of a class connect ranks of the same classes, over links of
/// the same classes in the same order. They carry the same messages in the same rounds. Links of a class have the same
/// properties and carry equally many pairs of each class. By induction over the events, all members of a class are in
/// the same state at every date. They begin together, share links with equally many members of each class, get the same
/// max-min rates and end together.
class MessageGraph {
 public:
  static constexpr std::size_t kMostPairs = 6'000'000;  ///< largest number of pairs kept; each takes some 60 bytes
  MessageGraph(const collectives::Rounds& rounds, FlowRoutes& routes, Interconnect& network,
               const std::vector<simgrid::s4u::Host*>& hosts);

  /// Returns the classes for ranks that begin at these dates, seconds; nothing if few ranks are equivalent. `of_all`:
  /// includes the class of every pair.
  std::optional<EventClasses> classes(const std::vector<double>& dates, bool of_all = false) const;

  /// Returns whether packets might be lost at a TCP link if all pairs were in flight together. Also true if there are
  /// too many pairs to know.
  bool may_lose() const;

 private:
  struct ClassPair {
    collectives::Rank from = 0, to = 0;
    std::int32_t channel = 0;
    std::uint64_t messages = 0;  ///< colour of the pair's messages and their rounds
  };
  std::span<const std::int32_t> way(std::size_t pair) const {
    return std::span(links_).subspan(offsets_[pair], offsets_[pair + 1] - offsets_[pair]);
  }
  EventClasses settled(const std::vector<std::uint64_t>& of_ranks, const std::vector<std::uint64_t>& of_links,
                       const std::vector<std::uint64_t>& of_pairs, bool of_all) const;

  const Interconnect& network_;
  std::size_t ranks_ = 0;
  bool is_complete_ = true;
  std::vector<ClassPair> pairs_;
  std::vector<std::size_t> offsets_;  ///< index in `links_` of each pair's first link, and the end of the last pair
  std::vector<std::int32_t> links_;
};

}  // namespace dadsim::sim
