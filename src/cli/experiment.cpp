#include "cli/experiment.hpp"

#include <fmt/format.h>

#include <chrono>
#include <numeric>
#include <set>

#include "algorithms/learn.hpp"
#include "algorithms/registry.hpp"
#include "cli/device_lookup.hpp"
#include "cli/interrupt.hpp"
#include "cli/learn_runs.hpp"
#include "cli/memory_check.hpp"
#include "cli/progress.hpp"
#include "cli/scale.hpp"
#include "plan/fuse.hpp"
#include "plan/workload.hpp"
#include "report/human.hpp"
#include "sim/simulator.hpp"
#include "support/version.hpp"

namespace dadsim {
namespace {

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

/// What the steps are timed as.
struct TimedAs {
  ModelShape shape;
  std::string words;  ///< the network with its batch and precision
  std::int64_t batch = 0;
  double sample_scale = 1;  ///< timed samples ÷ learned samples
  Precision precision = Precision::fp32;
};

TimedAs timed_as_of(const Scenario& scenario, const ModelShape& learned) {
  TimedAs timed{.shape = learned, .words = learned.name, .batch = scenario.training.batch};
  if (scenario.timed_as) {
    const TimedAsSpec& asked = *scenario.timed_as;
    if (!asked.file.empty()) {
      timed.shape = asked.own_shape;
      timed.words = asked.own_shape.name;
    } else if (!asked.workload.empty()) {
      timed.shape = find_workload(asked.workload)->shape();
      timed.words = asked.workload;
    }
    timed.batch = asked.batch;
    timed.sample_scale = static_cast<double>(asked.batch) / static_cast<double>(scenario.training.batch);
    timed.precision = asked.precision;
  }
  timed.words = describe(timed.words, timed.shape, timed.batch);
  if (timed.precision != Precision::fp32) timed.words += fmt::format(", in {}", to_string(timed.precision));
  return timed;
}

/// With the collectives that the run asks for.
Schedule schedule_of(const RunSpec& run, const Trajectory& trajectory, const Step& step, const ModelShape& learned,
                     const TimedAs& timed) {
  Schedule schedule = instantiate(trajectory.structures[static_cast<std::size_t>(step.structure)], step.sizes, learned,
                                  timed.shape, timed.sample_scale, timed.precision);
  for (Task& task : schedule.tasks) {
    auto* collective = std::get_if<CollectiveTask>(&task.what);
    if (collective == nullptr) continue;
    if (collective->kind == CollectiveKind::all_reduce) collective->algorithm = run.all_reduce;
    if (collective->kind == CollectiveKind::all_gather) collective->algorithm = run.all_gather;
  }
  return fuse_all_reduces(schedule, run.bucket_bytes, run.first_bucket_bytes);
}

TimedRun time_run(const RunSpec& run, const Trajectory& trajectory, const Cluster& cluster, const ModelShape& learned,
                  const TimedAs& timed, const std::function<void(std::size_t)>& progress) {
  std::vector<Schedule> schedules;
  schedules.reserve(trajectory.distinct_steps.size());
  for (const Step& step : trajectory.distinct_steps) {
    schedules.push_back(schedule_of(run, trajectory, step, learned, timed));
  }
  return time_schedules(cluster, schedules, progress);
}

std::vector<std::string> assumptions_of(const Scenario& scenario, const Result& result, bool steps_known) {
  std::vector<std::string> assumptions;
  if (result.timed_as_other) {
    assumptions.push_back(
        fmt::format("Learned on {}, timed as {}: steps, accuracies and effective ranks are those of the learned "
                    "network (ranks by relative "
                    "depth, limited to what each layer allows); sizes and times are those of the workload. Times to "
                    "accuracy in the first table are of the learned steps; the steps that the workload itself would "
                    "need {}.",
                    result.learned_on, result.timed_as,
                    steps_known ? "are in the table of time to accuracy" : "are not known here"));
  }
  assumptions.emplace_back(
      "Every step is timed from an idle cluster and steps add up: a step begins when all workers have ended the one "
      "before it. "
      "Evaluation and start-up are not charged to learned steps.");
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
            ? fmt::format("{}: forward, backward and update take {} s as measured, divided by their time on a "
                          "roofline; what an algorithm computes beside them is by the roofline",
                          name, device.step_seconds)
            : fmt::format("{} computes by a roofline: {}", name,
                          rates_in_words(device, scenario.timed_as ? scenario.timed_as->precision : Precision::fp32)));
  }
  return assumptions;
}

