#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"
#include "step/step_sample.hpp"

namespace dadsim::schedule {

/// Bytes per node in a step: workers, then the aggregator if it is used.
struct Traffic {
  std::vector<double> sent, received;
};

/// The schedules of a run, grouped by equality. Properties of a kind hold on any platform, so one object serves timing
/// on many platforms.
class StepKinds {
 public:
  /// Schedules must have values for all their workers.
  explicit StepKinds(std::span<const Schedule> schedules);

  struct Collective {
    step::CollectiveKind kind = step::CollectiveKind::gather;
    double bytes = 0;  ///< largest number of bytes that a worker sends in a gather, or receives in a broadcast
  };
  struct Kind {
    std::size_t first = 0;               ///< index of the first schedule of this kind
    step::StepSample::SampledStep size;  ///< sizes of the kind, without the number of occurrences
    std::vector<Collective> at_star;     ///< gathers and broadcasts with the aggregator
    Traffic star_traffic;                ///< traffic of these gathers and broadcasts
    std::vector<std::size_t> elsewhere;  ///< indices of other collectives, whose algorithm is chosen later
  };
  const std::vector<Kind>& kinds() const { return kinds_; }
  /// Returns the kind of each schedule.
  const std::vector<std::size_t>& of() const { return of_; }

 private:
  std::vector<Kind> kinds_;
  std::vector<std::size_t> of_;
};

}  // namespace dadsim::schedule
