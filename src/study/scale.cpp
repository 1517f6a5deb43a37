#include "study/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "spec/workload.hpp"

namespace dadsim::study {
namespace {

constexpr const char* kReference = "gradient-sharing";

constexpr const char* kCouldNotBite =
    "its compression left nothing out of the network that learned, which therefore cannot tell what it costs in steps; "
    "a larger batch, wider layers or a stronger compression could";

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
  std::optional<std::size_t> reference_run;  ///< the run that they are of, if it is one of the scenario
};

/// What comes out on the network that learned for run `i`.
estimate::RelativeSteps relative_of(const SeedSteps& steps, std::size_t i, const std::optional<bool>& bites) {
  estimate::RelativeSteps relative = estimate::relative_steps(steps.runs.at(i), steps.gradient_sharing);
  if (!relative.ratio) return relative;
  if (steps.reference_run == i) {
    relative.ratio = steps.gradient_sharing.size() > 1 ? estimate::Estimate{1, 1, 1} : estimate::Estimate{1, {}, {}};
  } else if (bites && !*bites) {
    return {std::nullopt, kCouldNotBite};
  }
  return relative;
}

SeedSteps steps_by_seed(const scenario::Scenario& scenario, const Learned& learned, double target) {
  const auto steps_of = [&](const LearnedRunPtr& run) { return estimate::passage_of(run->trajectory.curve, target); };
  SeedSteps steps;
  for (const LearnedRunPtr& run : learned.runs) steps.runs.push_back({steps_of(run)});
  for (const std::vector<LearnedRunPtr>& seed : learned.other_seeds) {
    for (std::size_t run = 0; run < seed.size(); ++run) steps.runs[run].push_back(steps_of(seed[run]));
  }
  steps.reference_run = reference_run_of(scenario);
  if (steps.reference_run) {
    steps.gradient_sharing = steps.runs[*steps.reference_run];
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

std::optional<std::size_t> reference_run_of(const scenario::Scenario& scenario) {
  const auto run = std::ranges::find_if(scenario.runs, [](const spec::RunSpec& one) {
    return one.algorithm == kReference && one.compress.method == "none";
  });
  if (run == scenario.runs.end()) return std::nullopt;
  return static_cast<std::size_t>(run - scenario.runs.begin());
}

std::optional<report::ScaleSetting> scale_setting(const scenario::Scenario& scenario) {
  const bool other = scenario.timed_as && scenario.timed_as->of_other_network();
  if (!other && scenario.training.seeds == 1 && scenario.training.further_targets.empty()) return std::nullopt;
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
  std::vector<SeedSteps> steps;
  for (const double target : scenario.training.targets()) steps.push_back(steps_by_seed(scenario, learned, target));
  result.scale = setting;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    // What it learns depends on the cluster: there is no number of steps that would hold for another network.
    if (scenario.runs[i].event_driven) continue;
    const std::optional<bool>& bites = result.runs[i].bites;
    report::ScaleResult scale{steps[0].runs.at(i), relative_of(steps[0], i, bites), {}, {}, {}};
    for (std::size_t t = 1; t < steps.size(); ++t) {
      scale.further.push_back(
          {scenario.training.further_targets[t - 1], steps[t].runs.at(i), relative_of(steps[t], i, bites)});
    }
    if (setting.known && scale.relative.ratio && std::isfinite(result.runs[i].step_seconds)) {
      scale.time =
          time_at_scale(setting.known->steps, *scale.relative.ratio, result.runs[i].step_seconds, setting.charges);
      if (const auto factors = result.runs[i].factors()) scale.time_band = with_band(*scale.time, *factors);
    }
    result.runs[i].at_scale = std::move(scale);
  }
}

}  // namespace dadsim::study
