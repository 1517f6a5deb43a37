#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/flow/flow_refusal.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/step/flow_collectives.hpp"
#include "sim/step/nodes.hpp"
#include "sim/step/replay.hpp"
#include "sim/step/step_semantics.hpp"
#include "step/timing.hpp"

namespace dadsim::sim {

/// What two collectives make of a link that they share.
enum class SharedLinks : std::uint8_t {
  expected,  ///< each has its messages' part of the link, as if it sent all the time
  least,     ///< the same, and has as many messages on it as rounds that may be in flight
  most,      ///< whenever it sends, so does the other one, and that has them
};

/// Collectives of different devices, or of different lines of a device, that are on their way at the same time and
/// share links. One that is worked out later than another has what this leaves of a link, and half of it at least. The
/// other one is not held up any more, though it would be: by as much as it is slower where all messages on the link
/// have as much of it. That is added up, for whoever has to judge whether it may be overlooked. Where it may not, the
/// step is worked out again: what was worked out later is then expected by what was worked out sooner, and each holds
/// up the other. All messages that are on a link at the same time then have as much of it, as far as they ask for that.
class FlowOverlaps {
 public:
  explicit FlowOverlaps(const Interconnect& network) : network_(network) {}

  /// A step begins, of which nothing is known.
  void begin();
  /// The same step once more, in which everything is expected to occur when it did; `repeat`: when it did before that.
  void begin_again();
  void repeat(SharedLinks sharing = SharedLinks::expected);

  /// Messages that a collective has on a link at a time; asked for where that matters.
  using MessagesOn = std::function<double(std::int32_t link)>;
  /// A collective that takes `seconds` where it is alone, and puts so much on links; a rank may be in so many of its
  /// rounds at the same time. Its number.
  std::size_t add(const std::vector<std::pair<std::int32_t, LinkLoad>>& loads, double seconds, MessagesOn messages_on,
                  std::int64_t in_flight);

  struct Occurrence {
    double seconds = 0;     ///< that it takes beside the others
    double overlooked = 0;  ///< seconds that others would take longer for it, and do not: they did not expect it
  };
  /// It occurs: from `begin` on, for `seconds` where it is alone.
  Occurrence occur(std::size_t number, double begin, double seconds);

 private:
  /// How it gets on while another one is on its way.
  struct Other {
    std::size_t number;
    double pace = 1;             ///< of that by itself
    double holds_up = 0;         ///< that one is slower by so much of it meanwhile, where each message has as much
    double longer = 0;           ///< by so much of it is it slower where each message has as much of a link
    double least = 0, most = 0;  ///< the same, as SharedLinks has it
    std::int32_t link = -1;      ///< the one where it is slowest
  };
  struct StepSpan {
    double begin, end;  ///< seconds
  };
  struct Expected {
    StepSpan span;
    std::size_t which;  ///< occurrence
  };
  struct BesideWork {
    StepSpan span;
    const Other* other;
  };
  struct TimedCollective {
    std::vector<Other> others;    ///< where the two do not fit on a link together
    double longer = 0, most = 0;  ///< by so much of it is it slower beside all of them together
    double in_flight = 1;         ///< rounds
    MessagesOn messages_on;
    std::vector<StepSpan> spans;                   ///< by their beginnings: when it has occurred
    std::vector<StepSpan> in_order;                ///< the same, one after the other
    std::vector<Expected> expected;                ///< by their beginnings; those that have not occurred yet count
    std::vector<double> expected_begins;           ///< per occurrence
    double last_end = 0;                           ///< of those that have occurred
    double late = 0;                               ///< seconds: by which the last one was behind what was expected
    std::size_t near_span = 0, near_expected = 0;  ///< where was looked last
  };
  void add_beside(TimedCollective& of, const Other& other, double begin, double until);
  double pace_beside(const std::vector<std::size_t>& there, double& holds_up);
  Occurrence go_on_beside(double begin, double seconds);
  void forget_spans();
  struct User {
    std::size_t number;
    double share;  ///< of the link, where it is alone
  };
  void meet(std::int32_t link, std::size_t number, double share, const User& user);

  const Interconnect& network_;
  std::vector<TimedCollective> collectives_;
  bool is_again_ = false;                                   ///< what will occur is expected
  SharedLinks sharing_ = SharedLinks::expected;             ///< as in `repeat`
  std::vector<BesideWork> beside_;                          ///< of the occurrence at hand
  std::vector<double> dates_;                               ///< at which others of these begin or end
  std::vector<std::size_t> order_, there_;                  ///< of these: by their beginnings; on their way at a date
  std::vector<std::pair<std::int32_t, double>> longer_on_;  ///< by link
  std::unordered_map<std::int32_t, std::vector<User>> users_;  ///< by link
};

/// What a step took, and what it carried, per link of the network.
struct FlowStep {
  step::StepTiming timing;
  std::vector<LinkLoad> loads;
  double entered_late = 0;  ///< seconds by which collectives may be wrong that ranks enter late, added up
  double messages = 0;      ///< of these collectives
  double overlooked = 0;    ///< seconds by which collectives on shared links hold up one another that are not counted
  double wrong_by = 0;      ///< seconds by which the step may be wrong for both
  /// Seconds of it for what collectives take beside others on links that they share.
  double shared_wrong_by = 0;
  double across_changes = 0;  ///< seconds by which it may be wrong as links change during it
};

/// What becomes of a collective that ranks of unequal speed come to apart.
enum class LateRanks : std::uint8_t {
  enter,    ///< they enter it, and share links as if all had begun together (MaxPlusRounds)
  sooner,   ///< the same, and all are through sooner by all that this may be wrong by
  later,    ///< or later
  followed  ///< all collectives are followed message by message (FollowedStep), or each by itself where they cannot
};

/// What is known of collectives that hold up one another when a step begins.
enum class KnownOverlaps : std::uint8_t {
  nothing,
  last_time,  ///< when each occurred as the step was timed last
  before,     ///< what was known then
};

/// What a step is timed without.
enum class Without : std::uint8_t {
  nothing,
  network,   ///< collectives take what software takes
  framework  ///< what carries them out takes no time
};

struct FlowStepRequest {
  const Nodes& nodes;
  const Parts& parts;
  const schedule::Schedule& schedule;
  const std::vector<double>& slowdown;  ///< per host, multiplies the seconds of computations; empty: 1
  FlowCollectives& collectives;         ///< of the schedule
  Interconnect& network;
  FlowOverlaps& overlaps;
  KnownOverlaps known_overlaps = KnownOverlaps::nothing;
  SharedLinks sharing = SharedLinks::expected;  ///< of collectives, where it is known when they occur
  bool closed_form = false;
  Without without = Without::nothing;
  LateRanks late_ranks = LateRanks::enter;
  bool all_enter = false;                ///< late, not only ranks that compute for unequal times
  TimelineRecorder* recorder = nullptr;  ///< if any, takes down what happens, but for the links
};

/// Times a schedule without simulating its messages: every node goes through its tasks, and collectives take what
/// FlowModel (or the latency and bandwidth of the worst pair) says. Ranks that compute for unequal times enter a
/// collective when they come to it. Refused where others do not come together, or FlowModel refuses.
[[nodiscard]] Refused step_by_flow(const FlowStepRequest& request, FlowStep& result);

}  // namespace dadsim::sim
