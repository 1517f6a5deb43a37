#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "schedule/step_kinds.hpp"
#include "spec/layer_shape.hpp"
#include "spec/specification.hpp"
#include "step/trajectory.hpp"
#include "study/setting/timed_as.hpp"
#include "study/store/memory_store.hpp"

namespace dadsim::study {

/// Returns the schedule of one learned step with its sizes and the run's collectives. `assignment`: see
/// schedule::instantiate().
schedule::Schedule schedule_of(const spec::RunSpec& run, const step::Trajectory& trajectory, const step::Step& step,
                               const spec::ModelShape& learned, const TimedAs& timed,
                               const step::Assignment* assignment = nullptr);

/// Cache of the schedules of learned runs' distinct steps, for timing on further platforms. A sweep uses the same ones
/// hundreds of times, and making them can take longer than their simulation. Thread-safe.
class ScheduleMemory {
 public:
  struct Schedules {
    std::vector<schedule::Schedule> schedules;  ///< per distinct step of the trajectory
    schedule::StepKinds kinds;
  };
  using Pointer = std::shared_ptr<const Schedules>;

  using TrajectoryPtr = std::shared_ptr<const step::Trajectory>;
  /// Returns the schedules. `assignment`: one per structure of the trajectory, if its steps have alternatives.
  Pointer of(const spec::RunSpec& run, const TrajectoryPtr& trajectory, const spec::ModelShape& learned,
             const TimedAs& timed, const std::vector<step::Assignment>& assignment = {});

 private:
  /// Inputs of a schedule.
  struct Key {
    TrajectoryPtr trajectory;  ///< holds the trajectory, so that its address is not reused
    std::vector<step::Assignment> assignment;
    std::string all_reduce, all_gather, reduce_scatter;
    double bucket_bytes = 0, first_bucket_bytes = 0, sample_scale = 1, gradient_width = 1, update_share = 1;
    spec::Precision precision = spec::Precision::fp32;
    spec::ModelShape shape;
    spec::ParallelismSpec parallelism;
    std::int64_t micro_batches = 0;
    std::shared_ptr<const schedule::Schedule> recorded;
    bool operator==(const Key&) const = default;
  };

  static constexpr double kMostBytes = 256e6;  ///< approximate limit on the memory of the schedules, bytes
  MemoryStore<Key, Pointer> store_{kMostBytes};
};

}  // namespace dadsim::study
