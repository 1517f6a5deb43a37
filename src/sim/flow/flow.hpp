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

class FlowEvents;

/// Simulates rounds whose ranks are out of step message by message (FlowEvents), and keeps the last result.
class EventRounds {
 public:
  explicit EventRounds(FlowNetwork& ranks);
  ~EventRounds();

  /// Returns whether the last run had these rounds and equal differences between dates. Then its times and account
  /// remain valid, and `dates` is updated. `dates`: per rank, when it begins; afterwards, when it is done.
  bool again(const collectives::Rounds& rounds, std::vector<double>& dates) const;
  /// Returns whether packets may be lost. Losses depend on the order of arrivals, so that such rounds are not simulated
  /// here.
  bool may_lose(const collectives::Rounds& rounds) const;
  /// Records that `rounds` are carried out by another method, which the account now describes.
  void others_follow(const collectives::Rounds& rounds) {
    is_last_ = false;
    if (known_ != &rounds) known_ = nullptr;
  }
  /// Returns whether no other rounds have been carried out since the last run.
  bool is_last() const { return is_last_; }
  /// Simulates the rounds. `dates`: as in again(). `solved`, if not null, receives the times of messages; then the
  /// rounds must differ from those of the last run. `of_ranks`: `solved` accepts any dates, not only equal ones of
  /// equivalent ranks.
  [[nodiscard]] Refused run(const collectives::Rounds& rounds, std::vector<double>& dates, FlowAccount& account,
                            MaxPlusRounds* solved = nullptr, bool of_ranks = false);
  /// Gives `solved` the times of messages of the last run in which all ranks began together, and forgets them. Returns
  /// false if they have not been kept.
  bool describe_together(const collectives::Rounds& rounds, MaxPlusRounds& solved, bool of_ranks);

 private:
  FlowNetwork& ranks_;
  const collectives::Rounds* known_ = nullptr;
  std::shared_ptr<const EventClasses> classes_;  ///< classes of `known_`, for the dates at which they are valid
  /// A run in which all ranks began together, with its classes.
  struct BegunTogether {
    const collectives::Rounds* rounds = nullptr;
    std::shared_ptr<const EventClasses> classes;
    std::unique_ptr<FlowEvents> events;
  };
  BegunTogether together_;
  bool is_last_ = false;               ///< true: no other rounds have been carried out since the last run
  std::vector<double> begun_, ended_;  ///< dates of the last run, per rank, seconds after the first rank began
};

/// Memory used by all models of a step's collectives to repeat their rounds from other dates.
struct FlowMemory {
  std::size_t kept = 0;  ///< entries in use: pairs, plus eight times the classes of rounds
};

/// One model's part of FlowMemory.
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
  static constexpr std::size_t kMostKept = 24'000'000;  // largest number of entries in FlowMemory::kept
  std::shared_ptr<FlowMemory> all_;
  std::size_t own_ = 0;
};

/// Patterns of a collective's rounds: senders, receivers, and the equivalence classes of these pairs.
class RoundPatterns {
 public:
  RoundPatterns(FlowNetwork& ranks, KeptMemory& memory) : ranks_(ranks), memory_(memory) {}

  /// Returns the pattern of rounds, and the messages of its classes without their costs; nullptr if the rounds have no
  /// messages. `reversed`: messages without bytes, in the other direction.
  KnownPattern* of(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool reversed,
                   std::vector<RoundFlow>& flows);

  const std::vector<std::unique_ptr<KnownPattern>>& all() const { return known_; }
  void forget() { known_.clear(); }
  void forget_all_but(const KnownPattern& one) {
    std::erase_if(known_, [&](const auto& known) { return known.get() != &one; });
  }

  /// Returns the number of classes of pairs, and of the pairs in them, since start_counting.
  std::pair<std::size_t, std::size_t> classes_and_pairs() const { return classes_and_pairs_; }
  void start_counting() { classes_and_pairs_ = {}; }

 private:
  /// Collects the pairs of rounds and the kinds of their messages. With `numbered`, a kind is the number given by the
  /// rounds; otherwise it is a size.
  FlowPattern collect(const collectives::Rounds& rounds, std::int64_t first, std::int64_t end, bool numbered) const;

  FlowNetwork& ranks_;
  KeptMemory& memory_;
  std::vector<std::unique_ptr<KnownPattern>> known_;
  collectives::RoundSizes sizes_;
  std::pair<std::size_t, std::size_t> classes_and_pairs_;
};

/// Advances the dates of ranks round by round. Dates are kept per rank, or per class of ranks if all members share a
/// date.
class RankDates {
 public:
  explicit RankDates(InStepCheck& check) : check_(check) {}

  /// Carries out rounds. Afterwards `dates` may be invalid until expand(), if dates of classes are in use. `seconds`:
  /// receives the seconds by which the latest date advances.
  Refused go_on(const RoundFlows& timed, std::vector<double>& dates, double& seconds);
  /// Converts dates of classes into dates of ranks.
  void expand(std::vector<double>& dates);
  /// Forgets references to patterns that have been destroyed.
  void forget_patterns() { condensed_ = nullptr; }
  /// Returns dates per rank, or per class if these are in use.
  const std::vector<double>& reached(const std::vector<double>& dates) const {
    return condensed_ != nullptr ? class_dates_ : dates;
  }

