#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "spec/specification.hpp"

namespace dadsim::sim {

/// Whether a computation is one that an algorithm has beside a step without communication.
bool is_compression(step::Phase phase);

/// What a device that was measured takes (a slower one of its kind: longer by that) ÷ its roofline, in the computations
/// of entry `entry` of the schedule. Of a pipeline the computations of its `stage`: the measured step is that of the
/// device. Where it was not measured 1, and more where its host takes longer to begin all these kernels than it takes
/// for them: the host runs ahead of the device, so that the longer of both sums counts and not that of each kernel.
double step_factor(const spec::DeviceSpec& device, const schedule::Schedule& schedule, step::Role who,
                   std::size_t entry, std::int32_t stage = schedule::kEveryStage);

/// Seconds of one computation of the schedule on such a device.
double seconds_in_schedule(const spec::DeviceSpec& device, const schedule::Schedule& schedule,
                           const schedule::ComputeTask& task, std::size_t entry);

/// Seconds of a schedule's computations on the devices of its nodes: by the roofline, or a measured step, or what the
/// host takes to begin it, divided among the computations by their time on the roofline. What an algorithm computes
/// beside the step (factorising, merging, adding up) was not measured with it and stays with the roofline.
class ComputeTime {
 public:
  /// `devices`: per worker, then the aggregator's if there is one. The schedule's workers use the first ones.
  ComputeTime(const std::vector<const spec::DeviceSpec*>& devices, const schedule::Schedule& schedule);

  /// Seconds of `task` on device `device`, which does the part of `entry` (the worker's number, where replicas are of
  /// several devices that of the replica; 0 at the aggregator).
  double seconds(std::size_t device, const schedule::ComputeTask& task, std::size_t entry) const;

 private:
  const std::vector<const spec::DeviceSpec*>& devices_;
  spec::Precision precision_;
  std::vector<double> factor_;  ///< per device: step_factor(); empty where all are 1
};

}  // namespace dadsim::sim
