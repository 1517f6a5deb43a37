#pragma once

#include <vector>

#include "sim/network/in_step_check.hpp"

namespace dadsim::sim {

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

}  // namespace dadsim::sim
