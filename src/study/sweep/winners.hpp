#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimate/efficiency.hpp"
#include "estimate/verdict.hpp"
#include "report/run/answer.hpp"
#include "study/sweep/results.hpp"

namespace dadsim::study {

/// How long a run of a point takes to the target, over its seeds.
struct TimeToTarget {
  std::string label;
  std::optional<estimate::Estimate> seconds;  ///< mean with its 95 % interval; none unless every seed has such a time
  estimate::Verdict verdict = {};             ///< how it stands to the quickest, where it has such a time
  double best_accuracy = 0;                   ///< of all seeds
  estimate::Contender contender = {};         ///< what is known of it
};

/// A point decided: its runs, quickest first; by a metric of work the best first, whose price stands in the place of a
/// time (report/run/work.hpp). The ends that algorithms are measured against take no part where there
/// are others, nor do event-driven runs where a workload is timed. By what is timed: where it is a workload, by its
/// time to accuracy if that is known and by its step if not, else by the time to the target of the network that
/// learned. Where points do other work in a step, or the scenario asks for it, all of them by a metric of work.
struct PointOutcome {
  std::size_t point = 0;             ///< index among SweepResults::points
  std::vector<TimeToTarget> ranked;  ///< those that reach the target by time, then the others; empty: failed or open
  report::Metric metric = report::Metric::time_to_target;
  /// Some run reaches the target.
  bool reached() const { return !ranked.empty() && ranked.front().seconds.has_value(); }
  /// And is told apart from all others.
  bool won() const { return reached() && !is_open(); }
  /// The quickest is equal to others, or cannot be told apart from them.
  bool is_open() const;
  /// Those that are not told apart from the quickest.
  std::vector<const TimeToTarget*> beside_first() const;
};

/// The outcome of every point, in order.
std::vector<PointOutcome> outcomes(const SweepResults& results);

/// The best of points that one run, or the best one of each, is compared at; none unless some point has a time.
struct BestPoint {
  std::size_t point = 0;              ///< index among SweepResults::points
  std::optional<std::size_t> next;    ///< the next one that is told apart from it
  estimate::Estimate factor;          ///< how many times as long, or as dear, that one is
  std::vector<std::size_t> beside{};  ///< those that are not told apart from it
};
std::optional<BestPoint> best_point(const std::vector<PointOutcome>& all);

/// What most points are decided by.
report::Metric metric_of(const std::vector<PointOutcome>& all);

}  // namespace dadsim::study
