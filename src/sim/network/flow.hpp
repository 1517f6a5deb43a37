#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sim/network/event_rounds.hpp"
#include "sim/network/flow_account.hpp"
#include "sim/network/flow_rates.hpp"
#include "sim/network/in_step_check.hpp"
#include "sim/network/max_plus_rounds.hpp"
#include "sim/network/rank_dates.hpp"
#include "sim/network/round_patterns.hpp"

namespace dadsim::sim {

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