std::vector<std::string> notes_of(const RunSpec& run, const Trajectory& trajectory, const Network& network,
                                  bool timed_as_other) {
  std::vector<std::string> notes;
  const AlgorithmInfo& info = find_algorithm(run.algorithm);
  if (info.sharing == Sharing::pooled) {
    notes.emplace_back(
        "timed on the first worker alone, with the batches of all; the data are taken to be there already");
  }
  if (info.sharing == Sharing::no_sharing) notes.emplace_back("accuracy is the mean over the sites' own networks");
  if (info.remark) {
    if (std::string remark = info.remark(network); !remark.empty()) notes.push_back(std::move(remark));
  }
  if (timed_as_other && run.algorithm == "edad") {
    notes.emplace_back("timed as if edAD were exact for the same share of the workload's layers, by relative depth");
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
  const SiteData sites = load_site_data(scenario, scenario.seed);
  const Network network(sites.data.shape, scenario.model, scenario.seed);
  const ModelShape& learned = network.shape();
  const TimedAs timed = timed_as_of(scenario, learned);
  std::vector<RunMemory> memory;
  for (const RunSpec& run : scenario.runs)
    memory.push_back(memory_of_run(scenario, run, timed.shape, timed.batch, timed.precision));
  check_memory(scenario, memory);
  std::vector<Trajectory> trajectories =
      learn_runs(scenario.runs, scenario, sites, scenario.seed, scenario.training, show_progress);
  const std::optional<ScaleSetting> scale = scale_setting(scenario);
  SeedSteps seed_steps;
  if (scale) seed_steps = steps_by_seed(scenario, sites, trajectories, show_progress);

  Result result;
  result.version = kVersion;
  result.simgrid = simgrid_version();
  result.network_model = network_model_description();
  result.scenario_name = scenario.name;
  result.seed = scenario.seed;
  result.hash = scenario.hash;
  result.target_accuracy = scenario.training.target_accuracy;
  result.learned_on =
      fmt::format("{} on {}", describe(learned.name, learned, scenario.training.batch), sites.data.name);
  result.timed_as_other = scenario.timed_as && scenario.timed_as->of_other_network();
  result.timed_as = scenario.timed_as ? timed.words : result.learned_on;
  for (const LayerShape& layer : learned.layers) {
    if (layer.has_outer_product()) result.layer_names.push_back(layer.name);
  }
  result.assumptions = assumptions_of(scenario, result, scale && scale->known);
  if (network.has_batch_statistics()) {
    result.assumptions.emplace_back(
        "Batch norms use the statistics of each site's own batch, as data parallelism does; pooled uses those of all, "
        "and "
        "so its gradient differs. Running statistics are averaged over sites when the network is evaluated, which is "
        "not "
        "charged.");
  }
  for (std::string& sentence : memory_assumptions(scenario, memory)) result.assumptions.push_back(std::move(sentence));
  if (has_master_copies(timed.precision)) {
    result.assumptions.push_back(fmt::format(
        "In {} gradients, activations and factors take two bytes in memory and on the wire; the optimizer works on "
        "fp32 masters. Learning was in fp32.",
        to_string(timed.precision)));
  }
  result.learning_wall_seconds = seconds_since(learning_start);

  const auto timing_start = std::chrono::steady_clock::now();
  const Cluster cluster = cluster_of(scenario);
  if (every_step_differs(cluster)) {
    for (Trajectory& trajectory : trajectories) unfold(trajectory);
  }
  Progress progress("timing", scenario.runs.size(), show_progress);
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const Trajectory& trajectory = trajectories[i];
    const TimedRun timings = time_run(scenario.runs[i], trajectory, cluster, learned, timed, [&](std::size_t done) {
      if (interrupted().load()) throw Cancelled();
      progress.update(i, static_cast<std::int64_t>(done), static_cast<std::int64_t>(trajectory.distinct_steps.size()));
    });
    if (interrupted().load()) throw Cancelled();
    const bool pooled = find_algorithm(scenario.runs[i].algorithm).sharing == Sharing::pooled;
    RunResult run = summarise(scenario.runs[i], trajectory, timings.steps, pooled ? 1 : scenario.workers.size(),
                              scenario.training.target_accuracy, timings.first);
    run.network = timings.network;
    run.notes = notes_of(scenario.runs[i], trajectory, network, result.timed_as_other);
    run.memory = memory[i].use;
    run.device_memory = memory[i].available;
    result.runs.push_back(std::move(run));
  }
  if (scale) tell_scale(*scale, seed_steps, result);
  result.timing_wall_seconds = seconds_since(timing_start);
  return result;
}

}  // namespace dadsim
