#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

/// Rules for two collectives that share a link.
enum class SharedLinks : std::uint8_t {
  expected,  ///< each collective gets a share of the link in proportion to its messages on the link, as if it sent all
             ///< the time
  least,     ///< like `expected`, but this collective's messages count once per round that may be in flight
  most,      ///< the other collective sends whenever this one does, and its messages count once per round in flight
};

/// Collectives that are in progress at the same time and share links, of different devices or different lines of a
/// device. A collective timed later gets the bandwidth that an earlier one leaves, and at least half of a link. The
/// earlier one keeps its time, although it would be delayed. The sum of such delays, with equal shares for all messages
/// on the link, lets the caller judge the error. If the error is too large, the step is timed again. Earlier
/// collectives then expect later ones, and each delays the other. Messages that are on a link at the same time share it
/// equally, as far as they need it.
class FlowOverlaps {
 public:
  explicit FlowOverlaps(const Interconnect& network) : network_(network) {}

  /// Begins a step for which no occurrences are known.
  void begin();
  /// Begins the same step again. begin_again() expects every collective when it occurred last; repeat() expects it when
  /// it was expected last.
  void begin_again();
  void repeat(SharedLinks sharing = SharedLinks::expected);

  /// Returns the number of a collective's messages on a link at a time; called only if needed.
  using MessagesOn = std::function<double(std::int32_t link)>;
  /// Adds a collective that takes `seconds` alone and puts `loads` on links. `in_flight`: number of rounds in which a
  /// rank may be at a time. Returns the collective's number.
  std::size_t add(const std::vector<std::pair<std::int32_t, LinkLoad>>& loads, double seconds, MessagesOn messages_on,
                  std::int64_t in_flight);

  struct Occurrence {
    double seconds = 0;     ///< seconds of the collective, with the delays by others
    double overlooked = 0;  ///< seconds by which this one delays other collectives that did not expect it and therefore
                            ///< keep their times
  };
  /// Records an occurrence that begins at `begin` and would take `seconds` alone. Returns its time with the delays by
  /// others.
  Occurrence occur(std::size_t number, double begin, double seconds);

 private:
  /// Effect of another collective that is in progress at the same time.
  struct Other {
    std::size_t number;
    double pace = 1;      ///< pace of this collective, relative to its pace alone
    double holds_up = 0;  ///< share by which the other collective is slower meanwhile, if messages share a link equally
    double longer = 0;    ///< relative delay of this collective if messages share a link equally
    double least = 0, most = 0;  ///< relative delays by SharedLinks::least and SharedLinks::most
    std::int32_t link = -1;      ///< link of the greatest delay
  };
  struct StepSpan {
    double begin, end;  ///< beginning and end, seconds
  };
  struct Expected {
    StepSpan span;
    std::size_t which;  ///< number of the occurrence
  };
  struct BesideWork {
    StepSpan span;
    const Other* other;
  };
  struct TimedCollective {
    std::vector<Other> others;    ///< other collectives that together with this one exceed the capacity of a link
    double longer = 0, most = 0;  ///< relative delay if all other collectives are in progress
    double in_flight = 1;         ///< number of rounds in flight
    MessagesOn messages_on;
    std::vector<StepSpan> spans;                   ///< occurrences by their beginnings
    std::vector<StepSpan> in_order;                ///< occurrences in the order of the calls
    std::vector<Expected> expected;                ///< expected occurrences by their beginnings; those that have
                                                   ///< already occurred are skipped
    std::vector<double> expected_begins;           ///< beginning of each expected occurrence
    double last_end = 0;                           ///< latest end of its occurrences
    double late = 0;                               ///< seconds by which the last occurrence was later than expected
    std::size_t near_span = 0, near_expected = 0;  ///< results of the last searches
  };
  void add_beside(TimedCollective& of, const Other& other, double begin, double until);
  double pace_beside(const std::vector<std::size_t>& there, double& holds_up);
  Occurrence go_on_beside(double begin, double seconds);
  void forget_spans();
  struct User {
    std::size_t number;
    double share;  ///< share of the link's capacity that the collective takes alone
  };
  void meet(std::int32_t link, std::size_t number, double share, const User& user);

