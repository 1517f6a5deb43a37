#include "cli/experiment.hpp"

#include <fmt/format.h>

#include <chrono>
#include <numeric>
#include <set>

#include "algorithms/learn.hpp"
#include "algorithms/registry.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "models/dataset.hpp"
#include "plan/fuse.hpp"
#include "plan/workload.hpp"
#include "report/human.hpp"
#include "sim/device.hpp"
#include "sim/simulator.hpp"
#include "support/parallel.hpp"
#include "support/version.hpp"

namespace dadsim {
namespace {

const DeviceSpec& find_device(const Scenario& scenario, const std::string& name) {
  for (const DeviceSpec& device : scenario.devices) {
    if (device.name == name) return device;
  }
  for (const DeviceSpec& device : device_catalog()) {
    if (device.name == name) return device;
  }
  throw std::logic_error("the device '" + name + "' was not checked");
}

Cluster cluster_of(const Scenario& scenario) {
  Cluster cluster;
  cluster.platform = scenario.platform;
  for (const Placement& worker : scenario.workers) {
    cluster.hosts.push_back(worker.host);
    cluster.devices.push_back(find_device(scenario, worker.device));
  }
  if (scenario.aggregator) {
    cluster.aggregator_host = scenario.aggregator->host;
    cluster.aggregator_device = find_device(scenario, scenario.aggregator->device);
  }
  cluster.network = scenario.network;
  cluster.seed = scenario.seed;
  return cluster;
}

std::string describe(const std::string& name, const ModelShape& shape, std::int64_t batch) {
  return fmt::format("{} ({} parameters), batch {} per worker", name, human_count(shape.parameters()), batch);
}

/// The network of the scenario as shapes; it is not learned from.
ModelShape learned_shape(const Scenario& scenario, const Dataset& data) {
  return Network(data.train.features.cols(), scenario.model, scenario.seed).shape();
}

std::vector<Trajectory> learn_all(const Scenario& scenario, const Dataset& data, const Partition& partition,
                                  bool show_progress) {
  const LearningProblem problem{data, partition, scenario.model, scenario.training, scenario.seed};
  std::vector<Trajectory> trajectories(scenario.runs.size());
  Progress progress("learning", scenario.runs.size(), show_progress);
  parallel_for(scenario.runs.size(), [&](std::size_t i) {
    LearningObserver observer;
    observer.progress = [&progress, i](std::int64_t done, std::int64_t total) { progress.update(i, done, total); };
    observer.cancelled = &interrupted();
    trajectories[i] = learn(scenario.runs[i], problem, observer);
  });
  return trajectories;
}

/// With the collectives that the run asks for.
Schedule schedule_of(const RunSpec& run, const Trajectory& trajectory, const Step& step, const ModelShape& learned,
                     const ModelShape& timed, double sample_scale) {
  Schedule schedule = instantiate(trajectory.structures[static_cast<std::size_t>(step.structure)], step.sizes, learned,
                                  timed, sample_scale);
  for (Task& task : schedule.tasks) {
    auto* collective = std::get_if<CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    if (collective->kind == CollectiveKind::all_reduce) collective->algorithm = run.all_reduce;
    if (collective->kind == CollectiveKind::all_gather) collective->algorithm = run.all_gather;
  }
  return fuse_all_reduces(schedule, run.bucket_bytes);
}

TimedRun time_run(const RunSpec& run, const Trajectory& trajectory, const Cluster& cluster, const ModelShape& learned,
                  const ModelShape& timed, double sample_scale, const std::function<void(std::size_t)>& progress) {
  std::vector<Schedule> schedules;
  schedules.reserve(trajectory.distinct_steps.size());
  for (const Step& step : trajectory.distinct_steps) {
    schedules.push_back(schedule_of(run, trajectory, step, learned, timed, sample_scale));
  }
  return time_schedules(cluster, schedules, progress);
}

std::vector<std::string> assumptions_of(const Scenario& scenario, const Result& result) {
  std::vector<std::string> assumptions;
  if (result.timed_as_other) {
    assumptions.push_back(
        fmt::format("Learned on {}, timed as {}: steps, accuracies and effective ranks are those of the learned "
                    "network (ranks by relative "
                    "depth, limited to what each layer allows); sizes and times are those of the workload. The steps "
                    "that the workload "
                    "itself would need are not known here.",
                    result.learned_on, result.timed_as));
  }
  assumptions.emplace_back(
      "Every step is timed from an idle cluster and steps add up: a step begins when all workers have ended the one "
      "before it. "
      "Evaluation and start-up are not charged.");
  if (!(scenario.network.jitter == JitterSpec{})) {
    assumptions.push_back(fmt::format(
        "Computing jitters: log-normal factors with mean 1, sigma {} from worker to worker and {} from step to "
        "step.",
        scenario.network.jitter.spatial, scenario.network.jitter.temporal));
  }
  if (scenario.network.rendezvous) {
    assumptions.emplace_back(
        "A message leaves when its receiver has posted it and the news has come (rendezvous, as gloo).");
  }
  std::set<std::string> used;
  for (const Placement& worker : scenario.workers) used.insert(worker.device);
  if (scenario.aggregator) used.insert(scenario.aggregator->device);
  for (const std::string& name : used) {
    const DeviceSpec& device = find_device(scenario, name);
    assumptions.push_back(
        device.step_seconds > 0
            ? fmt::format("{}: all computations of a step take {} s as measured, divided by their time on a roofline",
                          name, device.step_seconds)
            : fmt::format("{} computes by a roofline: {}", name, device.source));
  }
  return assumptions;
}

std::vector<std::string> notes_of(const RunSpec& run, const Trajectory& trajectory, bool timed_as_other) {
  std::vector<std::string> notes;
  const AlgorithmInfo& info = find_algorithm(run.algorithm);
  if (info.sharing == Sharing::pooled) {
    notes.emplace_back(
        "timed on the first worker alone, with the batches of all; the data are taken to be there already");
  }
  if (info.sharing == Sharing::no_sharing) notes.emplace_back("accuracy is the mean over the sites' own networks");
  if (timed_as_other && run.algorithm == "edad") {
    notes.emplace_back(
        "timed as if edAD were exact for every layer of the workload; for attention and batch norm it is not");
  }
  if (trajectory.diverged_at > 0) {
    notes.push_back(
        fmt::format("diverged: the loss was no longer a finite number after step {}", trajectory.diverged_at));
  }
  return notes;
}

/// Every training step by itself, so that each is timed at its own date.
void unfold(Trajectory& trajectory) {
  std::vector<Step> steps;
  for (const std::int32_t index : trajectory.steps)
    steps.push_back(trajectory.distinct_steps[static_cast<std::size_t>(index)]);
  trajectory.distinct_steps = std::move(steps);
  std::iota(trajectory.steps.begin(), trajectory.steps.end(), 0);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Result run_experiment(const Scenario& scenario, bool show_progress) {
  const auto learning_start = std::chrono::steady_clock::now();
  const Dataset data = load_dataset(scenario.data, scenario.seed);
  const Partition partition =
      split_over_sites(scenario.data.split, data.train, data.classes, scenario.workers.size(), scenario.seed);
  const ModelShape learned = learned_shape(scenario, data);
  std::vector<Trajectory> trajectories = learn_all(scenario, data, partition, show_progress);

  Result result;
  result.version = kVersion;
  result.simgrid = simgrid_version();
  result.network_model = network_model_description();
  result.scenario_name = scenario.name;
  result.seed = scenario.seed;
  result.hash = scenario.hash;
  result.target_accuracy = scenario.training.target_accuracy;
  result.learned_on = fmt::format("{} on {}", describe(learned.name, learned, scenario.training.batch), data.name);
  result.timed_as = result.learned_on;
  ModelShape timed = learned;
  double sample_scale = 1;
  if (scenario.timed_as) {
    timed = find_workload(scenario.timed_as->workload)->shape();
    result.timed_as = describe(scenario.timed_as->workload, timed, scenario.timed_as->batch);
    result.timed_as_other = true;
    sample_scale = static_cast<double>(scenario.timed_as->batch) / static_cast<double>(scenario.training.batch);
  }
  for (const LayerShape& layer : learned.layers) result.layer_names.push_back(layer.name);
  result.assumptions = assumptions_of(scenario, result);
  result.learning_wall_seconds = seconds_since(learning_start);

  const auto timing_start = std::chrono::steady_clock::now();
  const Cluster cluster = cluster_of(scenario);
  if (every_step_differs(cluster)) {
    for (Trajectory& trajectory : trajectories) unfold(trajectory);
  }
  Progress progress("timing", scenario.runs.size(), show_progress);
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const Trajectory& trajectory = trajectories[i];
    const TimedRun timings =
        time_run(scenario.runs[i], trajectory, cluster, learned, timed, sample_scale, [&](std::size_t done) {
          if (interrupted().load()) throw Cancelled();
          progress.update(i, static_cast<std::int64_t>(done),
                          static_cast<std::int64_t>(trajectory.distinct_steps.size()));
        });
    if (interrupted().load()) throw Cancelled();
    const bool pooled = find_algorithm(scenario.runs[i].algorithm).sharing == Sharing::pooled;
    RunResult run = summarise(scenario.runs[i], trajectory, timings.steps, pooled ? 1 : scenario.workers.size(),
                              scenario.training.target_accuracy, timings.first);
    run.network = timings.network;
    run.notes = notes_of(scenario.runs[i], trajectory, result.timed_as_other);
    result.runs.push_back(std::move(run));
  }
  result.timing_wall_seconds = seconds_since(timing_start);
  return result;
}

}  // namespace dadsim
