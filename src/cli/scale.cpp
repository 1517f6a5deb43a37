#include "cli/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/workload.hpp"

namespace dadsim {
namespace {

constexpr const char* kReference = "gradient-sharing";

/// The first evaluation that reached the target.
std::optional<std::int64_t> steps_to_target(const Trajectory& trajectory, double target) {
  const auto reached =
      std::ranges::find_if(trajectory.curve, [&](const Evaluation& at) { return at.accuracy >= target; });
  return reached == trajectory.curve.end() ? std::nullopt : std::optional(reached->step);
}

/// The user's own number.
std::optional<KnownSteps> own_steps(const TimedAsSpec& timed, std::int64_t batch, std::int64_t dataset_size) {
  KnownSteps known;
  known.batch = batch;
  known.target = timed.target;
  if (timed.steps) {
    known.steps = *timed.steps;
    known.source = fmt::format("{} steps as the scenario says", known.steps);
  } else if (timed.epochs) {
    known.steps = std::ceil(*timed.epochs * static_cast<double>(dataset_size) / static_cast<double>(batch));
    known.source = fmt::format("{} epochs of {} samples as the scenario says", *timed.epochs, dataset_size);
  } else {
    return std::nullopt;
  }
  known.fewest = known.most = known.steps;
  return known;
}

/// Exchange and collectives mean nothing to what is learned.
RunSpec reference_run() {
  RunSpec run;
  run.algorithm = run.label = kReference;
  run.topology = Topology::peer;
  return run;
}

}  // namespace

std::optional<ScaleSetting> scale_setting(const Scenario& scenario) {
  const bool other = scenario.timed_as && scenario.timed_as->of_other_network();
  if (!other && scenario.training.seeds == 1) return std::nullopt;
  ScaleSetting setting;
  setting.seeds = scenario.training.seeds;
  const auto workers = static_cast<std::int64_t>(scenario.workers.size());
  setting.batch = (scenario.timed_as ? scenario.timed_as->batch : scenario.training.batch) * workers;
  if (!other) {
    setting.why_not = "nothing is timed but the network that learns";
    return setting;
  }
  const TimedAsSpec& timed = *scenario.timed_as;
  setting.charges = {timed.evaluation_every, timed.evaluation_seconds, timed.start_up};
  const Workload* workload = timed.file.empty() ? find_workload(timed.workload) : nullptr;
  setting.workload = workload != nullptr ? workload->name : timed.own_shape.name;
  setting.known =
      own_steps(timed, setting.batch, workload != nullptr ? workload->dataset_size : timed.own_dataset_size);
  if (setting.known) return setting;
  if (workload == nullptr) {
    setting.why_not = "nobody has published results for a workload of one's own";
    return setting;
  }
  KnownStepsAnswer answer = published_steps(*workload, setting.batch);
  setting.known = std::move(answer.known);
  setting.why_not = std::move(answer.why_not);
  return setting;
}

SeedSteps steps_by_seed(const Scenario& scenario, const SiteData& sites, const std::vector<Trajectory>& trajectories,
                        bool show_progress) {
  const double target = scenario.training.target_accuracy;
  // Only the steps to the target are asked of what follows.
  TrainingSpec training = scenario.training;
  training.stop = TrainingSpec::Stop::target;

  SeedSteps steps;
  for (const Trajectory& trajectory : trajectories) steps.runs.push_back({steps_to_target(trajectory, target)});
  std::vector<RunSpec> runs = scenario.runs;
  auto reference = static_cast<std::size_t>(std::ranges::find(runs, kReference, &RunSpec::algorithm) - runs.begin());
  if (reference == runs.size()) {
    runs.push_back(reference_run());
    const auto learned = learn_runs({runs.back()}, scenario, sites, scenario.seed, training, show_progress);
    steps.runs.push_back({steps_to_target(learned.front(), target)});
  }
  for (std::int64_t i = 1; i < training.seeds; ++i) {
    const std::uint64_t seed = scenario.seed + static_cast<std::uint64_t>(i);
    const SiteData others = load_site_data(scenario, seed);
    const auto learned = learn_runs(runs, scenario, others, seed, training, show_progress);
    for (std::size_t run = 0; run < runs.size(); ++run)
      steps.runs[run].push_back(steps_to_target(learned[run], target));
  }
  steps.gradient_sharing = steps.runs[reference];
  steps.runs.resize(scenario.runs.size());
  return steps;
}

void tell_scale(const ScaleSetting& setting, const SeedSteps& steps, Result& result) {
  result.scale = setting;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    ScaleResult scale{steps.runs.at(i), relative_steps(steps.runs.at(i), steps.gradient_sharing), {}};
    if (setting.known && scale.relative.ratio && std::isfinite(result.runs[i].step_seconds)) {
      scale.time =
          time_at_scale(setting.known->steps, *scale.relative.ratio, result.runs[i].step_seconds, setting.charges);
    }
    result.runs[i].at_scale = std::move(scale);
  }
}

}  // namespace dadsim
