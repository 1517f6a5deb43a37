#include "sim/compute_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <variant>

#include "sim/device.hpp"

namespace dadsim {
namespace {

double on_roofline(const DeviceSpec& device, const ComputeTask& task, std::size_t entry) {
  return seconds_on(device, task.phase, task.flops[entry], task.bytes_moved[entry], task.launches[entry]);
}

}  // namespace

ComputeTime::ComputeTime(const std::vector<const DeviceSpec*>& devices, const Schedule& schedule) : devices_(devices) {
  if (std::ranges::none_of(devices, [](const DeviceSpec* device) { return device->step_seconds > 0; })) return;
  factor_.assign(devices.size(), 1.0);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!(devices[i]->step_seconds > 0)) continue;
    const bool worker = i < schedule.workers;
    double sum = 0;
    for (const Task& task : schedule.tasks) {
      const auto* compute = std::get_if<ComputeTask>(&task.what);
      if (compute == nullptr || worker != (compute->who == Role::workers)) continue;
      sum += on_roofline(*devices[i], *compute, worker ? i : 0);
    }
    if (sum > 0) factor_[i] = devices[i]->step_seconds / sum;
  }
}

double ComputeTime::seconds(std::size_t device, const ComputeTask& task, std::size_t entry) const {
  const double seconds = on_roofline(*devices_[device], task, entry);
  return factor_.empty() ? seconds : seconds * factor_[device];
}

}  // namespace dadsim
