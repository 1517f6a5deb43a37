#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/efficiency.hpp"
#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "study/sweep/results.hpp"

namespace dadsim::study {

/// A run of a point with its time to the target, over its seeds.
struct TimeToTarget {
  std::string label;
  std::optional<estimate::Estimate> seconds;  ///< mean with its 95 % interval; none unless every seed has a time
  estimate::Verdict verdict = {};             ///< relation to the quickest, if it has a time
  double best_accuracy = 0;                   ///< over all seeds
  estimate::Contender contender = {};         ///< input of the comparison
};

/// A decided point: its runs, quickest first. With a metric of work, a price replaces the time (report/run/work.hpp),
/// and the best run is first. References do not compete with other runs, nor do event-driven runs if a workload is
/// timed.
///
/// A workload is decided by its time to accuracy if that is known, otherwise by its step; else the time to the target
/// of the network that learned decides. If points do different work in a step, or the scenario asks for it, all are
/// decided by a metric of work.
struct PointOutcome {
  std::size_t point = 0;             ///< index among SweepResults::points
  std::vector<TimeToTarget> ranked;  ///< runs that reach the target by time, then the others; empty: failed or open
  report::Metric metric = report::Metric::time_to_target;
  /// Returns whether some run reaches the target.
  bool reached() const { return !ranked.empty() && ranked.front().seconds.has_value(); }
  /// Returns whether the quickest run reaches the target and is distinguished from all others.
  bool won() const { return reached() && !is_open(); }
  /// Returns whether the quickest is equal to others, or cannot be distinguished from them.
  bool is_open() const;
  /// Returns the runs not distinguished from the quickest.
  std::vector<const TimeToTarget*> beside_first() const;
};

/// Returns the outcome of every point, in order.
std::vector<PointOutcome> outcomes(const SweepResults& results);

/// Best of the points, by one run or by the best run of each point; none unless some point has a time.
struct BestPoint {
  std::size_t point = 0;              ///< index among SweepResults::points
  std::optional<std::size_t> next;    ///< next point, distinguishable from the best
  estimate::Estimate factor;          ///< ratio of the next point's time, or price
  std::vector<std::size_t> beside{};  ///< points not distinguished from it
};
std::optional<BestPoint> best_point(const std::vector<PointOutcome>& all);

/// Returns the metric that decides most points.
report::Metric metric_of(const std::vector<PointOutcome>& all);

}  // namespace dadsim::study
