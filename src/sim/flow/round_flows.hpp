#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/flow/flow_pattern.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Largest number of messages of a pair that may wait in line on a connection.
inline constexpr std::int64_t kManyInLine = 128;

/// Message in a round, of each pair of a class.
struct RoundFlow {
  collectives::Rank from = 0, to = 0;  ///< ranks of the first pair; rank · lanes + lane
  double bytes = 0;                    ///< payload, bytes
  std::int32_t path = 0;
  double share = 1;       ///< largest share of the path's bandwidth
  double wire_bytes = 0;  ///< bytes to transfer
  double before = 0;      ///< seconds from sending to the transfer, if the pair has no other message in flight
  bool beside = false;    ///< tcp: work before a transfer overlaps the previous transfer
  double in_turn = 0;     ///< tcp: seconds until earlier messages have left the host
  double post = 0;        ///< tcp: seconds that the connection is busy before the transfer, contained in `seconds`
  double seconds = 0;     ///< seconds of the transfer
  double after = 0;       ///< seconds from the end of the transfer to the delivery
  double floor = 0;       ///< tcp: least seconds of the transfer, including the wait for earlier messages of the host
  std::int64_t most_in_line = kManyInLine;  ///< tcp: largest number of messages that every pair may have in line before
                                            ///< each message costs more
};

/// Classes of ranks (and lanes) that keep equal dates through rounds of one pattern, if they begin with equal dates.
/// Ranks of a class receive the same messages from ranks of the same classes.
struct RankClasses {
  std::vector<std::int32_t> class_of;    ///< class of each rank and lane
  std::vector<FlowPattern::Pair> pairs;  ///< pairs between classes, separately for each class of flows
  std::size_t count = 0;                 ///< number of classes of ranks; 0: too many
};
/// A pattern of rounds, and results for it.
struct KnownPattern {
  FlowPattern pattern;
  std::int64_t number = -1;       ///< number given by the rounds (RoundSizes); −1: none
  std::vector<LinkLoad> carried;  ///< load due to one flow of each class
  int used = 0;                   ///< number of uses by unequal rounds
  std::optional<RankClasses> ranks;
};

/// Results of one round, or of a phase of equal rounds, that do not depend on dates.
struct RoundFlows {
  KnownPattern* known = nullptr;
  std::vector<RoundFlow> flows;  ///< flows of each class of the pattern
  std::int64_t rounds = 1;
  std::int64_t reached = 0;  ///< rounds finished with this one, if it must be checked that ranks keep in step;
                             ///< otherwise 0
  bool contended = false;    ///< true: sharing slows some transfers
  // Times of the slowest pair, by cause.
  double latency = 0;   ///< seconds before and after the slowest pair's transfer
  double software = 0;  ///< seconds of software, contained in `latency`
  std::int32_t path = 0;
  std::int32_t narrowest = -1;  ///< link with the least bandwidth per message; −1: none
};

}  // namespace dadsim::sim
