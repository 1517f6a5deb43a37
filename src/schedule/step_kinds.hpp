#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"
#include "step/step_sample.hpp"

namespace dadsim::schedule {

/// Bytes per node of a step: workers, then the aggregator if it is used.
struct Traffic {
  std::vector<double> sent, received;
};

/// The schedules of a run by kind: equal schedules are one kind, whose properties hold on any platform. Made once for
/// timing on many platforms.
class StepKinds {
 public:
  /// Requires schedules with values for all their workers.
  explicit StepKinds(std::span<const Schedule> schedules);

  struct Collective {
    step::CollectiveKind kind = step::CollectiveKind::gather;
    double bytes = 0;  ///< bytes of the worker that sends most
  };
  struct Kind {
    std::size_t first = 0;               ///< index of the first schedule of this kind
    step::StepSample::SampledStep size;  ///< the kind's sizes, without its number of occurrences
    std::vector<Collective> at_star;     ///< gathers and broadcasts, directly to and from the aggregator
    Traffic star_traffic;                ///< traffic of these gathers and broadcasts
    std::vector<std::size_t> elsewhere;  ///< other collectives, whose algorithm is chosen later
  };
  const std::vector<Kind>& kinds() const { return kinds_; }
  /// Returns the kind of each schedule.
  const std::vector<std::size_t>& of() const { return of_; }

 private:
  std::vector<Kind> kinds_;
  std::vector<std::size_t> of_;
};

}  // namespace dadsim::schedule