 private:
  using Pair = FlowPattern::Pair;
  /// Switches to dates per class of ranks, if all members of each class share a date.
  void condense(KnownPattern& known, const std::vector<double>& dates);
  static void find_classes_of_ranks(KnownPattern& known, std::size_t ranks);
  static void one_round(const std::vector<Pair>& pairs, const std::vector<RoundFlow>& flows,
                        std::vector<double>& dates);
  Refused many_rounds(const std::vector<Pair>& pairs, const RoundFlows& timed, bool checked,
                      std::vector<double>& dates);
  static Refused around_rings(const RoundFlows& timed, std::vector<double>& dates);

  InStepCheck& check_;
  KnownPattern* condensed_ = nullptr;  ///< pattern of `class_dates_`; nullptr: dates are per rank
  std::vector<double> class_dates_;
};

/// Times collectives by flow. FlowRates computes the rates at which pairs share the links, once for all rounds with the
/// same pairs. RankDates then advances the rounds with these rates and the latencies.
///
/// The model assumes that all pairs of a round transfer at the same time, without other traffic: ranks keep in step,
/// and the network is idle and steady (InStepCheck). If ranks are out of step by more than kMostDoubt of the time,
/// EventRounds simulates every message, or the collective is refused.
///
/// Rates are computed per equivalence class of pairs (RoundPatterns), and dates per class of ranks.
class FlowModel {
 public:
  /// `by_classes`: false computes the rate of every pair separately, even of equivalent ones. `memory`: shared with
  /// other models; nullptr: used by this model alone.
  FlowModel(Interconnect& network, std::vector<simgrid::s4u::Host*> hosts, bool by_classes = true,
            std::shared_ptr<FlowMemory> memory = nullptr)
      : ranks_(network, std::move(hosts), by_classes),
        memory_(memory != nullptr ? std::move(memory) : std::make_shared<FlowMemory>()),
        account_(network) {}
  FlowModel(const FlowModel&) = delete;
  FlowModel& operator=(const FlowModel&) = delete;

  /// Carries out the rounds. `dates`: per rank, when it begins; afterwards, when it is done (seconds). Rates do not
  /// depend on dates: a call with the same `rounds` object as before, which must still exist, reuses them. A first run
  /// in which all ranks begin at one date is not kept, because the caller can keep its result.
  [[nodiscard]] Refused run(const collectives::Rounds& rounds, std::vector<double>& dates);

  /// Carries out the first run, with ranks that begin together at date 0. Also fills `solved`, which then accepts other
  /// dates. `of_ranks`: as in EventRounds::run.
  [[nodiscard]] Refused solve(const collectives::Rounds& rounds, std::vector<double>& done, MaxPlusRounds& solved,
                              bool of_ranks = false);
  /// Fills `solved` from an earlier run of the same rounds in which all ranks began together; `seconds`: what each rank
  /// took then. Returns false if the run has not been kept.
  bool solve_again(const collectives::Rounds& rounds, const std::vector<double>& seconds, MaxPlusRounds& solved,
                   bool of_ranks);

  /// Returns whether the last run followed messages one by one.
  bool is_followed() const { return followed_.is_last(); }

  /// Sets whether messages are simulated individually from now on where possible, even if ranks keep in step.
  void follow(bool follows) { follows_ = follows; }

  /// Returns the seconds of the last run by cause, for the slowest pair in each phase.
  const SpentSeconds& spent() const { return account_.spent(); }

  /// Returns the load of the last run, per link of the network; links after the end carried nothing.
  const std::vector<LinkLoad>& loads() const { return account_.loads(); }

  /// Forgets loads of links and their checks, which a model kept for repetition does not need.
  void forget_links() {
    account_.forget_loads();
    check_.forget_links();
  }

  /// Returns the number of classes of pairs with computed rates, and of the pairs in them, in all patterns of the last
  /// run.
  std::pair<std::size_t, std::size_t> classes_and_pairs() const { return patterns_.classes_and_pairs(); }

 private:
  static constexpr double kMostDoubt = 0.003;  ///< accepted doubt, as a share of the time
  /// Result of carrying out rounds in step.
  struct InStep {
    bool to_the_end = true;  ///< false: stopped early, because ranks clearly did not keep in step
    Refused refused = {};
  };

  InStep in_step(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  /// Carries out rounds lane by lane. The dates of a rank's lanes are consecutive, and so are senders and receivers in
  /// patterns.
  InStep run_lanes(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  /// Computes everything except dates, round by round.
  InStep work_out(const collectives::Rounds& rounds, std::vector<double>& dates, bool to_the_end);
  /// Carries out one round of the pattern, or several equal ones. Keeps the result if memory suffices.
  Refused time_rounds(KnownPattern& known, std::int64_t rounds, std::vector<double>& dates);
  Refused go_on(const RoundFlows& timed, std::vector<double>& dates);
  /// Returns whether ranks are clearly out of step. The last rank began at `begin`, and has finished `rounds` of `all`
  /// rounds at these dates.
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
  std::vector<RoundFlow> flows_;                ///< flows of the current round
  const collectives::Rounds* known_ = nullptr;  ///< rounds whose results are all in `timed_`
  std::vector<RoundFlows> timed_;
  bool keeps_ = true;  ///< keeps all results; false: only patterns, for the following rounds
  bool follows_ = false;
  MaxPlusRounds* solved_ = nullptr;            ///< receives the times of messages
  bool of_ranks_ = false;                      ///< `solved_` accepts any dates
  const collectives::Rounds* once_ = nullptr;  ///< rounds computed last; if they are computed again, results are kept
};

}  // namespace dadsim::sim
