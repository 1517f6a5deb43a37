#include "study/results/time_at_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "algorithms/registry.hpp"
#include "estimate/ladder.hpp"
#include "spec/workload.hpp"
#include "study/setting/network_size.hpp"

namespace dadsim::study {
namespace {

/// Steps to the target by seed, of all runs and of gradient sharing, the reference.
struct SeedSteps {
  std::vector<estimate::StepsToTarget> runs;  ///< steps per run of the scenario
  estimate::StepsToTarget gradient_sharing;
  std::optional<std::size_t> reference_run;  ///< index of gradient sharing, if it is one of the runs
  std::vector<double> best;                  ///< best accuracy per run, with the first seed
  double best_of_gradient_sharing = 0;
};

/// Returns the relative steps of run `i` on the learning network. `as_many`: the run needs as many steps as gradient
/// sharing by definition.
estimate::RelativeSteps relative_of(const SeedSteps& steps, std::size_t i, const std::optional<bool>& is_lossy,
                                    bool as_many) {
  estimate::RelativeSteps relative = estimate::relative_steps(steps.runs.at(i), steps.gradient_sharing);
  if (!relative.ratio) {
    const auto reached = [](const auto& one) { return one.has_value(); };
    const bool measured = std::ranges::all_of(steps.gradient_sharing, reached);
    if (as_many && !measured) return {estimate::Estimate{1, {}, {}}};
    if (steps.runs.at(i).size() > 1) return relative;  // the estimate states the reason
    const double best = measured ? steps.best.at(i) : steps.best_of_gradient_sharing;
    const bool missed = !measured || !steps.runs.at(i).front();
    if (std::isfinite(best) && missed) relative.why_not->with("best_accuracy", best);
    return relative;
  }
  if (steps.reference_run == i) {
    relative.ratio = steps.gradient_sharing.size() > 1 ? estimate::Estimate{1, 1, 1} : estimate::Estimate{1, {}, {}};
  } else if (is_lossy && !*is_lossy) {
    return {std::nullopt, report::Statement{"nothing-left-out"}};
  }
  return relative;
}

double best_of(const LearnedRun& run) {
  double best = -std::numeric_limits<double>::infinity();
  for (const step::Evaluation& at : run.trajectory.curve) best = std::max(best, at.accuracy);
  return best;
}

SeedSteps steps_by_seed(const scenario::Scenario& scenario, const Learned& learned, double target) {
  const auto steps_of = [&](const LearnedRunPtr& run) { return estimate::passage_of(run->trajectory.curve, target); };
  SeedSteps steps;
  for (const LearnedRunPtr& run : learned.runs) {
    steps.runs.push_back({steps_of(run)});
    steps.best.push_back(best_of(*run));
  }
  for (const std::vector<LearnedRunPtr>& seed : learned.other_seeds) {
    for (std::size_t run = 0; run < seed.size(); ++run) steps.runs[run].push_back(steps_of(seed[run]));
  }
  steps.reference_run = reference_run_of(scenario.runs);
  if (steps.reference_run) {
    steps.gradient_sharing = steps.runs[*steps.reference_run];
    steps.best_of_gradient_sharing = steps.best[*steps.reference_run];
  } else {
    for (const LearnedRunPtr& run : learned.reference) steps.gradient_sharing.push_back(steps_of(run));
    if (!learned.reference.empty()) steps.best_of_gradient_sharing = best_of(*learned.reference.front());
  }
  return steps;
}

/// Adds the time at scale, the product of three factors, if all are known.
void add_time(const report::ScaleSetting& setting, report::ScaleResult scale, report::RunResult& run) {
  if (setting.known && scale.relative.ratio && std::isfinite(run.step_seconds)) {
    scale.time = time_at_scale(setting.known->steps, *scale.relative.ratio, run.step_seconds, setting.charges);
    if (const auto factors = run.factors()) scale.time_band = with_band(*scale.time, *factors);
  }
  run.at_scale = std::move(scale);
}

/// Returns whether a run's steps equal those of gradient sharing up to rounding, so that both need the same number.
bool needs_as_many_steps(const spec::RunSpec& run) {
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(run.algorithm);
  return info != nullptr && info->sharing == algorithms::Sharing::one_network && run.compress.method == "none" &&
         !has_own_layers(*info, run) && info->exact(run);
}

/// A scale study named by the scenario, evaluated at the size of the timed network.
struct NamedLadder {
  report::LadderFile file;
  std::vector<double> size;
};

std::optional<NamedLadder> named_ladder(const scenario::Scenario& scenario) {
  if (scenario.ladder.empty()) return std::nullopt;
  NamedLadder named{read_ladder(scenario.ladder), {}};
  named.size = decades_of(size_of_workload(scenario), named.file.against);
  return named;
}

/// Replaces the relative steps of the learning network by those of the scale study.
void take_from(const NamedLadder& named, const spec::RunSpec& run, report::ScaleResult& scale) {
  constexpr double kLevel = 0.95;  // confidence level of all relative steps
  const std::optional<estimate::Estimate> measured = scale.relative.ratio;
  const auto none = [&](Statement why) { scale.relative = {std::nullopt, std::move(why)}; };
  const auto says = [&](Statement what) {
    return Statement{"says-study", {named.file.scenario}}.with(std::move(what));
  };
  const report::LadderFile::Run* studied = named.file.find(run.label);
  if (studied == nullptr) return none({"not-in-study", {named.file.scenario}});
  const auto other = [&](std::string there, std::string here) {
    none(Statement{"not-in-study", {named.file.scenario}}
             .with("studied", std::move(there))
             .with("here", std::move(here)));
  };
  if (studied->algorithm != run.algorithm) return other(studied->algorithm, run.algorithm);
  const spec::ParameterValues settings = settings_of(run);
  for (const auto& [name, value] : studied->set) {
    const auto own = settings.find(name);
    const std::string here = own == settings.end() ? "none" : own->second;
    if (here != value) return other(fmt::format("{}={}", name, value), fmt::format("{}={}", name, here));
  }
  if (studied->never) return none(says(*studied->never));
  if (!are_known(named.size)) return none({"size-unknown"});
  const std::size_t needed = std::max<std::size_t>(3, named.size.size() + 2);
  if (studied->rungs.size() < needed)
    return none(says(Statement{"too-few-rungs"}
                         .with("rungs", static_cast<double>(studied->rungs.size()))
                         .with("needed", static_cast<double>(needed))));
  const estimate::Ladder ladder(studied->rungs);
  const estimate::LadderPrediction at = ladder.at(named.size, kLevel);
  scale.relative = {estimate::Estimate{at.ratio, at.low, at.high}};
  scale.ladder = {named.file.scenario, studied->rungs.size(), ladder.shows_trend(), at.distance, measured};
}

}  // namespace

// Exchange and collectives do not affect learning.
void add_scale(const scenario::Scenario& scenario, const report::ScaleSetting& setting, const Learned& learned,
               report::Result& result) {
  std::vector<SeedSteps> steps;
  for (const double target : scenario.training.targets()) steps.push_back(steps_by_seed(scenario, learned, target));
  result.scale = setting;
  const std::optional<NamedLadder> ladder = named_ladder(scenario);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    // Learning depends on the cluster, so its number of steps is not valid for another network.
    if (scenario.runs[i].event_driven) continue;
    const std::optional<bool>& is_lossy = result.runs[i].is_lossy;
    const bool as_many = needs_as_many_steps(scenario.runs[i]);
    report::ScaleResult scale{steps[0].runs.at(i), relative_of(steps[0], i, is_lossy, as_many), {}, {}, {}};
    for (std::size_t t = 1; t < steps.size(); ++t) {
      scale.further.push_back(
          {scenario.training.further_targets[t - 1], steps[t].runs.at(i), relative_of(steps[t], i, is_lossy, as_many)});
    }
    if (ladder && !as_many && steps[0].reference_run != i) take_from(*ladder, scenario.runs[i], scale);
    add_time(setting, std::move(scale), result.runs[i]);
  }
}

void add_scale_by_definition(const scenario::Scenario& scenario, const report::ScaleSetting& setting,
                             report::Result& result) {
  result.scale = setting;
  const std::optional<NamedLadder> ladder = named_ladder(scenario);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    if (scenario.runs[i].event_driven) continue;
    report::ScaleResult scale;
    if (needs_as_many_steps(scenario.runs[i])) {
      scale.relative.ratio = estimate::Estimate{1, {}, {}};
    } else if (ladder) {
      take_from(*ladder, scenario.runs[i], scale);
    } else {
      scale.relative.why_not = report::Statement{"nothing-measured"};
    }
    add_time(setting, std::move(scale), result.runs[i]);
  }
}

}  // namespace dadsim::study
