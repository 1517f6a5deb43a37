#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/efficiency.hpp"
#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "study/sweep/results.hpp"

namespace dadsim::study {

/// Time of a run of a point to the target, over its seeds.
struct TimeToTarget {
  std::string label;
  std::optional<estimate::Estimate> seconds;  ///< mean with its 95 % interval; none unless every seed has a time
  estimate::Verdict verdict = {};             ///< comparison with the quickest run, if this one has a time
  double best_accuracy = 0;                   ///< best over all seeds
  estimate::Contender contender = {};         ///< input of the statistical comparison
};

/// Outcome of a point: its runs, quickest first. With a metric of work, a price replaces the time
/// (report/run/work.hpp), and the best run is first. References do not compete with other runs, nor do event-driven
/// runs if a workload is timed.
///
/// A timed workload is ranked by time to accuracy if this is known, otherwise by step time. Without a timed workload,
/// runs are ranked by the learning network's time to the target. If points do different work per step, or the scenario
/// asks for it, a metric of work ranks all points.
struct PointOutcome {
  std::size_t point = 0;             ///< index among SweepResults::points
  std::vector<TimeToTarget> ranked;  ///< runs that reach the target by time, then others; empty: failed or open
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

/// Best of all points, by one run or by the best run of each point; none if no point has a time.
struct BestPoint {
  std::size_t point = 0;              ///< index among SweepResults::points
  std::optional<std::size_t> next;    ///< next best point that can be distinguished from the best
  estimate::Estimate factor;          ///< time or price of the next point ÷ that of the best
  std::vector<std::size_t> beside{};  ///< points that cannot be distinguished from the best
};
std::optional<BestPoint> best_point(const std::vector<PointOutcome>& all);

/// Returns the metric that decides the largest number of points.
report::Metric metric_of(const std::vector<PointOutcome>& all);

}  // namespace dadsim::study