  const Interconnect& network_;
  std::vector<TimedCollective> collectives_;
  bool is_again_ = false;                        ///< true: the step is timed again, with expected occurrences
  SharedLinks sharing_ = SharedLinks::expected;  ///< rule given to repeat()
  std::vector<BesideWork> beside_;               ///< overlapping occurrences of other collectives
  std::vector<double> dates_;                    ///< beginnings and ends of overlapping occurrences
  std::vector<std::size_t> order_, there_;       ///< indices of overlapping occurrences: ordered by beginning; in
                                                 ///< progress at a date
  std::vector<std::pair<std::int32_t, double>> longer_on_;     ///< relative delay per link
  std::unordered_map<std::int32_t, std::vector<User>> users_;  ///< users of each link
};

/// Times and loads of a step; loads per link of the network.
struct FlowStep {
  step::StepTiming timing;
  std::vector<LinkLoad> loads;
  double entered_late = 0;  ///< possible error because ranks enter collectives late, summed over collectives, seconds
  double messages = 0;      ///< number of messages of these collectives
  double overlooked = 0;    ///< seconds by which collectives delay one another on shared links without being counted
  double wrong_by = 0;      ///< possible error of the step for all reasons, seconds
  /// Seconds of `wrong_by` due to collectives that share links with others.
  double shared_wrong_by = 0;
  double across_changes = 0;  ///< possible error because links change during collectives, seconds
};

/// Treatment of a collective if ranks of unequal speed arrive at different dates.
enum class LateRanks : std::uint8_t {
  enter,    ///< ranks enter when they arrive, and share links as if all had begun together (MaxPlusRounds)
  sooner,   ///< like `enter`, but ranks are done earlier by the whole doubt
  later,    ///< like `enter`, but ranks are done later by the whole doubt
  followed  ///< all collectives are simulated message by message (FollowedStep); each separately if the step is not
            ///< supported
};

/// Knowledge about overlapping collectives at the beginning of a step.
enum class KnownOverlaps : std::uint8_t {
  nothing,
  last_time,  ///< dates at which occurrences were in the last timing of the step
  before,     ///< dates that were known in the last timing
};

/// Cause that takes no time in a step.
enum class Without : std::uint8_t {
  nothing,
  network,   ///< collectives take only the seconds of software
  framework  ///< the framework takes no time
};

class NodeSeconds;

struct FlowStepRequest {
  const Nodes& nodes;
  const Parts& parts;
  const schedule::Schedule& schedule;
  const std::vector<double>& slowdown;  ///< factor on the seconds of computations, per host; empty: 1
  FlowCollectives& collectives;         ///< collectives of the schedule
  Interconnect& network;
  FlowOverlaps& overlaps;
  KnownOverlaps known_overlaps = KnownOverlaps::nothing;
  SharedLinks sharing = SharedLinks::expected;  ///< rule for collectives whose occurrences are known
  bool closed_form = false;
  Without without = Without::nothing;
  LateRanks late_ranks = LateRanks::enter;
  bool all_enter = false;                ///< lets all ranks enter late, not only those with unequal computations
  TimelineRecorder* recorder = nullptr;  ///< records the step, if any, except for links
  mutable std::shared_ptr<NodeSeconds> seconds = {};  ///< seconds of the computations, once the step was timed
};

/// Times a schedule without simulating its messages. Every node executes its tasks; collectives are timed by FlowModel,
/// or by the latency and bandwidth of the worst pair. Ranks with unequal computations enter a collective when they
/// reach it. Refused if other ranks reach collectives too far apart (FlowDoubts), or if FlowModel refuses.
[[nodiscard]] Refused step_by_flow(const FlowStepRequest& request, FlowStep& result);

}  // namespace dadsim::sim
