#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/flow/event_classes.hpp"
#include "sim/flow/flow_account.hpp"
#include "sim/flow/flow_network.hpp"
#include "sim/flow/flow_rates.hpp"
#include "sim/flow/flow_refusal.hpp"
#include "sim/flow/in_step_check.hpp"
#include "sim/flow/max_plus_rounds.hpp"
#include "sim/flow/round_flows.hpp"

namespace dadsim::sim {

/// Rounds whose ranks do not keep in step, message by message (FlowEvents), and what came out the last time.
class EventRounds {
 public:
  explicit EventRounds(FlowNetwork& ranks) : ranks_(ranks) {}

  /// Whether the last run was of these, from dates as far apart: then they take what they took, and the account is
  /// still theirs. `dates`: per rank, when it begins, and afterwards when it is done.
  bool again(const collectives::Rounds& rounds, std::vector<double>& dates) const;
  /// Whether packets may be lost, which depends on who comes when: then rounds are not followed here.
  bool may_lose(const collectives::Rounds& rounds) const;
  /// `rounds` are carried out in another way: the account is theirs from now on.
  void others_follow(const collectives::Rounds& rounds) {
    is_last_ = false;
    if (known_ != &rounds) known_ = nullptr;
  }
  /// `dates` as above. `solved`, if any, gets what messages took; the rounds must not be those of the last run then.
  [[nodiscard]] Refused run(const collectives::Rounds& rounds, std::vector<double>& dates, FlowAccount& account,
                            MaxPlusRounds* solved = nullptr);

 private:
  FlowNetwork& ranks_;
  const collectives::Rounds* known_ = nullptr;
  std::optional<EventClasses> classes_;  ///< of those, for dates that they hold for
  bool is_last_ = false;                 ///< nothing has been carried out since
  std::vector<double> begun_, ended_;    ///< per rank: of their last run, seconds after the first began
};

/// What the models of a step's collectives keep together, to go through their rounds again from other dates.
struct FlowMemory {
  std::size_t kept = 0;  ///< pairs, and eight times classes of rounds
};

/// What one of them has of it.
class KeptMemory {
 public:
  explicit KeptMemory(std::shared_ptr<FlowMemory> all) : all_(std::move(all)) {}
  ~KeptMemory() { forget(); }
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  void keep(std::size_t more) {
    own_ += more;
    all_->kept += more;
  }
  void forget() { all_->kept -= std::exchange(own_, 0); }
  bool is_full() const { return all_->kept > kMostKept; }

 private:
  static constexpr std::size_t kMostKept = 24'000'000;  // as FlowMemory counts
  std::shared_ptr<FlowMemory> all_;
  std::size_t own_ = 0;
};

/// The patterns of a collective's rounds: who sends to whom, and the equivalence classes of these pairs.
class RoundPatterns {
 public:
  RoundPatterns(FlowNetwork& ranks, KeptMemory& memory) : ranks_(ranks), memory_(memory) {}

  /// The pattern of rounds, and the messages of its classes without what they cost; nullptr: they have no messages.
  /// `reversed`: of messages without bytes, the other way.
  KnownPattern* of(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool reversed,
                   std::vector<RoundFlow>& flows);

  const std::vector<std::unique_ptr<KnownPattern>>& all() const { return known_; }
  void forget() { known_.clear(); }
  void forget_all_but(const KnownPattern& one) {
    std::erase_if(known_, [&](const auto& known) { return known.get() != &one; });
  }

  /// Classes of pairs, and pairs that they stand for, since start_counting.
  std::pair<std::size_t, std::size_t> classes_and_pairs() const { return classes_and_pairs_; }
  void start_counting() { classes_and_pairs_ = {}; }

 private:
  /// The pairs of rounds and the kinds of their messages. With `numbered` a kind is what the rounds say, else a size.
  FlowPattern collect(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool numbered) const;

  FlowNetwork& ranks_;
  KeptMemory& memory_;
  std::vector<std::unique_ptr<KnownPattern>> known_;
  collectives::RoundSizes sizes_;
  std::pair<std::size_t, std::size_t> classes_and_pairs_;
};

/// When ranks are through, round by round: a date for each rank, or for each class of ranks, where all of a class have
/// the same.
class RankDates {
 public:
  explicit RankDates(InStepCheck& check) : check_(check) {}

  /// `dates`, which may be those of classes afterwards (expand). `seconds`: by how much the last rank is later.
  Refused go_on(const RoundFlows& timed, std::vector<double>& dates, double& seconds);
  /// Dates by rank again.
  void expand(std::vector<double>& dates);
  /// Patterns that were seen are no longer there.
  void forget_patterns() { condensed_ = nullptr; }
  /// By rank, or by class.
  const std::vector<double>& reached(const std::vector<double>& dates) const {
    return condensed_ != nullptr ? class_dates_ : dates;
  }

