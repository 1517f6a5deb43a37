#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/flow/flow_pattern.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Messages that a pair may have in line on a connection; more are not looked at.
inline constexpr std::int64_t kManyInLine = 128;

/// The message of each pair of a class in a round.
struct RoundFlow {
  collectives::Rank from = 0, to = 0;  ///< of the first; rank · lanes + lane
  double bytes = 0;                    ///< payload
  std::int32_t path = 0;
  double share = 1;       ///< of the path's bandwidth that it gets at most
  double wire_bytes = 0;  ///< to transfer
  double before = 0;      ///< seconds from sending to the transfer, if nothing of the pair is on its way
  bool beside = false;    ///< tcp: what comes before a transfer goes on beside the transfer before it
  double in_turn = 0;     ///< tcp: seconds until what leaves the host before it has left
  double post = 0;        ///< tcp: seconds that its connection is busy with it before, in `seconds`
  double seconds = 0;     ///< of the transfer
  double after = 0;       ///< seconds from its end to the delivery
  double floor = 0;       ///< tcp: seconds that it takes at least, its turn with it
  std::int64_t most_in_line = kManyInLine;  ///< tcp: messages that every pair may have in line at no more cost each
};

/// Ranks (and lanes) that stay at the same date if they begin so, in rounds of one pattern after another: who gets
/// the same from ranks that are alike.
struct RankClasses {
  std::vector<std::int32_t> class_of;    ///< per rank and lane
  std::vector<FlowPattern::Pair> pairs;  ///< between classes, every class of flows for itself
  std::size_t count = 0;                 ///< classes of ranks; 0: too many
};
/// A pattern of rounds, with what was found out about it.
struct KnownPattern {
  FlowPattern pattern;
  std::int64_t number = -1;       ///< of the rounds (RoundSizes); −1: without one
  std::vector<LinkLoad> carried;  ///< per class of flows: by one of them
  int used = 0;                   ///< times, for rounds that are not the same
  std::optional<RankClasses> ranks;
};

/// What dates do not change about one round, or about all of a phase that are alike.
struct RoundFlows {
  KnownPattern* known = nullptr;
  std::vector<RoundFlow> flows;  ///< per class of the pattern
  std::int64_t rounds = 1;
  std::int64_t reached = 0;  ///< rounds that are over with it, where it is looked at whether ranks keep in step; else 0
  bool contended = false;    ///< some would be faster alone
  // What its time goes to: the pair that takes longest.
  double latency = 0;   ///< seconds, before and after its transfer
  double software = 0;  ///< of these, what software takes
  std::int32_t path = 0;
  std::int32_t narrowest = -1;  ///< link; −1: none
};

}  // namespace dadsim::sim
