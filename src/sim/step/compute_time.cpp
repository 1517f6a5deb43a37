#include "sim/step/compute_time.hpp"

#include <algorithm>
#include <variant>

#include "sim/device.hpp"

namespace dadsim::sim {

bool is_compression(step::Phase phase) {
  return phase == step::Phase::factorise || phase == step::Phase::merge || phase == step::Phase::add ||
         phase == step::Phase::encode || phase == step::Phase::decode;
}

double measured_factor(const spec::DeviceSpec& device, const step::Schedule& schedule, step::Role who,
                       std::size_t entry) {
  if (!(device.step_seconds > 0)) return 1;
  double sum = 0;
  for (const step::Task& task : schedule.tasks) {
    const auto* compute = std::get_if<step::ComputeTask>(&task.what);
    if (compute == nullptr || compute->who != who || is_compression(compute->phase)) continue;
    sum += seconds_on(device, *compute, entry, schedule.precision);
  }
  return sum > 0 ? device.slowness * device.step_seconds / sum : 1;
}

double seconds_in_schedule(const spec::DeviceSpec& device, const step::Schedule& schedule,
                           const step::ComputeTask& task, std::size_t entry) {
  const double seconds = seconds_on(device, task, entry, schedule.precision);
  return is_compression(task.phase) ? seconds : seconds * measured_factor(device, schedule, task.who, entry);
}

ComputeTime::ComputeTime(const std::vector<const spec::DeviceSpec*>& devices, const step::Schedule& schedule)
    : devices_(devices), precision_(schedule.precision) {
  if (std::ranges::none_of(devices, [](const spec::DeviceSpec* device) { return device->step_seconds > 0; })) return;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool worker = i < schedule.workers;
    factor_.push_back(
        measured_factor(*devices[i], schedule, worker ? step::Role::workers : step::Role::aggregator, worker ? i : 0));
  }
}

double ComputeTime::seconds(std::size_t device, const step::ComputeTask& task, std::size_t entry) const {
  const double seconds = seconds_on(*devices_[device], task, entry, precision_);
  return factor_.empty() || is_compression(task.phase) ? seconds : seconds * factor_[device];
}

}  // namespace dadsim::sim
