#pragma once

#include <cstdint>
#include <vector>

#include "sim/flow/flow_rates.hpp"

namespace dadsim::sim {

/// What flows of a round take for granted, and whether it is so: that those who share a link are at work on it at the
/// same time, and that what was sent in rounds before has passed.
class InStepCheck {
 public:
  using Pair = FlowPattern::Pair;

  InStepCheck(FlowNetwork& ranks, const FlowRates& rates) : ranks_(ranks), rates_(rates) {}

  /// Of another collective, on a network that has nothing to do.
  void start();
  /// Patterns that were seen are no longer there.
  void forget_patterns() { last_in_step_ = {}; }
  /// Nor what links do.
  void forget_links() { std::vector<LinkWatch>().swap(watch_); }
  double doubt() const { return doubt_; }  ///< seconds by which the ranks' dates may be wrong

  /// A round that all enter at one date, behind all that was sent before: noted, and nothing is in doubt.
  bool begins_in_step(const RoundFlows& timed, const std::vector<Pair>& pairs, const std::vector<double>& dates);
  /// One round that is not. What its pairs take is worked out again, by when each begins (`flows`, of `pairs`).
  Refused out_of_step(const RoundFlows& timed, const std::vector<double>& dates, std::vector<Pair>& pairs,
                      std::vector<RoundFlow>& flows);
  /// Rounds of one pattern follow.
  void begin_phase(bool checked);
  /// Flows of the pairs begin at these dates; `steady`: which of them follow one another without a pause; `by_dates`:
  /// what they take was worked out with these. The round stands for `times`.
  void check(const KnownPattern& known, const std::vector<Pair>& pairs, const std::vector<RoundFlow>& flows,
             const std::vector<double>& begins, const std::vector<bool>& steady, bool by_dates, double times);
  /// Until this date something is under way.
  void is_busy_until(double date);

 private:
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
    std::vector<RoundFlow> flows;
    double begin = 0;
  };
  /// What the last round in step leaves on the links.
  void check_last_in_step();

  FlowNetwork& ranks_;
  const FlowRates& rates_;
  std::vector<LinkWatch> watch_;  ///< per link
  LastInStep last_in_step_;
  double busy_until_ = 0;  ///< seconds: when all that was sent has passed
  std::int64_t checks_ = 0;
  std::int64_t phase_begin_ = 0;  ///< the first check of the phase
  double doubt_ = 0;              ///< seconds
};

}  // namespace dadsim::sim
