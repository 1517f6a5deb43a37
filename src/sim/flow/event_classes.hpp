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

/// Equivalence classes of the ranks, pairs (of each channel) and links of a collective: those of a class have the same
/// dates and rates throughout, and one of them stands for all.
struct EventClasses {
  struct ClassCrossing {
    std::int32_t link = 0;  ///< the first of its class
    double flows = 1;       ///< of the class of pairs, on each of these links
  };
  struct PairClass {
    collectives::Rank from = 0, to = 0;  ///< of the first
    std::int32_t arrivals = 1;           ///< pairs of the class that lead to each rank that they lead to
    std::vector<ClassCrossing> crossings;
  };

  std::vector<std::int32_t> class_of;    ///< per rank
  std::vector<collectives::Rank> first;  ///< rank, per class
  std::vector<PairClass> pairs;
  FlatMap<std::int32_t> pair_of;  ///< of the pairs that the first ranks of classes send over (or of all), by key_of
  std::vector<std::pair<std::int32_t, std::int32_t>> first_link;  ///< link, the first of its class

  static std::uint64_t key_of(collectives::Rank from, collectives::Rank to, std::int32_t channel) {
    constexpr auto kChannels = collectives::Transfer::kChannelBits;
    return (static_cast<std::uint64_t>(from) << 26U | static_cast<std::uint64_t>(to)) << kChannels |
           static_cast<std::uint64_t>(channel);
  }
  /// Whether all ranks of a class have the same date (seconds), so that the classes hold for these too.
  bool hold_for(const std::vector<double>& dates) const;
};

/// Who sends what to whom in a collective, of all rounds together, and over which links.
///
/// Classes are found by colour refinement, as in FlowPattern, here of ranks as well: ranks of a class begin at the same
/// date, and have equally many pairs of each class; pairs of a class join ranks of the same classes, over links of the
/// same classes in the same order, and carry the same messages in the same rounds; links of a class have the same
/// properties and carry equally many pairs of each class. Then by induction over the events all of a class are in the
/// same state at every date: they begin together, share links with as many of each class, get the same max-min rates,
/// and end together.
class MessageGraph {
 public:
  static constexpr std::size_t kMostPairs = 6'000'000;  ///< that are kept, some 60 bytes each
  MessageGraph(const collectives::Rounds& rounds, FlowRoutes& routes, Interconnect& network,
               const std::vector<simgrid::s4u::Host*>& hosts);

  /// For ranks that begin at these dates, seconds. Nothing where few are alike. `of_all`: with the class of each pair.
  std::optional<EventClasses> classes(const std::vector<double>& dates, bool of_all = false) const;

  /// Whether packets may be lost at a link of TCP: were all pairs under way together, or where these are too many.
  bool may_lose() const;

 private:
  struct ClassPair {
    collectives::Rank from = 0, to = 0;
    std::int32_t channel = 0;
    std::uint64_t messages = 0;  ///< colour of what it carries, and when
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
  std::vector<std::size_t> offsets_;  ///< per pair, where its links begin; and their end
  std::vector<std::int32_t> links_;
};

}  // namespace dadsim::sim
