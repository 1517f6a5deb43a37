#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "spec/specification.hpp"

namespace dadsim::sim {

/// Returns whether a computation belongs to compression. Plain steps have no such computations.
bool is_compression(step::Phase phase);

/// Returns the measured time of a step ÷ its time by the roofline, for the device's computations of `entry` in the
/// schedule. A slower device of the same kind takes longer in proportion. In a pipeline only computations of `stage`
/// count, because the measured step is that of one device. Without a measurement the factor is 1, or larger if
/// launching all kernels takes the host longer than running them. The longer of both sums counts, not the longer time
/// of each kernel, because the host runs ahead.
double step_factor(const spec::DeviceSpec& device, const schedule::Schedule& schedule, step::Role who,
                   std::size_t entry, std::int32_t stage = schedule::kEveryStage);

/// Returns the seconds of one computation of the schedule on this device.
double seconds_in_schedule(const spec::DeviceSpec& device, const schedule::Schedule& schedule,
                           const schedule::ComputeTask& task, std::size_t entry);

/// Seconds of a schedule's computations on the devices of its nodes: by the roofline, a measured step, or the host's
/// launches. A step's time is divided among the computations in proportion to the roofline. Compression (factorising,
/// merging, adding) is not part of measured steps and uses the roofline.
class ComputeTime {
 public:
  /// `devices`: one per worker, then the aggregator's if there is one. The schedule's workers use the first ones.
  ComputeTime(const std::vector<const spec::DeviceSpec*>& devices, const schedule::Schedule& schedule);

  /// Returns the seconds of `task` on device `device` for the part of `entry`: the worker's number, or the number of
  /// its replica if replicas have several devices; 0 at the aggregator.
  double seconds(std::size_t device, const schedule::ComputeTask& task, std::size_t entry) const;
  /// Returns whether equal devices take equal seconds, in every stage.
  bool is_plain() const { return factor_.empty(); }

 private:
  const std::vector<const spec::DeviceSpec*>& devices_;
  spec::Precision precision_;
  std::vector<double> factor_;  ///< step_factor() of each device; empty: all are 1
};

}  // namespace dadsim::sim
