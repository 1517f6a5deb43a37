#pragma once

#include <cstdint>
#include <vector>

#include "sim/flow/flow_rates.hpp"

namespace dadsim::sim {

/// Checks the assumptions of a round's flows: flows that share a link use it at the same time, and messages of earlier
/// rounds have been delivered.
class InStepCheck {
 public:
  using Pair = FlowPattern::Pair;

  InStepCheck(FlowNetwork& ranks, const FlowRates& rates) : ranks_(ranks), rates_(rates) {}

  /// Begins another collective on an idle network.
  void start();
  /// Forgets references to patterns that have been destroyed.
  void forget_patterns() { last_in_step_ = {}; }
  /// Forgets the use of links.
  void forget_links() { std::vector<LinkWatch>().swap(watch_); }
  double doubt() const { return doubt_; }  ///< seconds by which the ranks' dates may be wrong

  /// Records a round that all ranks enter at one date, after all earlier messages, and returns true: no doubt arises.
  /// Returns false for any other round.
  bool begins_in_step(const RoundFlows& timed, const std::vector<Pair>& pairs, const std::vector<double>& dates);
  /// Times and checks a round whose ranks are out of step. Computes `flows` of `pairs` again, from each pair's date.
  Refused out_of_step(const RoundFlows& timed, const std::vector<double>& dates, std::vector<Pair>& pairs,
                      std::vector<RoundFlow>& flows);
  /// Begins a phase of rounds with one pattern.
  void begin_phase(bool checked);
  /// Checks flows of pairs that begin at these dates, in a round that represents `times` rounds. `steady`: pairs whose
  /// messages follow one another without a pause. `by_dates`: transfer times were computed with these dates.
  void check(const KnownPattern& known, const std::vector<Pair>& pairs, const std::vector<RoundFlow>& flows,
             const std::vector<double>& begins, const std::vector<bool>& steady, bool by_dates, double times);
  /// Records that messages are in flight until this date.
  void is_busy_until(double date);

 private:
  /// Use of a link, as needed to check flows of later rounds.
  struct LinkWatch {
    std::int64_t round = -1;                 ///< number of the check that last set `first` … `behind`
    double first = 0, last = 0;              ///< seconds, beginnings of transfers
    double fastest = 0;                      ///< byte/s, sum of the rates of all transfers if each were alone
    double until = 0, behind = 0;            ///< seconds, end of this round's transfers; byte/s, sum of their rates
    double busy_until = 0, busy_behind = 0;  ///< end of earlier rounds' transfers, seconds, and sum of their rates,
                                             ///< byte/s
  };
  /// The last round in which all pairs sent at one date into an idle network.
  struct LastInStep {
    const KnownPattern* known = nullptr;  ///< null: there is no such round, or it has been checked
    std::vector<RoundFlow> flows;
    double begin = 0;
  };
  /// Records the use of links by the last round in step.
  void check_last_in_step();

  FlowNetwork& ranks_;
  const FlowRates& rates_;
  std::vector<LinkWatch> watch_;  ///< use of each link
  LastInStep last_in_step_;
  double busy_until_ = 0;  ///< date at which all sent messages have been delivered, seconds
  std::int64_t checks_ = 0;
  std::int64_t phase_begin_ = 0;  ///< number of the phase's first check
  double doubt_ = 0;              ///< seconds by which dates may be wrong
};

}  // namespace dadsim::sim
