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
#include "plan/workload.hpp"
#include "report/human.hpp"
#include "sim/device.hpp"
#include "sim/platform_check.hpp"
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

std::vector<StepTiming> time_run(const Trajectory& trajectory, const Cluster& cluster, const ModelShape& learned,
                                 const ModelShape& timed, double sample_scale,
                                 const std::function<void(std::size_t)>& progress) {
  std::vector<Schedule> schedules;
  schedules.reserve(trajectory.distinct_steps.size());
  for (const Step& step : trajectory.distinct_steps) {
    schedules.push_back(instantiate(trajectory.structures[static_cast<std::size_t>(step.structure)], step.sizes,
                                    learned, timed, sample_scale));
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
  std::set<std::string> used;
  for (const Placement& worker : scenario.workers) used.insert(worker.device);
  if (scenario.aggregator) used.insert(scenario.aggregator->device);
  for (const std::string& name : used) {
    const DeviceSpec& device = find_device(scenario, name);
    assumptions.push_back(fmt::format("{} computes by a roofline: {}", name, device.source));
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
  if (varies_over_time(cluster.platform)) {
    for (Trajectory& trajectory : trajectories) unfold(trajectory);
  }
  Progress progress("timing", scenario.runs.size(), show_progress);
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const Trajectory& trajectory = trajectories[i];
    const std::vector<StepTiming> timings =
        time_run(trajectory, cluster, learned, timed, sample_scale, [&](std::size_t done) {
          if (interrupted().load()) throw Cancelled();
          progress.update(i, static_cast<std::int64_t>(done),
                          static_cast<std::int64_t>(trajectory.distinct_steps.size()));
        });
    if (interrupted().load()) throw Cancelled();
    const bool pooled = find_algorithm(scenario.runs[i].algorithm).sharing == Sharing::pooled;
    RunResult run = summarise(scenario.runs[i], trajectory, timings, pooled ? 1 : scenario.workers.size(),
                              scenario.training.target_accuracy);
    run.notes = notes_of(scenario.runs[i], trajectory, result.timed_as_other);
    result.runs.push_back(std::move(run));
  }
  result.timing_wall_seconds = seconds_since(timing_start);
  return result;
}

}  // namespace dadsim
