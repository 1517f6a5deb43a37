#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/flow/flow_pattern.hpp"
#include "sim/network/interconnect.hpp"

namespace dadsim::sim {

/// Messages of a pair that may wait in line on a connection, at most.
inline constexpr std::int64_t kManyInLine = 128;

/// The message of each pair of a class in a round.
struct RoundFlow {
  collectives::Rank from = 0, to = 0;  ///< ranks of the first pair; rank · lanes + lane
  double bytes = 0;                    ///< bytes of payload
  std::int32_t path = 0;
  double share = 1;       ///< share of the path's bandwidth, at most
  double wire_bytes = 0;  ///< bytes to transfer
  double before = 0;      ///< seconds from sending to the transfer, if the pair has no other message under way
  bool beside = false;    ///< tcp: true: work before a transfer overlaps the previous transfer
  double in_turn = 0;     ///< tcp: seconds until earlier messages have left the host
  double post = 0;        ///< tcp: seconds that the connection is busy before the transfer, contained in `seconds`
  double seconds = 0;     ///< seconds of the transfer
  double after = 0;       ///< seconds from the end of the transfer to the delivery
  double floor = 0;       ///< tcp: least seconds of the transfer, including the wait for its turn
  std::int64_t most_in_line = kManyInLine;  ///< tcp: messages that every pair may have in line without a higher cost of
                                            ///< each
};

/// Classes of ranks (and lanes) that keep equal dates, if they begin so, through rounds of one pattern. Ranks of a
/// class receive the same messages from ranks of the same classes.
struct RankClasses {
  std::vector<std::int32_t> class_of;    ///< class of each rank and lane
  std::vector<FlowPattern::Pair> pairs;  ///< pairs between classes, separately for each class of flows
  std::size_t count = 0;                 ///< number of classes of ranks; 0: too many
};
/// A pattern of rounds, and results about it.
struct KnownPattern {
  FlowPattern pattern;
  std::int64_t number = -1;       ///< number given by the rounds (RoundSizes); −1: none
  std::vector<LinkLoad> carried;  ///< load due to one flow of each class
  int used = 0;                   ///< number of uses by unequal rounds
  std::optional<RankClasses> ranks;
};

/// The part of one round, or of a phase of equal rounds, that does not depend on dates.
struct RoundFlows {
  KnownPattern* known = nullptr;
  std::vector<RoundFlow> flows;  ///< flows of each class of the pattern
  std::int64_t rounds = 1;
  std::int64_t reached = 0;  ///< number of rounds completed with this one, if it must be checked that ranks keep in
                             ///< step; otherwise 0
  bool contended = false;    ///< true: sharing slows some transfers
  // Times of the slowest pair, by cause.
  double latency = 0;   ///< seconds before and after its transfer
  double software = 0;  ///< seconds of software, contained in `latency`
  std::int32_t path = 0;
  std::int32_t narrowest = -1;  ///< narrowest link; −1: none
};

}  // namespace dadsim::sim
