#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "collectives/rounds.hpp"
#include "sim/network/event_classes.hpp"
#include "sim/network/flow_pattern.hpp"
#include "sim/network/flow_routes.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/network/tcp.hpp"

namespace dadsim::sim {

/// Flow fidelity does not hold here; the words say why.
class FlowRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  /// `seconds`: what it would come to if ranks kept in step; 0: not known.
  FlowRefused(const std::string& reason, double seconds) : std::runtime_error(reason), in_step(seconds) {}
  double in_step = 0;
};

/// What the models of a step's collectives keep together, to go through their rounds again from other dates.
struct FlowMemory {
  std::size_t kept = 0;  ///< pairs, and eight times classes of rounds
};

/// Collectives by flows: the rates at which the pairs of a round share the links are worked out once for all rounds
/// with the same pairs, and the rounds follow from these rates and the latencies. What that takes is that all pairs of
/// a round are at work at the same time, and nobody else: ranks keep in step, and the network is idle and steady. Where
/// they do not keep in step by more than kMostDoubt of the time, the messages are followed one by one (FlowEvents), or
/// it is refused.
///
/// Rates are those of classes of pairs that fare alike (FlowPattern), dates those of ranks.
class FlowModel {
 public:
  /// `by_classes`: false works out the rate of every pair for itself, however alike they are. `memory`: shared with
  /// other models; nullptr: of its own.
  FlowModel(Interconnect& network, std::vector<simgrid::s4u::Host*> hosts, bool by_classes = true,
            std::shared_ptr<FlowMemory> memory = nullptr)
      : network_(network),
        hosts_(std::move(hosts)),
        by_classes_(by_classes),
        memory_(memory != nullptr ? std::move(memory) : std::make_shared<FlowMemory>()) {}
  ~FlowModel() { keep_nothing(); }
  FlowModel(const FlowModel&) = delete;
  FlowModel& operator=(const FlowModel&) = delete;

  /// Carries out the rounds. `dates`: per rank, when it begins, and afterwards when it is done (seconds). Throws
  /// FlowRefused. Rates do not depend on dates: where the rounds are the ones of the run before, which have to be there
  /// still, theirs are used again. Those of a first run from one date are not kept: such a run is the same every time,
  /// and whoever repeats it knows.
  void run(const collectives::Rounds& rounds, std::vector<double>& dates);

  /// Seconds of the last run by what they were spent on: the latency of a path ("latency", name) or the bandwidth of a
  /// link
  /// ("bandwidth", name), of the pair that took longest in each phase.
  const std::map<std::pair<std::string, std::string>, double>& spent() const { return spent_; }

  /// What the last run carried, per link of the network (those behind the end: nothing).
  const std::vector<LinkLoad>& loads() const { return loads_; }

  /// Classes of pairs that rates were worked out for, and pairs that they stand for, in all patterns of the last run.
  std::pair<std::size_t, std::size_t> classes_and_pairs() const { return classes_and_pairs_; }

 private:
  static constexpr std::int64_t kManyInLine = 128;
  using Pair = FlowPattern::Pair;
  /// The message of each pair of a class in a round.
  struct Flow {
    collectives::Rank from = 0, to = 0;  ///< of the first; rank · lanes + lane
    double bytes = 0;                    ///< payload
    std::int32_t path = 0;
    double share = 1;       ///< of the path's bandwidth that it gets at most
    double wire_bytes = 0;  ///< to transfer
    double before = 0;      ///< seconds from sending to the transfer, if nothing of the pair is on its way
    double in_turn = 0;     ///< tcp: seconds until what leaves the host before it has left
    double seconds = 0;     ///< of the transfer
    double after = 0;       ///< seconds from its end to the delivery
    double floor = 0;       ///< tcp: seconds that it takes at least, its turn with it
    std::int64_t most_in_line = kManyInLine;  ///< tcp: messages that every pair may have in line at no more cost each
  };

  /// Ranks (and lanes) that stay at the same date if they begin so, in rounds of one pattern after another: who gets
  /// the same from ranks that are alike.
  struct RankClasses {
    std::vector<std::int32_t> class_of;  ///< per rank and lane
    std::vector<Pair> pairs;             ///< between classes, every class of flows for itself
    std::size_t count = 0;               ///< classes of ranks; 0: too many
  };
  struct KnownPattern {
    FlowPattern pattern;
    std::int64_t number = -1;       ///< of the rounds (RoundSizes); −1: without one
    std::vector<LinkLoad> carried;  ///< per class of flows: by one of them
    int used = 0;                   ///< times, for rounds that are not the same
    std::optional<RankClasses> ranks;
  };
  /// What dates do not change about one round, or about all of a phase that are alike.
  struct Played {
    KnownPattern* known = nullptr;
    std::vector<Flow> flows;  ///< per class of the pattern
    std::int64_t rounds = 1;
    bool contended = false;  ///< some would be faster alone
    // What its time goes to: the pair that takes longest.
    double latency = 0;  ///< seconds, before and after its transfer
    std::int32_t path = 0;
    std::int32_t narrowest = -1;  ///< link; −1: none
  };
  static constexpr std::size_t kMostKept = 24'000'000;  // as FlowMemory counts
  /// Rounds are not gone through to their end in step.
  struct OutOfStep {};

