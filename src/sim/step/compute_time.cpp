#include "sim/step/compute_time.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <variant>

#include "sim/device.hpp"
#include "sim/step/step_semantics.hpp"

namespace dadsim::sim {

bool is_compression(step::Phase phase) {
  return phase == step::Phase::factorise || phase == step::Phase::merge || phase == step::Phase::add ||
         phase == step::Phase::encode || phase == step::Phase::decode;
}

namespace {

/// Returns whether the program's operators are known and the host launches kernels individually.
bool takes_host(const schedule::Schedule& schedule) {
  return std::ranges::any_of(schedule.tasks, [](const schedule::Task& task) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    return compute != nullptr && compute->shape->host > 0;
  });
}

}  // namespace

double step_factor(const spec::DeviceSpec& device, const schedule::Schedule& schedule, step::Role who,
                   std::size_t entry, std::int32_t stage) {
  const bool measured = device.step_seconds > 0;
  if (!measured && !takes_host(schedule)) return 1;
  double sum = 0, host = 0;
  for (const schedule::Task& task : schedule.tasks) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    if (compute == nullptr || compute->who != who || is_compression(compute->phase) ||
        compute->copy != schedule::HostCopy::none)
      continue;
    if (stage != schedule::kEveryStage && task.stage != schedule::kEveryStage && task.stage != stage) continue;
    host += compute->shape->host;
    sum += seconds_on(device, *compute, entry, schedule.precision);
  }
  if (!(sum > 0)) return 1;
  return measured ? device.slowdown * device.step_seconds / sum : std::max(1.0, host / sum);
}

double seconds_in_schedule(const spec::DeviceSpec& device, const schedule::Schedule& schedule,
                           const schedule::ComputeTask& task, std::size_t entry) {
  const double seconds = seconds_on(device, task, entry, schedule.precision);
  return task.copy != schedule::HostCopy::none || is_compression(task.phase)
             ? seconds
             : seconds * step_factor(device, schedule, task.who, entry);
}

ComputeTime::ComputeTime(const std::vector<const spec::DeviceSpec*>& devices, const schedule::Schedule& schedule)
    : devices_(devices), precision_(schedule.precision) {
  if (std::ranges::none_of(devices, [](const spec::DeviceSpec* device) { return device->step_seconds > 0; }) &&
      !takes_host(schedule))
    return;
  const Parts parts(schedule, devices.size());
  const bool uniform = std::ranges::all_of(schedule.tasks, [](const schedule::Task& task) {
    const auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
    return compute == nullptr || (compute->flops.is_uniform() && compute->bytes_moved.is_uniform() &&
                                  compute->launches.is_uniform() && compute->seconds.is_uniform());
  });
  // Computes the factor of equal devices once.
  std::map<std::tuple<std::string, double, double, bool, std::int32_t, std::size_t>, double> known;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const spec::DeviceSpec& device = *devices[i];
    const bool worker = i < schedule.workers;
    const std::int32_t stage = worker ? parts.stage_of(i) : schedule::kEveryStage;
    const std::size_t entry = worker ? parts.entry(i) : 0;
    const auto [factor, added] =
        known.try_emplace({device.name, device.step_seconds, device.slowdown, worker, stage, uniform ? 0 : entry}, 1);
    if (added) {
      factor->second =
          step_factor(device, schedule, worker ? step::Role::workers : step::Role::aggregator, entry, stage);
    }
    factor_.push_back(factor->second);
  }
}

double ComputeTime::seconds(std::size_t device, const schedule::ComputeTask& task, std::size_t entry) const {
  const double seconds = seconds_on(*devices_[device], task, entry, precision_);
  const bool counted = !factor_.empty() && !is_compression(task.phase) && task.copy == schedule::HostCopy::none;
  return counted ? seconds * factor_[device] : seconds;
}

}  // namespace dadsim::sim
