#include "study/setting/schedule_memory.hpp"

#include <algorithm>
#include <utility>

#include "algorithms/registry.hpp"
#include "schedule/divide.hpp"
#include "schedule/fuse.hpp"
#include "spec/device_part.hpp"

namespace dadsim::study {
namespace {

double bytes_of(const schedule::Schedule& schedule) {
  // Assumes computations with three values per worker: most schedules have some, because workers differ.
  return static_cast<double>(schedule.tasks.size()) *
         (sizeof(schedule::Task) + 3.0 * sizeof(double) * static_cast<double>(schedule.workers));
}

bool sums_gradients(const spec::RunSpec& run) {
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(run.algorithm);
  return info != nullptr && info->sums_gradients(run);
}

/// Returns the recorded step for all layers of one device's part, or for the layers `layers`.
schedule::Schedule undivided_schedule(const spec::RunSpec& run, const step::StepStructure& structure,
                                      const step::Step& step, const spec::ModelShape& learned,
                                      const spec::ModelShape& device, const TimedAs& timed, double sample_scale,
                                      const step::Assignment* assignment, const spec::LayerRange* layers) {
  // Stages bucket their messages themselves.
  const bool staged = run.exchange == spec::ExchangeMode::peer &&
                      std::ranges::any_of(structure.sweeps, [](const step::Sweep& sweep) { return sweep.stage > 0; });
  schedule::Schedule schedule =
      schedule::instantiate(structure, step.sizes, learned, device, sample_scale, timed.precision, assignment,
                            {.bytes = staged ? run.bucket_bytes : 0, .first = run.first_bucket_bytes}, layers);
  for (schedule::Task& task : schedule.tasks) {
    if (auto* compute = std::get_if<schedule::ComputeTask>(&task.what);
        compute != nullptr && compute->phase == step::Phase::update && timed.update_share != 1) {
      compute->bytes_moved = compute->bytes_moved.scaled(timed.update_share);
    }
    auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    if (sums_in_fp32(run, timed)) collective->bytes = collective->bytes.scaled(timed.gradient_width);
    if (collective->kind == step::CollectiveKind::all_reduce) collective->algorithm = run.all_reduce;
    if (collective->kind == step::CollectiveKind::all_gather) collective->algorithm = run.all_gather;
  }
  if (staged) return schedule;
  return fuse_all_reduces(schedule, run.bucket_bytes, run.first_bucket_bytes);
}

/// Returns the recorded step with the run's collectives.
schedule::Schedule recorded_schedule(const spec::RunSpec& run, schedule::Schedule schedule) {
  for (schedule::Task& task : schedule.tasks) {
    auto* collective = std::get_if<schedule::CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    if (collective->kind == step::CollectiveKind::all_reduce) collective->algorithm = run.all_reduce;
    if (collective->kind == step::CollectiveKind::all_gather) collective->algorithm = run.all_gather;
    if (collective->kind == step::CollectiveKind::reduce_scatter) collective->algorithm = run.reduce_scatter;
  }
  return schedule;
}

}  // namespace

schedule::Schedule schedule_of(const spec::RunSpec& run, const step::Trajectory& trajectory, const step::Step& step,
                               const spec::ModelShape& learned, const TimedAs& timed,
                               const step::Assignment* assignment) {
  if (timed.recorded) return recorded_schedule(run, *timed.recorded);
  const step::StepStructure& structure = trajectory.structures[static_cast<std::size_t>(step.structure)];
  if (!timed.parallelism.divides()) {
    return undivided_schedule(run, structure, step, learned, timed.shape, timed, timed.sample_scale, assignment,
                              nullptr);
  }
  const spec::ModelShape device = spec::sharded(timed.shape, timed.parallelism.tensor);
  const auto of_network = [&](const spec::ModelShape& network) {
    return [&](const spec::LayerRange& layers, double sample_scale) {
      return undivided_schedule(run, structure, step, learned, network, timed, sample_scale, assignment, &layers);
    };
  };
  return schedule::divide({.step = of_network(device),
                           .whole = timed.shape,
                           .device = device,
                           .batch = timed.batch,
                           .micro_batches = timed.micro_batches,
                           .sample_scale = timed.sample_scale,
                           .all_reduce = run.all_reduce,
                           .all_gather = run.all_gather,
                           .reduce_scatter = run.reduce_scatter,
                           .sums_gradients = sums_gradients(run),
                           .of_whole = of_network(timed.shape)},
                          timed.parallelism, step.sizes.samples.size());
}

ScheduleMemory::Pointer ScheduleMemory::of(const spec::RunSpec& run, const TrajectoryPtr& trajectory,
                                           const spec::ModelShape& learned, const TimedAs& timed,
                                           const std::vector<step::Assignment>& assignment) {
  const Key key{trajectory,           assignment,          run.all_reduce,         run.all_gather,
                run.reduce_scatter,   run.bucket_bytes,    run.first_bucket_bytes, timed.sample_scale,
                timed.gradient_width, timed.update_share,  timed.precision,        timed.shape,
                timed.parallelism,    timed.micro_batches, timed.recorded};
  if (const std::optional<Pointer> known = store_.find(key)) return *known;
  std::vector<schedule::Schedule> schedules;
  schedules.reserve(trajectory->distinct_steps.size());
  double bytes = 0;
  for (const step::Step& step : trajectory->distinct_steps) {
    const step::Assignment* of_step =
        assignment.empty() ? nullptr : &assignment.at(static_cast<std::size_t>(step.structure));
    schedules.push_back(schedule_of(run, *trajectory, step, learned, timed, of_step));
    bytes += bytes_of(schedules.back());
  }
  schedule::StepKinds kinds(schedules);
  auto made = std::make_shared<const Schedules>(Schedules{std::move(schedules), std::move(kinds)});
  if (bytes <= kMostBytes) store_.keep(key, made, bytes);
  return made;
}

}  // namespace dadsim::study