  /// The dates of a rank's lanes stand one after the other, and so do those who send and receive in patterns.
  void run_lanes(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  /// `to_the_end`: false throws OutOfStep when it is plain that ranks do not keep in step.
  void in_step(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  void by_events(const collectives::Rounds& rounds, std::vector<double>& dates);
  const simgrid::s4u::Host* host_of(collectives::Rank rank_and_lane) const {
    return hosts_[static_cast<std::size_t>(rank_and_lane / lanes_)];
  }
  /// Works out everything but dates, round by round.
  void work_out(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  void keep(std::size_t more) {
    kept_ += more;
    memory_->kept += more;
  }
  void keep_nothing();
  /// The pattern of rounds, of which the sizes of kinds are put into `sizes_`; nullptr: they have no messages.
  KnownPattern* pattern_of(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool reversed);
  /// The pairs of rounds and the kinds of their messages. With `numbered` a kind is what the rounds say, else a size.
  FlowPattern collect(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool numbered) const;
  /// Carries out a round of the pattern, or several that are alike, and keeps it if there is room.
  void play(KnownPattern& known, std::int64_t rounds, std::vector<double>& dates);
  /// What messages cost on the wire, and how long they take at least.
  void prepare();
  void prepare_tcp();
  std::vector<double> rates(const FlowPattern& pattern, const std::vector<std::size_t>& flows) const;
  void share_once(const FlowPattern& pattern);
  void share_and_finish(const KnownPattern& known);
  void describe(Played& played) const;

  void go_on(const Played& played, std::vector<double>& dates);
  /// Dates by classes of ranks instead of by rank, where all ranks of a class have the same.
  void condense(KnownPattern& known, const std::vector<double>& dates);
  /// The other way about.
  void expand(std::vector<double>& dates);
  static void find_classes_of_ranks(KnownPattern& known, std::size_t ranks);
  static void one_round(const std::vector<Pair>& pairs, const std::vector<Flow>& flows, std::vector<double>& dates);
  void many_rounds(const std::vector<Pair>& pairs, const Played& played, bool checked, std::vector<double>& dates);
  static void around_rings(const Played& played, std::vector<double>& dates);
  void account(const Played& played, double seconds);
  void count_loads(const KnownPattern& known);

  // What is taken for granted, and whether it is so (flow_checks.cpp).
  static constexpr double kMostDoubt = 0.003;  ///< of the time
  /// When a link is used, as far as flows of other rounds have to know.
  struct LinkWatch {
    std::int64_t round = -1;                 ///< check in which the next four were set
    double first = 0, last = 0;              ///< seconds: beginnings of transfers
    double fastest = 0;                      ///< byte/s: of all of its transfers, were each alone
    double until = 0, behind = 0;            ///< seconds, byte/s: when the transfers of this round end, and their rates
    double busy_until = 0, busy_behind = 0;  ///< those of the rounds before
  };
  /// The last round of those in which all sent at one date, into a network that had nothing else to do.
  struct LastInStep {
    const KnownPattern* known = nullptr;  ///< null: there is none, or it has been checked
    std::vector<Flow> flows;
    double begin = 0;
  };
  double alone(const Flow& flow) const;
  bool over_tcp(const Flow& flow) const;
  double tcp_doubt(const std::vector<Flow>& flows, double seconds) const;
  bool is_contended(const std::vector<Flow>& flows) const;
  /// The links of a pair. Holds until the next call.
  const std::vector<std::int32_t>& links_of(const KnownPattern& known, const Flow& flow, const Pair& pair);
  /// A round that all enter at one date, behind all that was sent before: noted, and nothing is in doubt.
  bool begins_in_step(const Played& played, const std::vector<Pair>& pairs, const std::vector<double>& dates);
  /// One round that is not.
  void round_out_of_step(const Played& played, std::vector<double>& dates);
  /// As share_and_finish, flow by flow (one for each pair), each from when it begins.
  void share_by_dates(const KnownPattern& known, std::vector<Flow>& flows, const std::vector<double>& begins);
  void check_last_in_step();
  /// Flows of the pairs begin at these dates; `steady`: which of them follow one another without a pause; `by_dates`:
  /// what they take was worked out with these. The round stands for `times`.
  void check(const KnownPattern& known, const std::vector<Pair>& pairs, const std::vector<Flow>& flows,
             const std::vector<double>& begins, const std::vector<bool>& steady, bool by_dates, double times);

  Interconnect& network_;
  std::vector<simgrid::s4u::Host*> hosts_;
  bool by_classes_;
  collectives::Rank lanes_ = 1;
  collectives::Protocol protocol_ = collectives::Protocol::by_message;
  std::unique_ptr<FlowRoutes> routes_;
  const collectives::Rounds* known_ = nullptr;  ///< whose rounds `played_` has, all of them
  std::vector<std::unique_ptr<KnownPattern>> patterns_;
  std::vector<Played> played_;
  std::shared_ptr<FlowMemory> memory_;
  std::size_t kept_ = 0;                       ///< what these hold
  bool keeps_ = true;                          ///< all of them; else only patterns, for the rounds that follow
  const collectives::Rounds* once_ = nullptr;  ///< whose first run was one from one date
  KnownPattern* condensed_ = nullptr;          ///< whose classes `class_dates_` are of; nullptr: dates are by rank
  std::vector<double> class_dates_;
  collectives::RoundSizes sizes_;
  std::vector<Flow> flows_;
  std::map<std::pair<std::string, std::string>, double> spent_;
  std::vector<LinkLoad> loads_;
  std::pair<std::size_t, std::size_t> classes_and_pairs_;
  const collectives::Rounds* by_events_ = nullptr;  ///< rounds that have been followed message by message
  std::optional<EventClasses> event_classes_;       ///< of those, for dates that they hold for
  std::vector<double> begun_, ended_;               ///< per rank: of their last run, seconds after the first began
  std::vector<LinkWatch> watch_;                    ///< per link
  LastInStep last_in_step_;
  double busy_until_ = 0;  ///< seconds: when all that was sent has passed
  std::int64_t checks_ = 0;
  std::int64_t phase_begin_ = 0;  ///< the first check of the phase
  double doubt_ = 0;              ///< seconds
};

}  // namespace dadsim::sim
