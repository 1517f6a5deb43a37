#include "study/assumptions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "study/device_lookup.hpp"
#include "study/played_run.hpp"
#include "study/results/throughput.hpp"

namespace dadsim::study {

std::vector<std::string> assumptions_of(const scenario::Scenario& scenario, const report::Result& result,
                                        bool steps_known) {
  std::vector<std::string> assumptions;
  if (result.timing_only) {
    assumptions.push_back(recording_in_words(result));
  } else if (result.timed_as_other) {
    assumptions.push_back(
        fmt::format("Learned on {}, timed as {}: steps, accuracies and effective ranks are those of the learned "
                    "network (ranks by relative "
                    "depth, limited to what each layer allows; docs/carry-over.md says what carries over); sizes and "
                    "times are those of the workload. Times to "
                    "accuracy in the table of the network that learned are of the learned steps; the steps that the "
                    "workload itself would "
                    "need {}.",
                    result.learned_on, result.timed_as,
                    steps_known ? "are in the table of time to accuracy" : "are not known here"));
  }
  const auto gossips = [](const spec::RunSpec& run) { return run.decentralised; };
  const auto in_steps = [&](const spec::RunSpec& run) { return !gossips(run) && !run.event_driven; };
  if (std::ranges::any_of(scenario.runs, in_steps)) {
    assumptions.emplace_back(
        "Every step is timed from an idle cluster and steps add up: a step begins when all workers have ended the one "
        "before it. "
        "Evaluation and start-up are not charged to learned steps.");
  }
  if (std::ranges::any_of(scenario.runs, gossips)) {
    assumptions.emplace_back(
        "Runs in which workers exchange with their neighbours alone have no barrier between steps: a worker goes on "
        "when its own neighbours have delivered. A step takes as long as in the steady state that they settle in; the "
        "first steps are listed beside it.");
  }
  for (std::string& sentence : assumptions_of_plays(scenario)) assumptions.push_back(std::move(sentence));
  if (!(scenario.network.jitter == spec::JitterSpec{})) {
    assumptions.push_back(fmt::format(
        "Computing jitters: log-normal factors with mean 1, sigma {} from worker to worker and {} from step to "
        "step.",
        scenario.network.jitter.spatial, scenario.network.jitter.temporal));
  }
  if (std::ranges::any_of(scenario.all_devices(),
                          [](const spec::Placement& worker) { return worker.speed_spread > 0; })) {
    assumptions.emplace_back(
        "Workers of one device differ in speed by log-normal factors with median 1, one per worker for good, on all "
        "that it computes.");
  }
  const auto learned_first = [](const spec::RunSpec& run) { return !run.event_driven; };
  const bool failing = !scenario.failures.none() || !sim::state_profiles(scenario.platform).empty();
  if (failing && std::ranges::any_of(scenario.runs, learned_first)) {
    assumptions.emplace_back(
        "Failures, availability, checkpoints and state profiles of a platform file are played in event-driven runs "
        "alone; the others are timed as if "
        "every host and link were always there.");
  }
  if (scenario.evaluation && std::ranges::any_of(scenario.runs, learned_first)) {
    assumptions.emplace_back(
        "Corrections of shifted data are tried on the last models of event-driven runs alone; those of the others are "
        "not kept.");
  }
  if (scenario.network.rendezvous) {
    assumptions.emplace_back(
        "A message leaves when its receiver has posted it and the news has come (rendezvous, as gloo).");
  }
  std::set<std::string> used;
  for (const spec::Placement& worker : scenario.all_devices()) used.insert(worker.device);
  if (scenario.aggregator) used.insert(scenario.aggregator->device);
  for (const std::string& name : used) {
    const spec::DeviceSpec& device = find_device(scenario, name);
    assumptions.push_back(
        device.step_seconds > 0
            ? fmt::format("{}: forward, backward and update take {} s as measured, divided by their time on a "
                          "roofline; what an algorithm computes beside them is by the roofline",
                          name, device.step_seconds)
            : fmt::format(
                  "{} computes by a roofline: {}", name,
                  rates_in_words(device, scenario.timed_as ? scenario.timed_as->precision : spec::Precision::fp32)));
  }
  return assumptions;
}

}  // namespace dadsim::study
