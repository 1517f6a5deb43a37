#include "sim/step/compute_time.hpp"

#include <algorithm>
#include <variant>

#include "sim/device.hpp"

namespace dadsim::sim {

bool is_compression(step::Phase phase) {
  return phase == step::Phase::factorise || phase == step::Phase::merge || phase == step::Phase::add ||
         phase == step::Phase::encode || phase == step::Phase::decode;
}

ComputeTime::ComputeTime(const std::vector<const spec::DeviceSpec*>& devices, const step::Schedule& schedule)
    : devices_(devices), precision_(schedule.precision) {
  if (std::ranges::none_of(devices, [](const spec::DeviceSpec* device) { return device->step_seconds > 0; })) return;
  factor_.assign(devices.size(), 1.0);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (!(devices[i]->step_seconds > 0)) continue;
    const bool worker = i < schedule.workers;
    double sum = 0;
    for (const step::Task& task : schedule.tasks) {
      const auto* compute = std::get_if<step::ComputeTask>(&task.what);
      if (compute == nullptr || worker != (compute->who == step::Role::workers)) continue;
      if (is_compression(compute->phase)) continue;
      sum += seconds_on(*devices[i], *compute, worker ? i : 0, precision_);
    }
    if (sum > 0) factor_[i] = devices[i]->step_seconds / sum;
  }
}

double ComputeTime::seconds(std::size_t device, const step::ComputeTask& task, std::size_t entry) const {
  const double seconds = seconds_on(*devices_[device], task, entry, precision_);
  return factor_.empty() || is_compression(task.phase) ? seconds : seconds * factor_[device];
}

}  // namespace dadsim::sim