 private:
  using Pair = FlowPattern::Pair;
  /// Dates by classes of ranks instead of by rank, where all ranks of a class have the same.
  void condense(KnownPattern& known, const std::vector<double>& dates);
  static void find_classes_of_ranks(KnownPattern& known, std::size_t ranks);
  static void one_round(const std::vector<Pair>& pairs, const std::vector<RoundFlow>& flows,
                        std::vector<double>& dates);
  Refused many_rounds(const std::vector<Pair>& pairs, const RoundFlows& timed, bool checked,
                      std::vector<double>& dates);
  static Refused around_rings(const RoundFlows& timed, std::vector<double>& dates);

  InStepCheck& check_;
  KnownPattern* condensed_ = nullptr;  ///< whose classes `class_dates_` are of; nullptr: dates are by rank
  std::vector<double> class_dates_;
};

/// Collectives by flows: the rates at which the pairs of a round share the links are worked out once for all rounds
/// with the same pairs (FlowRates), and the rounds follow from these rates and the latencies (RankDates). What that
/// takes is that all pairs of a round are at work at the same time, and nobody else: ranks keep in step, and the
/// network is idle and steady (InStepCheck). Where they do not keep in step by more than kMostDoubt of the time, the
/// messages are followed one by one (EventRounds), or it is refused.
///
/// Rates are those of equivalence classes of pairs (RoundPatterns), dates those of ranks.
class FlowModel {
 public:
  /// `by_classes`: false works out the rate of every pair for itself, however alike they are. `memory`: shared with
  /// other models; nullptr: of its own.
  FlowModel(Interconnect& network, std::vector<simgrid::s4u::Host*> hosts, bool by_classes = true,
            std::shared_ptr<FlowMemory> memory = nullptr)
      : ranks_(network, std::move(hosts), by_classes),
        memory_(memory != nullptr ? std::move(memory) : std::make_shared<FlowMemory>()),
        account_(network) {}
  FlowModel(const FlowModel&) = delete;
  FlowModel& operator=(const FlowModel&) = delete;

  /// Carries out the rounds. `dates`: per rank, when it begins, and afterwards when it is done (seconds). Rates do not
  /// depend on dates: where the rounds are the ones of the run before, which have to be there still, theirs are used
  /// again. Those of a first run from one date are not kept: such a run is the same every time, and whoever repeats it
  /// knows.
  [[nodiscard]] Refused run(const collectives::Rounds& rounds, std::vector<double>& dates);

  /// The first run, of ranks that begin together at date 0: `solved` takes ranks that do not.
  [[nodiscard]] Refused solve(const collectives::Rounds& rounds, std::vector<double>& done, MaxPlusRounds& solved);

  /// Whether messages are followed one by one from now on, as far as they can be, however well ranks keep in step.
  void follow(bool follows) { follows_ = follows; }

  /// What the seconds of the last run were spent on: of the pair that took longest in each phase.
  const SpentSeconds& spent() const { return account_.spent(); }

  /// What the last run carried, per link of the network (those behind the end: nothing).
  const std::vector<LinkLoad>& loads() const { return account_.loads(); }

  /// A model that is kept to run again needs neither those nor what was noted of every link meanwhile.
  void forget_links() {
    account_.forget_loads();
    check_.forget_links();
  }

  /// Classes of pairs that rates were worked out for, and pairs that they stand for, in all patterns of the last run.
  std::pair<std::size_t, std::size_t> classes_and_pairs() const { return patterns_.classes_and_pairs(); }

 private:
  static constexpr double kMostDoubt = 0.003;  ///< of the time
  /// How rounds were gone through.
  struct InStep {
    bool to_the_end = true;  ///< false: left when it was plain that ranks do not keep in step
    Refused refused = {};
  };

  InStep in_step(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  /// The dates of a rank's lanes stand one after the other, and so do those who send and receive in patterns.
  InStep run_lanes(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  /// Works out everything but dates, round by round.
  InStep work_out(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  /// Carries out a round of the pattern, or several that are alike, and keeps it if there is room.
  Refused time_rounds(KnownPattern& known, std::int64_t rounds, std::vector<double>& dates);
  Refused go_on(const RoundFlows& timed, std::vector<double>& dates);
  /// Whether it is plain that ranks do not keep in step, of which the last was through with so many rounds at these
  /// dates, of `all` that began at `begin`.
  bool is_plain(std::int64_t rounds, std::int64_t all, const std::vector<double>& dates, double begin) const;
  void describe(const RoundFlows& timed);
  void keep_nothing();

  FlowNetwork ranks_;
  KeptMemory memory_;
  FlowAccount account_;
  FlowRates rates_{ranks_};
  InStepCheck check_{ranks_, rates_};
  RankDates dates_{check_};
  RoundPatterns patterns_{ranks_, memory_};
  EventRounds followed_{ranks_};
  std::vector<RoundFlow> flows_;                ///< of the round at hand
  const collectives::Rounds* known_ = nullptr;  ///< whose rounds `played_` has, all of them
  std::vector<RoundFlows> timed_;
  bool keeps_ = true;  ///< all of them; else only patterns, for the rounds that follow
  bool follows_ = false;
  MaxPlusRounds* solved_ = nullptr;            ///< that is told what messages take
  const collectives::Rounds* once_ = nullptr;  ///< whose first run was one from one date
};

}  // namespace dadsim::sim
