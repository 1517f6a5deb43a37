#include "study/diagnose/fit_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/own_step.hpp"
#include "scenario/document/load.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "support/human.hpp"

namespace dadsim::study {

FittedSpeed fit_speed(const std::string& file, const MeasuredStep& measured) {
  constexpr int kMostSteps = 8;
  constexpr double kClose = 5e-4;  // share of the measured step
  constexpr double kMostMessages =
      0.5;  // largest share of messages in a step for which the devices' speed can be fitted
  scenario::Scenario scenario = scenario::ScenarioSource(file).load({}, make_catalog_without_learning());
  scenario.timing_only = true;
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    return InputError({file, 0, what, remedy});
  };
  if (std::ranges::any_of(scenario.workers, [](const spec::Placement& one) { return one.speed != 1; }))
    throw refuse("sets the speed of workers, which the fit determines", "remove speed from <worker>");
  const auto run_at = [&](double speed) {
    for (spec::Placement& worker : scenario.workers) worker.speed = speed;
    return run_experiment(scenario, false).runs.front();
  };
  FittedSpeed fit;
  report::RunResult run = run_at(1);
  fit.predicted = fit.fitted = run.step_seconds;
  fit.measured = seconds_of(measured, 0, work_of_step(run), {file, 0, "", "use the time of a step"}, "--row");
  fit.band = run.factors().value_or(estimate::Band{});
  if (run.step_seconds - run.compute_seconds > kMostMessages * run.step_seconds)
    throw refuse("has a step that mostly waits for messages and computes too little to fit a speed",
                 "use a scenario with fewer devices, and its measured step");
  for (int i = 0; i < kMostSteps && std::abs(std::log(fit.fitted / fit.measured)) > kClose; ++i) {
    const double beside = run.step_seconds - run.compute_seconds;
    if (!(fit.measured > beside))
      throw refuse(fmt::format("has messages of {}, longer than the measured step of {}", human_seconds(beside),
                               human_seconds(fit.measured)),
                   "describe the measured network, or give the time of the same step");
    fit.speed *= run.compute_seconds / (fit.measured - beside);
    if (!(fit.speed >= 0.01 && fit.speed <= 100))
      throw refuse("needs workers over 100 times slower or faster than their device",
                   "name the measured device, and give the time of one step");
    run = run_at(fit.speed);
    fit.fitted = run.step_seconds;
  }
  if (run.step_band) fit.own_band = estimate::band_of(estimate::with_own_step(run.step_band->parts));
  return fit;
}

}  // namespace dadsim::study
