#include "study/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spec/workload.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kReference = "gradient-sharing";

/// The first evaluation that reached the target.
std::optional<std::int64_t> steps_to_target(const step::Trajectory& trajectory, double target) {
  const auto reached =
      std::ranges::find_if(trajectory.curve, [&](const step::Evaluation& at) { return at.accuracy >= target; });
  return reached == trajectory.curve.end() ? std::nullopt : std::optional(reached->step);
}

/// The user's own number.
std::optional<estimate::KnownSteps> own_steps(const spec::TimedAsSpec& timed, std::int64_t batch,
                                              std::int64_t dataset_size) {
  estimate::KnownSteps known;
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

/// Steps to the target by seed, and those of gradient sharing to compare with.
struct SeedSteps {
  std::vector<estimate::StepsToTarget> runs;  ///< per run of the scenario
  estimate::StepsToTarget gradient_sharing;
};

SeedSteps steps_by_seed(const scenario::Scenario& scenario, const Learned& learned) {
  const double target = scenario.training.target_accuracy;
  const auto steps_of = [&](const LearnedRunPtr& run) { return steps_to_target(run->trajectory, target); };
  SeedSteps steps;
  for (const LearnedRunPtr& run : learned.runs) steps.runs.push_back({steps_of(run)});
  for (const std::vector<LearnedRunPtr>& seed : learned.other_seeds) {
    for (std::size_t run = 0; run < seed.size(); ++run) steps.runs[run].push_back(steps_of(seed[run]));
  }
  if (has_reference_run(scenario)) {
    const auto reference =
        std::ranges::find(scenario.runs, kReference, &spec::RunSpec::algorithm) - scenario.runs.begin();
    steps.gradient_sharing = steps.runs[static_cast<std::size_t>(reference)];
  } else {
    for (const LearnedRunPtr& run : learned.reference) steps.gradient_sharing.push_back(steps_of(run));
  }
  return steps;
}

}  // namespace

// Exchange and collectives mean nothing to what is learned.
spec::RunSpec reference_run() {
  spec::RunSpec run;
  run.algorithm = run.label = kReference;
  run.exchange = spec::ExchangeMode::peer;
  return run;
}

bool has_reference_run(const scenario::Scenario& scenario) {
  return std::ranges::find(scenario.runs, kReference, &spec::RunSpec::algorithm) != scenario.runs.end();
}

std::optional<report::ScaleSetting> scale_setting(const scenario::Scenario& scenario) {
  const bool other = scenario.timed_as && scenario.timed_as->of_other_network();
  if (!other && scenario.training.seeds == 1) return std::nullopt;
  report::ScaleSetting setting;
  setting.seeds = scenario.training.seeds;
  const auto workers = static_cast<std::int64_t>(scenario.workers.size());
  setting.batch = (scenario.timed_as ? scenario.timed_as->batch : scenario.training.batch) * workers;
  if (!other) {
    setting.why_not = "nothing is timed but the network that learns";
    return setting;
  }
  const spec::TimedAsSpec& timed = *scenario.timed_as;
  setting.charges = {timed.evaluation_every, timed.evaluation_seconds, timed.start_up};
  const spec::Workload* workload = timed.file.empty() ? spec::workload_registry().find(timed.workload) : nullptr;
  setting.workload = workload != nullptr ? workload->name : timed.own_shape.name;
  setting.known =
      own_steps(timed, setting.batch, workload != nullptr ? workload->dataset_size : timed.own_dataset_size);
  if (setting.known) return setting;
  if (workload == nullptr) {
    setting.why_not = "nobody has published results for a workload of one's own";
    return setting;
  }
  estimate::KnownStepsAnswer answer = estimate::published_steps(*workload, setting.batch);
  setting.known = std::move(answer.known);
  setting.why_not = std::move(answer.why_not);
  return setting;
}

void add_scale(const scenario::Scenario& scenario, const report::ScaleSetting& setting, const Learned& learned,
               report::Result& result) {
  const SeedSteps steps = steps_by_seed(scenario, learned);
  result.scale = setting;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    // What it learns depends on the cluster: there is no number of steps that would hold for another network.
    if (scenario.runs[i].event_driven) continue;
    report::ScaleResult scale{steps.runs.at(i), estimate::relative_steps(steps.runs.at(i), steps.gradient_sharing), {}};
    if (setting.known && scale.relative.ratio && std::isfinite(result.runs[i].step_seconds)) {
      scale.time =
          time_at_scale(setting.known->steps, *scale.relative.ratio, result.runs[i].step_seconds, setting.charges);
    }
    result.runs[i].at_scale = std::move(scale);
  }
}

}  // namespace dadsim::study
